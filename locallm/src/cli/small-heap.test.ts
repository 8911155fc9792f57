import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { smallHeap } from "./small-heap.ts";

it.each(["./locallm.ts", "../../../package.json"])("%s starts Node with the small heap", (path) => {
  expect(readFileSync(new URL(path, import.meta.url), "utf8")).toContain(`node ${smallHeap.join(" ")}`);
});
