import { expect, test } from "vitest";
import { counted } from "./counted.ts";

test.each([
  [0, "0 properties"],
  [1, "1 property"],
  [2, "2 properties"],
  [101, "101 properties"],
])("counts %i with the right noun", (count, text) => {
  expect(counted(count, "property", "properties")).toBe(text);
});
