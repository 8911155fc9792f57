import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOperation, type Operation } from "@dataq/contract";
import { expect, test } from "vitest";
import type { StoredArticle } from "./corpus.ts";
import { foldLaws, unfoldLaws, withSources } from "./import/fold.ts";
import { readLawRows } from "./import/law-rows.ts";
import { articleRecord } from "./record.ts";

const source = {
  name: "laws.jsonl",
  kind: "third_party" as const,
  retrieved_at: "2026-01-01T08:00:00+08:00",
  content_sha256: "",
};

/** Imports packs one after the other, as the importer folds what is stored with what comes. */
async function fold(...packs: readonly (readonly object[])[]): Promise<Map<string, StoredArticle>> {
  const folder = await mkdtemp(join(tmpdir(), "dataq-laws-"));
  try {
    let stored: StoredArticle[] = [];
    for (const rows of packs) {
      const path = join(folder, "laws.jsonl");
      await writeFile(path, rows.map((row) => JSON.stringify(row)).join("\n"));
      const read = await readLawRows(path, {
        row: () => {},
        passOver: () => {},
        bad: (row, problem) => expect.fail(`${row}: ${problem}`),
      });
      stored = foldLaws([...unfoldLaws(stored), ...read.map((version) => withSources(version, source))]);
    }
    return new Map(stored.map((article) => [article.article_no, article]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const first = {
  category: "经济法",
  title: "中华人民共和国测试法",
  version_date: "2010-05-01",
  revision_history: ["2010年5月1日 第十一届全国人民代表大会常务委员会第十四次会议通过"],
  text: "## 第一章 总则\n\n第一条 为了测试。\n\n第二条 旧的规定。\n\n第三条 将来删去。\n\n第四条 本法自2010年7月1日起施行。",
};
const second = {
  ...first,
  version_date: "2020-08-01",
  revision_history: [
    "2010年5月1日 第十一届全国人民代表大会常务委员会第十四次会议通过",
    "2020年8月1日 第十三届全国人民代表大会常务委员会第二十一次会议修订",
  ],
  text: "## 第一章 总则\n\n第一条　为了测试。\n\n第二条 新的规定。\n\n第二条之一 增加的。\n\n第四条 本法自2021年1月1日起施行。",
};

const changes = (article: StoredArticle | undefined, at = "2026-01-01") =>
  articleRecord(article as StoredArticle, new Date(`${at}T00:00:00Z`)).revisions.map(
    ({ version_date, change }) => [version_date, change],
  );

test("two versions of a law show for each article what changed between them", async () => {
  for (const packs of [[[first, second]], [[second], [first]], [[first], [second], [second]]]) {
    const articles = await fold(...packs);
    expect(changes(articles.get("第一条"))).toEqual([
      ["2010-05-01", "original"],
      ["2020-08-01", "unchanged"],
    ]);
    expect(changes(articles.get("第二条"))).toEqual([
      ["2010-05-01", "original"],
      ["2020-08-01", "amended"],
    ]);
    expect(changes(articles.get("第二条之一"))).toEqual([["2020-08-01", "added"]]);
    expect(changes(articles.get("第三条"))).toEqual([
      ["2010-05-01", "original"],
      ["2020-08-01", "repealed"],
    ]);
  }
});

test("the text is that of the version in force on the day; it says by whom and from when", async () => {
  const article = (await fold([first, second])).get("第二条") as StoredArticle;
  const before = articleRecord(article, new Date("2020-12-31T00:00:00Z"));
  expect(before).toMatchObject({ content: "旧的规定。", expired_date: "2021-01-01" });
  const after = articleRecord(article, new Date("2021-01-01T00:00:00Z"));
  expect(after).toMatchObject({
    content: "新的规定。",
    effective_date: "2021-01-01",
    expired_date: null,
    revisions_basis: "compared_versions",
    revisions: [
      { content: "旧的规定。", effective_date: "2010-07-01" },
      { content: "新的规定。", by: "第十三届全国人民代表大会常务委员会第二十一次会议" },
    ],
    law_history: [
      { date: "2010-05-01", text: expect.stringContaining("通过") },
      { date: "2020-08-01", text: expect.stringContaining("修订") },
    ],
  });
  const { record } = findOperation("legal_laws") as Operation;
  expect(record.strict().safeParse({ ...after, highlights: [], score: null }).error).toBeUndefined();
});

test("of one version alone a record shows what its pack tells, and says so", async () => {
  const alone = {
    domain: "social",
    title: "中华人民共和国单版法",
    text: "# 中华人民共和国单版法\n\n（2001年2月3日通过　根据2005年6月7日《关于修改的决定》修正）\n\n**第一条**　内容。",
  };
  const article = (await fold([alone])).get("第一条") as StoredArticle;
  expect(articleRecord(article, new Date("2026-01-01T00:00:00Z"))).toMatchObject({
    revisions_basis: "law_pack",
    revisions: [{ version_date: "2005-06-07", content: "内容。" }],
    law_history: [
      { date: "2001-02-03", text: "2001年2月3日通过" },
      { date: "2005-06-07", text: "根据2005年6月7日《关于修改的决定》修正" },
    ],
  });
});
