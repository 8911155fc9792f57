import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LocallmError } from "../../wire/errors.ts";
import { layout } from "./layout-0.5.0.ts";
import { checkLayout, openLibrary } from "./library.ts";

const answers = (contextParams: object = {}) => ({
  llama_model_default_params: () => layout.defaults.modelParams,
  llama_context_default_params: () => ({ ...layout.defaults.contextParams, ...contextParams }),
  llama_model_quantize_default_params: () => layout.defaults.quantizeParams,
  defaultThreadpoolParams: () => layout.defaults.threadpoolParams,
});

function mismatch(check: () => void): string {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(LocallmError);
    expect((error as LocallmError).code).toBe("engine_mismatch");
    return (error as LocallmError).message;
  }
  throw new Error("nothing was refused");
}

describe("openLibrary", () => {
  it("opens the installed engine and accepts its layout", () => {
    expect(openLibrary().version).toMatch(new RegExp(`^${RegExp.escape(layout.version)}`));
  });

  it("says which file is missing", () => {
    const folder = mkdtempSync(join(tmpdir(), "no-engine-"));
    expect(() => openLibrary(folder)).toThrow(/no engine for .+: neither .+llama/);
  });
});

describe("checkLayout", () => {
  it("accepts its own release, and a build after it", () => {
    checkLayout(answers(), layout.version);
    checkLayout(answers(), `${layout.version}-dev`);
  });

  it("rejects another release and names both", () => {
    const message = mismatch(() => checkLayout(answers(), "0.6.0"));
    expect(message).toContain("llama.cpp 0.6.0");
    expect(message).toContain(`llama.cpp ${layout.version}`);
  });

  it("rejects a structure whose members moved and names the first", () => {
    const message = mismatch(() => checkLayout(answers({ n_batch: 512 }), layout.version));
    expect(message).toContain("contextParams.n_batch is 512, not 2048");
  });
});
