import { expect, test } from "vitest";
import { beyond } from "../../../sources/reach.ts";
import { lawReach } from "./reach.ts";

const part = (en: string, count: number) => ({
  what: { en, zh: en },
  count,
  oldest_day: "1979-07-01",
  newest_day: "2026-01-01",
});
const held = (local: number) => ({
  records: 9,
  oldest_day: "1979-07-01",
  newest_day: "2026-01-01",
  parts: [part("national law", 3), part("administrative regulation", 2), part("local regulation", local)],
  text: { en: "", zh: "" },
});

test.each([
  ["北京市 垃圾分类规定", 0, "part"],
  ["  广东省禁毒", 0, "part"],
  ["地方性法规 养犬", 0, "part"],
  ["北京市 垃圾分类规定", 4, undefined],
  ["北京市第一中级人民法院 管辖", 0, undefined],
  ["民法典 第五百七十七条", 0, undefined],
  ["", 0, undefined],
])("%j with %i local regulations: %s", (query, local, how) => {
  const reach = lawReach({ query });
  expect(reach && beyond(reach, held(local))?.how).toBe(how);
});
