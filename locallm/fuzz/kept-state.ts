import assert from "node:assert/strict";
import type { Target } from "../../fuzz/target.ts";
import { decodeHead, encodeHead, headBytes, layOut } from "../src/wire/inference/kept-state.ts";

const hex = "0123456789abcdef".repeat(4);
const tokens = Int32Array.from([1, -1, 2 ** 31 - 1, 7]);
const parts = layOut(4, [
  { tokens: 4, bytes: 100 },
  { tokens: 2, bytes: 7 },
]).parts;

/** What is read of a file is written as the same bytes, and lies inside it. */
export const target: Target = {
  covers: ["locallm/src/wire/inference/kept-state.ts"],
  seeds: [encodeHead({ group: hex, name: hex, window: 4096, tokens, promptTokens: 3, parts })],
  read(input) {
    const length = headBytes(input);
    const state = decodeHead(input);
    if (state === null) return;
    assert(length !== null && length <= input.length);
    assert.deepEqual(decodeHead(encodeHead(state)), state);
    const { totalBytes } = layOut(state.tokens.length, state.parts);
    for (const { offset, bytes } of state.parts) assert(offset >= length && offset + bytes <= totalBytes);
  },
};
