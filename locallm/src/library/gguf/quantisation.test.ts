import { expect, test } from "vitest";
import { fileTypeName, tensorBytes, tensorType, writableType, writableTypes } from "./quantisation.ts";

test("a tensor has whole blocks of its type, and four bytes an element if the type is unknown", () => {
  expect(tensorBytes("F32", [3, 4])).toBe(48);
  expect(tensorBytes("F16", [3, 4])).toBe(24);
  // 32 elements in 18 bytes.
  expect(tensorBytes("Q4_0", [64, 2])).toBe(72);
  expect(tensorBytes("none such", [3, 4])).toBe(48);
});

test("a type is found by its name in any case, by no other", () => {
  expect(writableType("q4_0")?.name).toBe("Q4_0");
  expect(writableType("f16")?.name).toBe("F16");
  expect(writableType("constructor")).toBeNull();
  expect(writableType("Q4_K")).toEqual({ id: 15, name: "Q4_K_M" });
  // The engine reads this one only.
  expect(writableType("NVFP4")).toBeNull();
  expect(writableTypes).toHaveLength(35);
  expect(writableTypes.every((name) => writableType(name)?.name.toLowerCase() === name)).toBe(true);
  expect([39, 4, 999].map(fileTypeName)).toEqual(["NVFP4", "unknown", "unknown"]);
  expect(tensorType(4)).toBeUndefined();
});
