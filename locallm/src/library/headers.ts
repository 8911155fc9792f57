import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { LocallmError } from "../wire/errors.ts";
import { isMissing } from "./blob.ts";
import { parseDigest } from "./digest.ts";
import { type GgufHeader, readGguf } from "./gguf/header.ts";
import { checkModelRules, ggufKind } from "./gguf/rules.ts";
import { joinHeaders, splitPlace } from "./gguf/split.ts";
import { RecentlyUsed } from "./recently-used.ts";

/** The texts that templates and tokenisers need from a vocabulary. */
export interface SpecialTokens {
  bosText: string | null;
  eosText: string | null;
}

/** Lists read the headers of all models; one has some 100 KB. */
const capacity = 1024;

/** GGUF headers of blobs, checked and kept: the gate that every file passes before native code sees it. */
export class Headers {
  #byPath = new RecentlyUsed<string, { stamp: string; header: Promise<GgufHeader> }>(capacity);
  #tokens = new WeakMap<GgufHeader, Promise<SpecialTokens>>();
  #joined = new WeakMap<GgufHeader, { headers: GgufHeader[]; joined: GgufHeader }>();

  /** Throws `invalid_gguf` and `blob_missing`. Read once as long as the file stays the same. */
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

  /** Of weights that may be split into several files, given in order: the first one's header with all tensors. */
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
  // The later files of split weights hold tensors and nothing to check them by.
  if (ggufKind(header) !== "model" || splitPlace(header).index > 0) return header;
  checkModelRules(header);
  await requireDistinct(path, header.alike);
  return header;
}

const vocabulary = "tokenizer.ggml.tokens";

/** The engine stops the process over a token that stands twice. Texts that only hash alike are let pass. */
async function requireDistinct(path: string, alike: GgufHeader["alike"]): Promise<void> {
  if (alike.length === 0) return;
  const { picked } = await readGguf(path, {
    arrays: () => false,
    pick: { key: vocabulary, indices: new Set(alike.flat()) },
  });
  for (const [first, second] of alike) {
    if (untilZero(picked.get(first)) !== untilZero(picked.get(second))) continue;
    throw new LocallmError("invalid_gguf", { rule: `tokens ${first} and ${second} are the same` });
  }
}

/** As the engine takes a string. */
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
  const indices = new Set([bos, eos].filter((index) => index >= 0));
  const { picked } = await readGguf(path, {
    arrays: () => false,
    pick: { key: vocabulary, indices },
  });
  return { bosText: picked.get(bos) ?? null, eosText: picked.get(eos) ?? null };
}
