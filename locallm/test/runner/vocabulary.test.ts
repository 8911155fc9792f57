import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Library, openLibrary } from "../../src/engine/libllama/library.ts";
import { Model } from "../../src/engine/model.ts";
import { Pictures } from "../../src/engine/pictures.ts";
import { encodeEnds } from "../../src/engine/prompt-ends.ts";
import { type TokenizeOptions, Vocabulary } from "../../src/engine/vocabulary.ts";
import type { Prompt } from "../../src/wire/inference/generate.ts";
import { onlyProcessor } from "../../src/wire/inference/load.ts";
import { starterModelPath } from "../starter-model.ts";
import {
  type Entry,
  f32,
  type GgufSpec,
  ggufBytes,
  loadableModel,
  text,
  u32,
  withEntry,
} from "../tiny-gguf.ts";
import { loadOf } from "./jobs.ts";

let library: Library;
let folder = "";
beforeAll(async () => {
  library = openLibrary();
  folder = await mkdtemp(join(tmpdir(), "locallm-vocabulary-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const kind = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 };
interface Token {
  readonly text: string;
  readonly kind: number;
}

const control = ["<|im_start|>", "<|im_end|>", "<|im_end|><|im_start|>", "<s>", "</s>", "<mask>", "<unk>"];
const special: readonly Token[] = [
  ...["<|endoftext|>", ...control].map((each) => ({ text: each, kind: kind.control })),
  ...["<think>", "</think>", "<think", "  ", "\n\n"].map((each) => ({ text: each, kind: kind.userDefined })),
];

/** Replaces a model's tokens without changing their number, which must match its weights. */
function withTokens(spec: GgufSpec, tokens: readonly Token[], more: readonly [string, Entry][]): GgufSpec {
  const count = 300;
  const filler = (index: number): Token => ({ text: `<unused${index}>`, kind: kind.normal });
  const all = Array.from({ length: count }, (_, index) => tokens[index] ?? filler(index));
  const ids = (name: string) => u32(all.findIndex((token) => token.text === name));
  const entries: [string, Entry][] = [
    ["tokenizer.ggml.tokens", { kind: "array", of: "string", items: all.map((token) => token.text) }],
    ["tokenizer.ggml.token_type", { kind: "array", of: "i32", items: all.map((token) => token.kind) }],
    ["tokenizer.ggml.scores", { kind: "array", of: "f32", items: all.map((_, index) => -index) }],
    ["tokenizer.ggml.bos_token_id", ids("<s>")],
    ["tokenizer.ggml.eos_token_id", ids("</s>")],
    ...more,
  ];
  return entries.reduce((changed, [key, entry]) => withEntry(changed, key, entry), spec);
}

function bpe(name: string, pre: string): GgufSpec {
  const own = loadableModel().metadata.find(([key]) => key === "tokenizer.ggml.tokens")![1];
  const bytes = (own as { items: readonly string[] }).items.slice(0, 256);
  const pieces = ["th", "Ġw", "12", "ĠĠ", "aa"];
  const normal = [...bytes, ...pieces].map((each) => ({ text: each, kind: kind.normal }));
  const merges = ["t h", "Ġ w", "1 2", "Ġ Ġ", "a a"];
  return withTokens(
    loadableModel(),
    [...normal, ...special],
    [
      ["general.name", text(name)],
      ["tokenizer.ggml.pre", text(pre)],
      ["tokenizer.ggml.merges", { kind: "array", of: "string", items: merges }],
      ["tokenizer.ggml.add_bos_token", { kind: "bool", value: true }],
      ["tokenizer.ggml.add_eos_token", { kind: "bool", value: true }],
    ],
  );
}

/** SentencePiece adds a space before each text. With this model name, the engine drops white space after tokens. */
function sentencePiece(): GgufSpec {
  const bytes = Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
    kind: kind.byte,
  }));
  const pieces = ["▁", "a", "t", "h", "th", "▁th", "▁w", "w", "aa", "1", "12", "2", "é"];
  const normal = pieces.map((each) => ({ text: each, kind: kind.normal }));
  return withTokens(
    loadableModel(),
    [...bytes, ...normal, ...special],
    [
      ["general.name", text("phi-3 like")],
      ["tokenizer.ggml.model", text("llama")],
      ["tokenizer.ggml.add_space_prefix", { kind: "bool", value: true }],
      ["tokenizer.ggml.unknown_token_id", u32(bytes.length + normal.length + 7)],
      ["llama.rope.freq_base", f32(10_000)],
    ],
  );
}

async function vocabularyOf(spec: GgufSpec, name: string): Promise<Vocabulary> {
  const path = join(folder, `${name}.gguf`);
  await writeFile(path, ggufBytes(spec));
  return await open(path);
}

async function open(path: string): Promise<Vocabulary> {
  return Model.load(library, { ...loadOf(path), placement: onlyProcessor }, () => {}).vocabulary;
}

/** Returns the tokens that the engine gives for the whole text. */
function uncut(vocabulary: Vocabulary, whole: string, options: TokenizeOptions): number[] {
  const bytes = Buffer.from(whole);
  const room = new Int32Array(bytes.length * 2 + 8);
  const { addSpecial, parseSpecial } = options;
  const { pointer } = vocabulary;
  const count = library.llama_tokenize(
    pointer,
    bytes,
    bytes.length,
    room,
    room.length,
    addSpecial,
    parseSpecial,
  );
  return Array.from(room.subarray(0, count));
}

/** Parts of awkward texts: partial tokens, white space, characters of several code units, and halves of them. */
const words = [
  ...special.map((token) => token.text),
  ..."<|im_ end|> < > | \t \n \r\n th w 12 3 aaaa é 中 🙂 \ud83d \ude42 \0 the don't".split(" "),
  " ",
  "   ",
];
const texts = fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((parts) => parts.join(""));
const allOptions = fc.record({ addSpecial: fc.boolean(), parseSpecial: fc.boolean() });

const vocabularies: [name: string, make: () => Promise<Vocabulary | null>][] = [
  ["BPE", () => vocabularyOf(bpe("plain", "default"), "bpe")],
  ["BPE that drops space in front of a token", () => vocabularyOf(bpe("jina", "jina-v2-de"), "jina")],
  ["SentencePiece that drops space behind tokens", () => vocabularyOf(sentencePiece(), "phi3")],
  [
    "the starter model's",
    async () => {
      const path = await starterModelPath();
      return path === null ? null : await open(path);
    },
  ],
  [
    "WordPiece (TEST_MODELS)",
    async () => {
      const models = process.env["TEST_MODELS"];
      return models === undefined ? null : await open(join(models, "all-minilm-l6-v2-f16.gguf"));
    },
  ],
];

describe.each(vocabularies)("a text that is cut at its special tokens, %s", (_, make) => {
  let vocabulary: Vocabulary | null;
  beforeAll(async () => {
    vocabulary = await make();
  }, 120_000);

  test("has the tokens of the uncut text", async ({ skip }) => {
    if (vocabulary === null) return skip();
    const known = vocabulary;
    fc.assert(
      fc.property(texts, allOptions, (whole, options) => {
        // The border at the end changes no token, but it prevents the engine from tokenizing the whole text
        // at once.
        expect(known.tokenize({ pieces: [whole, ""] }, options)).toEqual(uncut(known, whole, options));
        expect(known.tokenize(whole, options)).toEqual(uncut(known, whole, options));
      }),
      { seed: 11, numRuns: 400 },
    );
  });

  test("has the tokens of the uncut text if it is long", async ({ skip }) => {
    if (vocabulary === null) return skip();
    const known = vocabulary;
    const long = fc.tuple(texts, fc.integer({ min: 8200, max: 12_000 }), fc.constantFrom(...words));
    await fc.assert(
      fc.asyncProperty(long, allOptions, async ([some, length, again], options) => {
        const whole = `${some}${again.repeat(Math.ceil(length / again.length))}${some}`;
        if (whole.split("<").length > 1500) return;
        const tokens = await known.tokenizeAside(whole, options);
        expect(tokens.join()).toBe(uncut(known, whole, options).join());
      }),
      { seed: 12, numRuns: 12 },
    );
  });

  test("contains no control token that spans a border", async ({ skip }) => {
    if (vocabulary === null) return skip();
    const known = vocabulary;
    const options = { addSpecial: false, parseSpecial: true };
    for (const marker of known.markers) {
      const id = uncut(known, marker, options);
      const pieces = [`a ${marker.slice(0, 1)}`, `${marker.slice(1)} b`];
      expect(known.tokenize(pieces.join(""), options)).toEqual(expect.arrayContaining(id));
      for (const one of id) expect(known.tokenize({ pieces }, options)).not.toContain(one);
    }
  });
});

test("a text tokenized in parts has the tokens of the whole text", async () => {
  const vocabulary = await vocabularyOf(bpe("plain", "gpt-2"), "parts");
  const kinds = ["th w 12 ", "a", "12", "é中🙂", "the don't\n", "w aa\r\n"];
  for (const unit of kinds) {
    const whole = unit.repeat(Math.ceil(60_000 / unit.length));
    const options = { addSpecial: true, parseSpecial: true };
    const tokens = await vocabulary.tokenizeAside(whole, options);
    // Compares the tokens as text, because comparing arrays of this length takes a second.
    expect(tokens.join()).toBe(uncut(vocabulary, whole, options).join());
  }
});

test("tokenizes 40,000 control tokens, and stops when the client leaves", async () => {
  const vocabulary = await vocabularyOf(bpe("plain", "default"), "many");
  const options = { addSpecial: false, parseSpecial: true };
  const [end] = uncut(vocabulary, "<|im_end|>", options);
  const tokens = await vocabulary.tokenizeAside("<|im_end|>".repeat(40_000), options);
  expect(tokens.join()).toBe(Array<number | undefined>(40_000).fill(end).join());

  const abort = new AbortController();
  const tokenizing = vocabulary.tokenizeAside("<|im_end|> x".repeat(400_000), options, abort.signal);
  setImmediate(() => abort.abort(new Error("the client left")));
  await expect(tokenizing).rejects.toThrow("the client left");
});

describe("a prompt of megabytes whose middle is cut", () => {
  const head = 9;
  const tail = 300;
  const shapes: [name: string, prompt: (text: string) => Prompt][] = [
    ["a text", (text) => text],
    ["pieces of text", (text) => ({ pieces: [text.slice(0, 20), text.slice(20, -50), text.slice(-50)] })],
    ["tokens before a text", (text) => [[5, 6, 7], text]],
  ];

  test.each(shapes)("is tokenized only at its ends: %s", async (_, shape) => {
    const { pointer } = await vocabularyOf(bpe("plain", "gpt-2"), "ends");
    let bytes = 0;
    const count = (given: readonly unknown[]) => {
      bytes += given[2] as number;
    };
    const asked = library.llama_tokenize;
    const tokenize: Library["llama_tokenize"] = (...given) => {
      count(given);
      return asked(...given);
    };
    tokenize.async = (...given) => {
      count(given);
      asked.async(...given);
    };
    const vocabulary = new Vocabulary({ ...library, llama_tokenize: tokenize }, pointer);
    for (const unit of ["th w 12 é中🙂 the don't\n", "<|im_end|> x"]) {
      const prompt = shape(unit.repeat(Math.ceil(400_000 / unit.length)));
      const whole = await vocabulary.encodePromptAside(prompt, new Pictures());
      bytes = 0;
      const ends = (await encodeEnds(vocabulary, prompt, new Pictures(), { head, tail }))!;
      expect(bytes).toBeLessThan(100_000);
      expect(ends.cells).toEqual([...whole.slice(0, head), ...whole.slice(-tail)]);
      expect(Math.abs(ends.cells.length + ends.skippedTokens - whole.length)).toBeLessThan(whole.length / 50);
    }
  });

  test("is tokenized whole if it is short or most of it is kept", async () => {
    const vocabulary = await vocabularyOf(bpe("plain", "gpt-2"), "ends");
    const pictures = new Pictures();
    expect(await encodeEnds(vocabulary, "a ".repeat(100_000), pictures, { head, tail })).toBeNull();
    expect(await encodeEnds(vocabulary, "a ".repeat(200_000), pictures, { head, tail: 150_000 })).toBeNull();
    expect(await encodeEnds(vocabulary, [1, 2, 3], pictures, { head, tail })).toBeNull();
  });
});
