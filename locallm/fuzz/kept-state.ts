import assert from "node:assert/strict";
import type { Target } from "../../fuzz/target.ts";
import { decodeHead, encodeHead, headBytes, layOut } from "../src/wire/inference/kept-state.ts";
import type { Picture } from "../src/wire/inference/picture.ts";

const hex = "0123456789abcdef".repeat(4);
const sizes = [
  { tokens: 4, bytes: 100 },
  { tokens: 2, bytes: 7 },
];
const line: Picture = { identity: hex, cells: 1, positions: 1, layout: "line", causal: true };
const grid: Picture = { ...line, cells: 2, positions: 2, layout: { width: 2, height: 1 }, causal: false };
const states = [
  { tokens: Int32Array.from([1, 0, 2 ** 31 - 1, 7]), pictures: [] },
  { tokens: Int32Array.from([-1, -2, -2, 7]), pictures: [line, grid] },
];

/** What is read of a file is written as the same bytes, and lies inside it. */
export const target: Target = {
  covers: ["locallm/src/wire/inference/kept-state.ts"],
  seeds: states.map((state) => {
    const { parts } = layOut(4, state.pictures.length, sizes);
    return encodeHead({ group: hex, name: hex, window: 4096, ...state, promptTokens: 3, parts });
  }),
  read(input) {
    const length = headBytes(input);
    const state = decodeHead(input);
    if (state === null) return;
    assert(length !== null && length <= input.length);
    assert.deepEqual(decodeHead(encodeHead(state)), state);
    const { totalBytes } = layOut(state.tokens.length, state.pictures.length, state.parts);
    for (const { offset, bytes } of state.parts) assert(offset >= length && offset + bytes <= totalBytes);
  },
};
