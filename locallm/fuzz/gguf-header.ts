import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../../fuzz/target.ts";
import { readGguf } from "../src/library/gguf/header.ts";
import { checkModelRules } from "../src/library/gguf/rules.ts";
import { LocallmError } from "../src/wire/errors.ts";
import { ggufBytes, loadableModel, tinyModel } from "../test/tiny-gguf.ts";

const folder = mkdtempSync(join(tmpdir(), "locallm-fuzz-"));
const path = join(folder, "model.gguf");
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

export const target: Target = {
  covers: ["locallm/src/library/gguf"],
  seeds: [ggufBytes(tinyModel()), ggufBytes(loadableModel()).subarray(0, 6_000)],
  longest: 16_384,
  async read(input) {
    writeFileSync(path, input);
    const header = await readGguf(path, { arrays: "all", distinct: "tokenizer.ggml.tokens" });
    for (const { name, offsetBytes, sizeBytes } of header.tensors)
      if (offsetBytes + sizeBytes > input.length) throw new Error(`The tensor ${name} ends after the file.`);
    checkModelRules(header);
  },
  refuses: (error) => error instanceof LocallmError,
};
