import assert from "node:assert/strict";
import type { Target } from "../../fuzz/target.ts";
import { parseChallenge } from "../src/sources/oci/challenge.ts";
import { parseReference } from "../src/sources/reference.ts";
import { LocallmError } from "../src/wire/errors.ts";
import { fullModelName, parseModelName } from "../src/wire/model-name.ts";
import { parseRemoteAddress } from "../src/wire/remote-address.ts";

/** Names and addresses that people type or servers send. A name that is read is printed and read as the same. */
export const target: Target = {
  covers: [
    "locallm/src/sources/reference.ts",
    "locallm/src/sources/oci/challenge.ts",
    "locallm/src/wire/model-name.ts",
    "locallm/src/wire/remote-address.ts",
    "locallm/src/library/name-part.ts",
  ],
  seeds: [
    "registry.example:5000/library/llama3.2:1b-q4_K_M",
    "hf.co/owner/repo:Q4_K_M",
    "https://user:pass%20word@host/a/b-00001-of-00003.gguf?x=1#sha256=00",
    "pypi:smollm2==1.0",
    "npm:@scope/model@1.2.3",
    "http://10.0.0.1:8000/v1#qwen",
    'Bearer realm="https://auth/token",service="r",scope="repository:a:pull"',
  ],
  longest: 1_024,
  read(input) {
    const text = input.toString();
    parseChallenge(text);
    parseRemoteAddress(text);
    const name = parseModelName(text);
    // The name does not say how the registry was asked.
    if (name !== null) assert.deepEqual(parseModelName(fullModelName(name)), { ...name, scheme: null });
    parseReference(text);
  },
  refuses: (error) => error instanceof LocallmError,
};
