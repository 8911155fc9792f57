import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The words of the last column of CONTRIBUTING.md's table. */
const refused = read("CONTRIBUTING.md")
  .split("## Chinese words")[1]!
  .split("\n## ")[0]!
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .slice(2)
  .flatMap((line) => line.split("|").at(-2)!.split(","))
  .map((word) => word.trim());

const texts = [
  ...globSync("docs/**/*.zh.md", { cwd: root }),
  ...globSync("dataq/{contract,service,console}/src/**/*.{ts,tsx}", { cwd: root }),
].filter((path) => !/\.test\.ts$|\/legal\/|\/sample/.test(path));

test("Chinese texts use one word for one thing", () => {
  expect(refused.length).toBeGreaterThan(8);
  const found = texts.flatMap((path) => {
    const text = read(path);
    return refused.filter((word) => text.includes(word)).map((word) => `${path}: ${word}`);
  });
  expect(found).toEqual([]);
});

test("a number is followed by 点, not by 点数", () => {
  const wrong = /(?:[0-9]|\})\s*点数/;
  expect(texts.filter((path) => wrong.test(read(path)))).toEqual([]);
  expect("消耗 5 点数").toMatch(wrong);
});

test("records are 检索, pages are 搜索", () => {
  const wrong = /搜索(?!引擎|热度|指数)/;
  const ofRecords = texts.filter((path) => path.startsWith("docs/dataq/"));
  expect(ofRecords.length).toBeGreaterThan(20);
  expect(ofRecords.filter((path) => wrong.test(read(path)))).toEqual([]);
});

/** What the console writes, and what pages about dataq wrote for it. Each word is right for something else. */
const ofConsole = {
  监控: /订阅/,
  冻结: /预留/,
  试用点数: /试用额度/,
  本机所有者: /机器的主人/,
};

test("pages about dataq take the console's words", () => {
  const screen = read("dataq/console/src/text/zh.ts");
  const pages = [...texts.filter((path) => path.startsWith("docs/dataq/")), "README.zh.md"];
  for (const [word, wrong] of Object.entries(ofConsole)) {
    expect(screen).toContain(word);
    expect(pages.filter((path) => wrong.test(read(path)))).toEqual([]);
  }
});

test("every page says 您", () => {
  const pages = [...texts.filter((path) => path.startsWith("docs/")), "README.zh.md"];
  expect(pages.length).toBeGreaterThan(40);
  expect(pages.filter((path) => read(path).includes("你"))).toEqual([]);
});

test("the words that operators look for are there", () => {
  const all = texts.map(read).join("\n");
  for (const word of ["启用被搁置的版本", "推送记录", "暂无可用数据源", "精确到 1 点", "每一笔都有账可查"])
    expect(all).toContain(word);
});
