import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Entry, ggufBytes, tinyModel, withEntry } from "../../test/tiny-gguf.ts";
import { Headers } from "./headers.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "headers-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function withTokens(items: string[]) {
  const tokens: Entry = { kind: "array", of: "string", items };
  const types: Entry = { kind: "array", of: "i32", items: items.map(() => 1) };
  const spec = withEntry(
    withEntry(tinyModel(), "tokenizer.ggml.tokens", tokens),
    "tokenizer.ggml.token_type",
    types,
  );
  const path = join(folder, `${Math.random()}.gguf`);
  await writeFile(path, ggufBytes(spec));
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

test("reads the texts of the BOS and EOS tokens", async () => {
  const path = await withTokens(["<s>", "</s>", "a", "b", "c", "d"]);
  expect(await new Headers().specialTokens(path)).toEqual({ bosText: "<s>", eosText: "</s>" });
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
