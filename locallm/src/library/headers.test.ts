import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Entry, ggufBytes, tinyModel, u32, withEntry } from "../../test/tiny-gguf.ts";
import { Headers } from "./headers.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "headers-"));
});
afterAll(() => rm(folder, { recursive: true }));

function specOf(items: string[]) {
  const tokens: Entry = { kind: "array", of: "string", items };
  const types: Entry = { kind: "array", of: "i32", items: items.map(() => 1) };
  const spec = withEntry(tinyModel(), "tokenizer.ggml.tokens", tokens);
  return withEntry(spec, "tokenizer.ggml.token_type", types);
}

async function withTokens(items: string[]) {
  const path = join(folder, `${Math.random()}.gguf`);
  await writeFile(path, ggufBytes(specOf(items)));
  return path;
}

test("rejects a vocabulary with a token that the engine reads as a duplicate", async () => {
  const many = Array.from({ length: 5000 }, (_, index) => `token ${index}`);
  const headers = new Headers();
  await headers.of(await withTokens([...many, "", ""]));
  await expect(headers.of(await withTokens([...many, "token 17"]))).rejects.toThrow(
    "tokens 17 and 5000 are identical",
  );
  await expect(headers.of(await withTokens([...many, "token 9\0x"]))).rejects.toThrow(
    "tokens 9 and 5000 are identical",
  );
});

test("finds the tokens for infill by the file's ids, otherwise by texts that families use, and only all three", async () => {
  const headers = new Headers();
  const infillOf = async (tokens: string[]) => (await headers.specialTokens(await withTokens(tokens))).infill;
  const many = Array.from({ length: 300 }, (_, index) => `token ${index}`);
  expect(await infillOf([...many, "<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"])).toEqual({
    ...{ prefix: "<｜fim▁begin｜>", suffix: "<｜fim▁hole｜>", middle: "<｜fim▁end｜>" },
  });
  expect(await infillOf([...many, "<|fim_prefix|>", "<|fim_middle|>"])).toBeNull();
  const path = await withTokens([...many, "<PRE>", "<SUF>", "<MID>"]);
  const spec = ["fim_pre", "suffix", "fim_mid"].reduce(
    (spec, key, index) => withEntry(spec, `tokenizer.ggml.${key}_token_id`, u32(7 + index)),
    specOf([...many, "<PRE>", "<SUF>", "<MID>"]),
  );
  await writeFile(path, ggufBytes(spec));
  expect((await headers.specialTokens(path)).infill).toEqual({
    ...{ prefix: "token 7", suffix: "token 8", middle: "token 9" },
  });
});

test("reads the texts of the BOS and EOS tokens", async () => {
  const path = await withTokens(["<s>", "</s>", "a", "b", "c", "d"]);
  expect(await new Headers().specialTokens(path)).toEqual({
    ...{ bosText: "<s>", eosText: "</s>", infill: null },
  });
});

test("reads the headers of 200 models once, even if they are listed repeatedly in order", async () => {
  const headers = new Headers();
  const bytes = ggufBytes(tinyModel());
  const paths = Array.from({ length: 200 }, (_, index) => join(folder, `listed-${index}.gguf`));
  for (const path of paths) await writeFile(path, bytes);
  const first = await Promise.all(paths.map((path) => headers.of(path)));
  for (let list = 0; list < 3; list++)
    for (const [index, path] of paths.entries()) expect(await headers.of(path)).toBe(first[index]);
});
