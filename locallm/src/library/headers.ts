import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { LocallmError } from "../wire/errors.ts";
import { isMissing } from "./blob.ts";
import { parseDigest } from "./digest.ts";
import { type GgufHeader, readGguf } from "./gguf/header.ts";
import { checkModelRules, checkProjectorRules, ggufKind } from "./gguf/rules.ts";
import { joinHeaders, splitPlace } from "./gguf/split.ts";
import { RecentlyUsed } from "./recently-used.ts";

/** The vocabulary texts that templates and tokenisers need. */
export interface SpecialTokens {
  bosText: string | null;
  eosText: string | null;
  infill: InfillTokens | null;
}

/** The texts of the tokens that a model was trained with to write what stands between two texts. */
export interface InfillTokens {
  readonly prefix: string;
  readonly suffix: string;
  readonly middle: string;
}

/** Large enough for lists, which read the headers of all models. A header takes about 100 KB. */
const capacity = 1024;

/** Reads, checks and caches GGUF headers. Every file must pass these checks before native code opens it. */
export class Headers {
  #byPath = new RecentlyUsed<string, { stamp: string; header: Promise<GgufHeader> }>(capacity);
  #tokens = new WeakMap<GgufHeader, Promise<SpecialTokens>>();
  #joined = new WeakMap<GgufHeader, { headers: GgufHeader[]; joined: GgufHeader }>();

  /** Throws `invalid_gguf` and `blob_missing`. Cached until the file changes. */
  async of(path: string): Promise<GgufHeader> {
    const found = await stat(path).catch((cause: unknown) => {
      const digest = parseDigest(basename(path));
      if (!isMissing(cause) || digest === null) throw cause;
      throw new LocallmError("blob_missing", { digest }, { cause });
    });
    const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
    const cached = this.#byPath.get(path);
    if (cached?.stamp === stamp) return await cached.header;
    const header = checkedHeader(path);
    this.#byPath.set(path, { stamp, header });
    return await header;
  }

  /** The header of weights in one or more files, given in order: the first file's header with the tensors of all files. */
  async ofWhole(paths: readonly string[]): Promise<GgufHeader> {
    const headers: GgufHeader[] = [];
    for (const path of paths) headers.push(await this.of(path));
    const [first] = headers;
    const known = first === undefined ? undefined : this.#joined.get(first);
    if (known !== undefined && headers.every((header, index) => header === known.headers[index])) {
      return known.joined;
    }
    const joined = joinHeaders(headers);
    if (first !== undefined) this.#joined.set(first, { headers, joined });
    return joined;
  }

  async specialTokens(path: string): Promise<SpecialTokens> {
    const header = await this.of(path);
    let tokens = this.#tokens.get(header);
    if (tokens === undefined) {
      tokens = readSpecialTokens(path, header);
      this.#tokens.set(header, tokens);
    }
    return await tokens;
  }
}

async function checkedHeader(path: string): Promise<GgufHeader> {
  const header = await readGguf(path, { distinct: vocabulary });
  const kind = ggufKind(header);
  if (kind === "projector") checkProjectorRules(header);
  // Later files of a split model contain only tensors, none of the metadata that the rules check.
  if (kind !== "model" || splitPlace(header).index > 0) return header;
  checkModelRules(header);
  await requireDistinct(path, header.alike);
  return header;
}

const vocabulary = "tokenizer.ggml.tokens";

/** Rejects repeated tokens, because the engine aborts the process on them. Hash collisions are compared in full. */
async function requireDistinct(path: string, alike: GgufHeader["alike"]): Promise<void> {
  if (alike.length === 0) return;
  const { picked } = await readGguf(path, {
    arrays: () => false,
    pick: { key: vocabulary, indices: new Set(alike.flat()) },
  });
  for (const [first, second] of alike) {
    if (untilZero(picked.get(first)) !== untilZero(picked.get(second))) continue;
    throw new LocallmError("invalid_gguf", { rule: `tokens ${first} and ${second} are identical` });
  }
}

/** The engine reads strings up to the first zero byte. */
function untilZero(text = ""): string {
  return text.split("\0", 1)[0] ?? "";
}

async function readSpecialTokens(path: string, header: GgufHeader): Promise<SpecialTokens> {
  const id = (key: string) => {
    const value = header.metadata.get(key);
    return typeof value === "number" ? value : -1;
  };
  const bos = id("tokenizer.ggml.bos_token_id");
  const eos = id("tokenizer.ggml.eos_token_id");
  const parts = Object.values(infillParts).map(({ keys, texts }) => ({
    texts,
    id: keys.map((key) => id(`tokenizer.ggml.${key}_token_id`)).find((index) => index >= 0) ?? -1,
  }));
  const indices = new Set([bos, eos, ...parts.map((part) => part.id)].filter((index) => index >= 0));
  const texts = new Set(parts.flatMap((part) => part.texts));
  const { picked } = await readGguf(path, {
    arrays: () => false,
    pick: { key: vocabulary, indices, texts },
  });
  const found = new Set(picked.values());
  const [prefix, suffix, middle] = parts.map(
    (part) => picked.get(part.id) ?? part.texts.find((text) => found.has(text)),
  );
  const infill =
    prefix === undefined || suffix === undefined || middle === undefined ? null : { prefix, suffix, middle };
  return { bosText: picked.get(bos) ?? null, eosText: picked.get(eos) ?? null, infill };
}

/** Where llama.cpp looks for these tokens: the ids that the file names, otherwise texts that families of models use. */
const infillParts: Readonly<Record<keyof InfillTokens, { keys: string[]; texts: string[] }>> = {
  prefix: {
    keys: ["fim_pre", "prefix"],
    texts: [
      ...["<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>"],
      ...["<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>"],
    ],
  },
  suffix: {
    keys: ["fim_suf", "suffix"],
    texts: [
      ...["<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>"],
      ...["<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>"],
    ],
  },
  middle: {
    keys: ["fim_mid", "middle"],
    texts: [
      ...["<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>"],
      ...["<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"],
    ],
  },
};
