import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { articleOf, foldPacks, readPack } from "./law-packs.ts";
import { knownArticles } from "./law-table.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(packs);
const now = new Date("2026-11-22T04:00:00Z");

test.skipIf(!hasPacks)(
  "60 articles of 20 laws have their text, status and dates, and nothing of the Civil Code is repealed (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const file = (name: string) => readPack(name, join(packs as string, `${name}.jsonl.zst`));
    const read = [
      await file("law_versions_md"),
      await file("law_articles"),
      await file("law_catalog"),
      await file("laws_current_md"),
    ];
    const folded = foldPacks(read);
    expect(knownArticles.length).toBeGreaterThanOrEqual(60);
    for (const { id, starts, source: _, ...expected } of knownArticles) {
      const record = articleRecord(articleOf(folded, id), now);
      const { content, status, effective_date: effective, expired_date: expired, revisions } = record;
      expect({ id, content: content.replace(/\s/g, "").slice(0, starts.length) }).toEqual({
        id,
        content: starts,
      });
      expect({ id, status, effective, expired, change: revisions.at(-1)?.change }).toEqual({
        id,
        ...expected,
      });
    }
    const civilCode = folded.articles.filter(({ id }) => id.startsWith("民法典:"));
    expect(civilCode).toHaveLength(1_260);
    expect(civilCode.filter((article) => articleRecord(article, now).status !== "in_force")).toEqual([]);
    // Parts, annexes, guides and forms are no laws.
    const names = new Set(folded.articles.map(({ law_name }) => law_name));
    expect([...names].filter((name) => /^(?:第.+[编章]|附则|附件|修正案)|攻略|格式$/.test(name))).toEqual([]);
    expect(folded.heldBack.map(({ law, versionDate }) => [law, versionDate]).sort()).toEqual([
      ["中华人民共和国澳门特别行政区基本法", null],
      ["废旧金属收购业治安管理办法", "2023-07-20"],
      ["最高人民法院关于知识产权法庭若干问题的规定", "2023-10-21"],
    ]);
  },
);
