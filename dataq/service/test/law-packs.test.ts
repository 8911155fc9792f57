import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { readRows } from "../src/importer/format/read-rows.ts";
import { checkCitations } from "../src/operations/legal/citation-check/check-citations.ts";
import { findCitations } from "../src/operations/legal/citation-check/find-citations.ts";
import { LawRegister } from "../src/operations/legal/citation-check/law-register.ts";
import { PlainText } from "../src/operations/legal/citation-check/plain-text.ts";
import { domainsOf } from "../src/operations/legal/law-catalog/source.ts";
import type { ArticleVersion } from "../src/operations/legal/laws/corpus.ts";
import { decisions } from "../src/operations/legal/laws/import/decisions.ts";
import type { OfficialLaw } from "../src/operations/legal/laws/official/official-law.ts";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { articleStatus, inForceOn, lawStatus, type Status } from "../src/operations/legal/laws/status.ts";
import { lawKey } from "../src/operations/legal/question/law-reference.ts";
import { citationsOf, isJudgedAs, opinionOf, readAsked } from "./asked-opinion.ts";
import { HeldArticles } from "./held-articles.ts";
import { judgePassages } from "./judged-passages.ts";
import { articleOf, foldPacks, readPack } from "./law-packs.ts";
import { knownArticles } from "./law-table.ts";
import { judgeRetold } from "./retold-articles.ts";
import { readOpinion, recordsOf } from "./written-opinion.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(packs);
const now = new Date("2026-11-22T04:00:00Z");

let allRead: Promise<ReturnType<typeof foldPacks>> | undefined;
/** The four packs of laws, read once for all tests. */
function allPacks() {
  allRead ??= readAll().then((read) => foldPacks(read));
  return allRead;
}

function readAll() {
  const file = (name: string) => readPack(name, join(packs as string, `${name}.jsonl.zst`));
  return Promise.all(["law_versions_md", "law_articles", "law_catalog", "laws_current_md"].map(file));
}

let allHeld: Promise<{ readonly held: HeldArticles; readonly register: LawRegister }> | undefined;
/** The check's records of a text, against the four packs on a day. */
async function checked(text: string, day: string) {
  allHeld ??= allPacks().then(({ articles }) => {
    const held = new HeldArticles(articles);
    return { held, register: new LawRegister(held.names) };
  });
  const { held, register } = await allHeld;
  const plain = new PlainText(text);
  const citations = findCitations(plain, register);
  return checkCitations({ plain, citations, register, held, date: day, now: new Date(day) });
}

/** The packs with an official list that knows most versions and contradicts many. */
async function packsAndList() {
  const { entries } = await allPacks();
  const random = seeded(21);
  const official = entries.flatMap((entry, place): OfficialLaw[] => {
    const state = [1, 2, 3, 3, 3, 4, null][Math.floor(random() * 7)] as OfficialLaw["state"];
    if (entry.version_date === null || random() < 0.2) return [];
    const start = random() < 0.5 ? entry.effective_date : dayAfter(entry.version_date, 400);
    return [
      {
        id: `o${place}`,
        title: entry.law_name,
        kind: "法律",
        issuer: null,
        promulgated: entry.version_date,
        in_force_from: start,
        state,
        listed_on: "2020-06-01",
        source: entry.source,
      },
    ];
  });
  return foldPacks(await readAll(), official);
}

test.skipIf(!hasPacks)(
  "60 articles of 20 laws have the right text, status and dates, and no article of the Civil Code is repealed (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const folded = await allPacks();
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
    // Parts, annexes, guides and forms are not laws.
    const names = new Set(folded.articles.map(({ law_name }) => law_name));
    expect([...names].filter((name) => /^(?:第.+[编章]|附则|附件|修正案)|攻略|格式$/.test(name))).toEqual([]);
    expect(folded.heldBack.map(({ law: name, versionDate }) => [name, versionDate]).sort()).toEqual([
      ["中华人民共和国澳门特别行政区基本法", null],
      ["废旧金属收购业治安管理办法", "2023-07-20"],
      ["最高人民法院关于知识产权法庭若干问题的规定", "2023-10-21"],
    ]);
  },
);

test.skipIf(!hasPacks)(
  "no law is denied without evidence: the table of all laws that are not in force (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const { entries } = await allPacks();
    const day = "2026-11-22";
    const rows = entries.flatMap((law) => {
      const { timeline = { versions: [law] }, place = 0 } = law;
      const state = lawStatus(timeline, day, place);
      const isPlain = law.status_text === null || law.status_text === "现行有效";
      if (state.status === "in_force" || (state.status === "unknown" && isPlain)) return [];
      return [{ law: law.law_name, version: law.version_date, pack: law.status_text, ...state }];
    });
    console.table(rows.filter(({ pack }) => pack !== null && pack !== "现行有效"));
    const evidence = {
      repealed: /^repealed on \d{4}-\d\d-\d\d(?: by 《.+》|, says the law's history)$/,
      amended: /^replaced on \d{4}-\d\d-\d\d by the version of \d{4}-\d\d-\d\d$/,
      not_yet_effective: /^takes effect on \d{4}-\d\d-\d\d$/,
      unknown: /^the pack says \S+ \((?:repealed|amended)\); no .+ is known$/,
      in_force: /^$/,
    };
    const inChinese = {
      repealed: /^(?:已于 \d{4}-\d\d-\d\d 被《.+》废止|据该法沿革，已于 \d{4}-\d\d-\d\d 废止)$/,
      amended: /^已于 \d{4}-\d\d-\d\d 被该法 \d{4}-\d\d-\d\d 版本取代$/,
      not_yet_effective: /^自 \d{4}-\d\d-\d\d 起施行$/,
      unknown: /^数据包注明“\S+”，未见.+$/,
      in_force: /^$/,
    };
    for (const { law: name, status, status_basis: basis, status_basis_zh: zh } of rows) {
      expect(basis, name).toMatch(evidence[status]);
      expect(zh, name).toMatch(inChinese[status]);
    }
    const onWord = rows.filter(({ status }) => status === "unknown").map(({ law: name }) => name);
    expect(onWord.sort()).toEqual([
      "中华人民共和国乡镇企业法",
      "中华人民共和国农村土地承包法",
      "全国人民代表大会常务委员会关于外商投资企业和外国企业适用增值税、消费税、营业税等税收暂行条例的决定",
      "全国人民代表大会常务委员会关于对中华人民共和国缔结或者参加的国际条约所规定的罪行行使刑事管辖权的决定",
    ]);
    const byCode = rows.filter(
      ({ pack, status_basis: basis }) =>
        pack !== null && basis === "repealed on 2026-08-15 by 《中华人民共和国生态环境法典》",
    );
    expect(byCode).toHaveLength(10);
  },
);

test.skipIf(!hasPacks)(
  "a law that only the pack calls repealed is not denied, and one with a newer version is in force until then (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const folded = await allPacks();
    const article = articleOf(folded, "农村土地承包法:1");
    expect(articleRecord(article, now)).toMatchObject({
      status: "unknown",
      status_text: "数据包注明“已废止”，未见废止该法的文件",
      status_basis: "the pack says 已废止 (repealed); no repealing act is known",
      status_basis_zh: "数据包注明“已废止”，未见废止该法的文件",
    });
    const held = new HeldArticles([article]);
    const register = new LawRegister(held.names);
    const plain = new PlainText("依照《农村土地承包法》第一条的规定");
    const citations = findCitations(plain, register);
    const checked = await checkCitations({ plain, citations, register, held, date: "2026-11-22", now });
    expect(checked.map(({ verdict, problems, in_force }) => ({ verdict, problems, in_force }))).toEqual([
      { verdict: "exists", problems: [], in_force: null },
    ]);
    for (const [id, version] of [
      ["商标法:1", "2019-04-23"],
      ["农业法:1", "2012-12-28"],
    ] as const) {
      const stored = articleOf(folded, id);
      const place = stored.versions.findIndex(({ version_date }) => version_date === version);
      expect(lawStatus(stored, "2026-12-31", place)).toMatchObject({ status: "in_force" });
      expect(lawStatus(stored, "2027-01-01", place)).toMatchObject({ status: "amended" });
      expect(lawStatus(stored, "2026-12-31", place + 1)).toMatchObject({ status: "not_yet_effective" });
      expect(lawStatus(stored, "2027-01-01", place + 1)).toMatchObject({ status: "in_force" });
    }
  },
);

test.skipIf(!hasPacks).each([
  ["", allPacks],
  [" with an official list", packsAndList],
] as const)(
  "catalogue, search and citation check say the same of every law on 400 days%s (needs TEST_DATA)",
  { timeout: 120_000 },
  async (_, folded) => {
    const { articles, entries } = await folded();
    const first = new Map<string, (typeof articles)[number]>();
    for (const article of articles) {
      const key = lawKey(article.law_name);
      if (!first.has(key)) first.set(key, article);
    }
    const held = new HeldArticles([...first.values()]);
    const register = new LawRegister(held.names);
    const random = seeded(35);
    const known = entries.flatMap(({ effective_date, timeline }) => [
      effective_date,
      timeline?.repealed?.date,
    ]);
    const edges = known.filter((date) => date !== null && date !== undefined);
    const days = Array.from({ length: 400 }, (_, at) => {
      if (at < 4) return ["1900-01-01", "1949-10-01", "2099-12-31", "2999-12-31"][at] as string;
      const date = edges[Math.floor(random() * edges.length)] as string;
      const span = at % 2 === 0 ? 3 : 20_000;
      return dayAfter(date, Math.floor(random() * span) - Math.floor(span / 2));
    });
    const different: object[] = [];
    for (const day of days) {
      const listed = new Map<string, Status>();
      for (const { laws } of domainsOf(entries, day) as { laws: (Status & { law_id: string })[] }[])
        for (const entry of laws) listed.set(entry.law_id, entry);
      for (const [key, article] of first) {
        const current = inForceOn(article.versions, day);
        const { law_id: id, change } = article.versions[current] as ArticleVersion;
        const { status, status_text, status_basis, status_basis_zh } = lawStatus(article, day);
        // Versions of a law may share an id in the catalogue.
        const isAlone = article.versions.every(({ law_id }, at) => at === current || law_id !== id);
        const entry = listed.get(id);
        const isListed =
          entry?.status === status &&
          entry.status_text === status_text &&
          entry.status_basis === status_basis &&
          entry.status_basis_zh === status_basis_zh;
        if (isAlone && !isListed) different.push({ key, day, status, entry: entry?.status });
        const found = articleStatus(article, current, day).status;
        // Of a law that the list calls amended, nobody can tell which articles changed.
        const isKnown = change === "original" && status !== "amended";
        if ((status === "repealed" || isKnown) && found !== status)
          different.push({ key, day, status, found });
      }
      const drawn = [...first.values()][Math.floor(random() * first.size)] as (typeof articles)[number];
      const plain = new PlainText(`依照《${drawn.law_name}》的规定`);
      const citations = findCitations(plain, register);
      const checked = await checkCitations({ plain, citations, register, held, date: day, now });
      for (const { law_name, verdict, status, status_basis, status_basis_zh } of checked)
        if (law_name === drawn.law_name && verdict === "exists") {
          const ofLaw = lawStatus(drawn, day);
          expect({ law_name, day, status, status_basis, status_basis_zh }).toEqual({
            law_name,
            day,
            status: ofLaw.status,
            status_basis: ofLaw.status_basis,
            status_basis_zh: ofLaw.status_basis_zh,
          });
        }
    }
    expect(different).toEqual([]);
  },
);

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

test.skipIf(!hasPacks)(
  "whatever packs are held, the day of the words is never that of the oldest version (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const all: Record<string, readonly [words: string, law: string]> = {
      "宪法:33": ["2004-03-14", "1982-12-04"],
      "刑法:133": ["1997-10-01", "1997-10-01"],
      "劳动合同法:19": ["2008-01-01", "2008-01-01"],
      "劳动合同法:57": ["2013-07-01", "2008-01-01"],
    };
    const dates = (folded: Awaited<ReturnType<typeof allPacks>>, id: string) => {
      const article = folded.articles.find((each) => each.id === id);
      if (article === undefined) return [null, null];
      const record = articleRecord(article, now);
      expect(record.effective_date).toBe(record.wording_since);
      return [record.wording_since, record.law_effective_date];
    };
    const full = await allPacks();
    for (const [id, right] of Object.entries(all)) expect([id, ...dates(full, id)]).toEqual([id, ...right]);
    const packed = ["law_articles", "law_catalog", "laws_current_md"].map((name) =>
      readPack(name, join(packs as string, `${name}.jsonl.zst`)),
    );
    const [articles, catalogue, current] = await Promise.all(packed);
    if (articles === undefined || catalogue === undefined || current === undefined)
      throw new Error("no packs");
    for (const some of [[articles], [articles, catalogue], [current], [catalogue, current]]) {
      const folded = foldPacks(some);
      for (const [id, [words, law]] of Object.entries(all)) {
        const [since, lawSince] = dates(folded, id);
        expect([null, words], id).toContain(since);
        expect([null, law], id).toContain(lawSince);
      }
    }
  },
);

test.skipIf(!hasPacks)(
  "90 passages with known faults: every fault is found, without false alarms (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const { byFault, falseAlarms, misread, correct, wrong } = await judgePassages(
      (await allPacks()).articles,
      "test",
      90,
      now,
    );
    expect(wrong).toEqual([]);
    expect(byFault.map(({ passages, found }) => passages - found)).toEqual(byFault.map(() => 0));
    expect({ falseAlarms, misread }).toEqual({ falseAlarms: 0, misread: 0 });
    expect(correct).toBeGreaterThan(180);
  },
);

test.skipIf(!hasPacks)(
  "an opinion of 120 citations: every planted error is told, and nothing else (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const sentences = readAsked(new URL("opinion.tsv", import.meta.url));
    const records = await checked(opinionOf(sentences), "2026-11-26");
    expect(records.length).toBeGreaterThan(110);
    for (const { words, expected, named, own } of citationsOf(sentences, records)) {
      expect(own, words).not.toEqual([]);
      const problems = [...new Set(own.flatMap((record) => record.problems))];
      expect({ words, problems }).toEqual({ words, problems: expected === "right" ? [] : [expected] });
      for (const { verdict, in_force } of own)
        expect({ words, isInvented: verdict === "no_such_article" && in_force === true }).toEqual({
          words,
          isInvented: false,
        });
      const places = own.flatMap(({ fits_article: fits, quotations }) => [
        fits?.article_no,
        ...quotations.map(({ found_in: found }) => found?.article_no),
      ]);
      if (named !== "") expect(places, words).toContain(named);
    }
  },
);

test.skipIf(!hasPacks).each([
  ["opinion.tsv", 27, 27],
  ["second-opinion.tsv", 33, 32],
  ["third-opinion.tsv", 35, 35],
  ["fourth-opinion.tsv", 31, 29],
  ["fifth-opinion.tsv", 33, 30],
  ["sixth-opinion.tsv", 33, 32],
  ["seventh-opinion.tsv", 33, 31],
  ["eighth-opinion.tsv", 31, 29],
  ["ninth-opinion.tsv", 44, 42],
  ["tenth-opinion.tsv", 42, 36],
  ["eleventh-opinion.tsv", 38, 35],
  ["twelfth-opinion.tsv", 33, 28],
])(
  "%s of strangers: none of its right sentences is accused; of %i errors at least %i are told (needs TEST_DATA)",
  { timeout: 60_000 },
  async (file, errors, least) => {
    const asked = readAsked(new URL(`../proof/strangers/${file}`, import.meta.url));
    const records = await checked(opinionOf(asked), "2026-11-26");
    const unmet = citationsOf(asked, records).filter(({ expected, own }) => !isJudgedAs(expected, own));
    const accused = unmet.filter(({ expected }) => expected === "right").map(({ words }) => words);
    const missed = unmet.filter(({ expected }) => expected !== "right").map(({ words }) => words);
    expect(accused).toEqual([]);
    expect(asked.filter(({ expected }) => expected !== "right").length).toBe(errors);
    expect([missed.length <= errors - least, missed]).toEqual([true, missed]);
  },
);

test.skipIf(!hasPacks).each([
  ["one", 12, 12],
  ["two", 13, 12],
  ["three", 13, 13],
])(
  "written opinion %s: none of its right citations is accused; of %i errors at least %i are told (needs TEST_DATA)",
  { timeout: 60_000 },
  async (name, errors, least) => {
    const opinion = readOpinion(name, new URL("../proof/opinions/", import.meta.url));
    const records = await checked(opinion.text, "2026-11-26");
    const judged = recordsOf(opinion, records).map(({ quote, is_error, records: own }) => ({
      quote,
      is_error,
      isTold: own.some(({ problems }) => problems.length > 0),
    }));
    expect(judged.filter(({ is_error, isTold }) => isTold && !is_error)).toEqual([]);
    const told = judged.filter(({ is_error, isTold }) => isTold && is_error);
    expect(told.length).toBeGreaterThanOrEqual(least);
    expect(judged.filter(({ is_error }) => is_error).length).toBe(errors);
  },
);

test.skipIf(!hasPacks)(
  "sentences of articles drawn at random: no allowed retelling is accused, and planted errors are told (needs TEST_DATA; 10,000: npm run proof -- citations)",
  { timeout: 120_000 },
  async () => {
    const { allowed, planted } = judgeRetold((await allPacks()).articles, "test", 1_500);
    for (const { way, tried, accused } of allowed) {
      expect([way, accused]).toEqual([way, []]);
      expect(tried, way).toBeGreaterThan(5);
    }
    for (const { way, tried, missed } of planted) {
      expect(tried, way).toBeGreaterThan(5);
      expect([way, missed.length <= Math.max(1, tried / 20), missed]).toEqual([way, true, missed]);
    }
  },
);

test.skipIf(!hasPacks)(
  "of the citations of 861 real judgments only those that have another article's words are said to fit another (needs TEST_DATA)",
  { timeout: 120_000 },
  async () => {
    const file = readFileSync(join(packs as string, "judgments_real.jsonl.zst"));
    const rows = zstdDecompressSync(file).toString().trimEnd().split("\n");
    const fitting: string[] = [];
    const told: string[] = [];
    const shown = (pieces: readonly { readonly kind: string; readonly text: string }[]) =>
      pieces.flatMap(({ kind, text }) => (kind === "same" ? [] : [`${kind} ${text}`])).join(", ");
    let count = 0;
    for (const row of rows) {
      const records = await checked(
        (JSON.parse(row) as { text: string }).text.slice(0, 12_000),
        "2026-11-22",
      );
      count += records.length;
      for (const { law_name, article_no, fits_article: fits, quotations } of records) {
        if (fits !== null) fitting.push(`${lawKey(law_name ?? "")} ${article_no} ${fits.article_no}`);
        for (const { marked, agrees, differences } of quotations)
          if (!marked && agrees === false)
            told.push(`${lawKey(law_name ?? "")} ${article_no} ${shown(differences)}`);
      }
    }
    expect(count).toBeGreaterThan(5_000);
    // Sentences without quotation marks that differ from today's text. Words were left out, or the text was older.
    expect(told.sort()).toEqual(
      [
        "刑法 第三百零三条 added 三年, missing 五年",
        "刑法 第三百八十三条 added 五年, missing 三年",
        "刑法 第三百零三条 added 三年, missing 五年",
        "刑法 第二百七十一条 added 五年, missing 三年",
        "刑法 第二百七十一条 added 五年, missing 三年",
        // The judge wrote that an attempt must be punished less, which the article leaves open.
        "刑法 第二十三条 missing 可以比照既遂犯从轻或者减轻处罚, added 应当比照既遂犯从轻处罚",
        // The judge wrote the limit of the smaller sum of prison terms for the larger one.
        "刑法 第六十九条 missing 最高不能超过二十五年, added 最高不能超过二十年",
        "刑法 第二百七十七条 missing 处三年以下有期徒刑、拘役或者管制, added 依照第一款的规定从重处罚",
        "国有企业富余职工安置规定 第五条 ",
      ].sort(),
    );
    expect(fitting.sort()).toEqual(
      [
        // Old numbering.
        "刑事诉讼法 第一百九十五条 第二百条",
        "刑事诉讼法 第二百四十三条 第二百五十四条",
        // The judge wrote 第三十七条 above the words of 第三十七条之一.
        "刑法 第三十七条 第三十七条之一",
        "最高人民法院关于适用中华人民共和国刑事诉讼法的解释 第五百零五条 第五百九十六条",
      ].sort(),
    );
  },
);

test("every date of an amending act states its act, and none takes effect before it is passed", () => {
  expect(decisions.length).toBeGreaterThan(80);
  for (const { passed, effective, source } of decisions) {
    expect(effective >= passed, `${passed} ${source}`).toBe(true);
    expect(source).toMatch(/^《.+》|^国务院令第\d{3}号|^法释〔\d{4}〕/);
  }
});

test.skipIf(!hasPacks)(
  "the acts of the table occur in the laws' own histories, under their dates (needs TEST_DATA)",
  { timeout: 60_000 },
  async () => {
    const histories = new Map<string, string[]>();
    for (const pack of ["law_versions_md", "laws_current_md"])
      for await (const row of readRows(join(packs as string, `${pack}.jsonl.zst`))) {
        const { title, text, revision_history } = "fields" in row ? row.fields : {};
        const lines = [...((revision_history ?? []) as string[]), ...String(text).split("\n", 25)];
        const key = lawKey(String(title));
        histories.set(key, [...(histories.get(key) ?? []), ...lines.map(inOneForm)]);
      }
    const missing: string[] = [];
    for (const { passed, source, laws } of decisions) {
      const act = /^《(.+?)》(?:；|，|$)/.exec(source)?.[1];
      if (act === undefined) continue;
      const [year, month, day] = passed.split("-").map(Number);
      const stands = (line: string) => line.includes(`${year}年${month}月${day}日`) && line.includes(act);
      const lines =
        laws === undefined ? [...histories.values()].flat() : laws.flatMap((law) => histories.get(law) ?? []);
      if (!lines.some(stands)) missing.push(`${passed} ${source}`);
      // Each law that the act is said to amend has that day in its own history.
      for (const law of laws ?? [])
        if (!(histories.get(law) ?? []).some((line) => line.includes(`${year}年${month}月${day}日`)))
          missing.push(`${passed} ${law}`);
    }
    expect(missing).toEqual([]);
  },
);

function inOneForm(line: string): string {
  return line.replace(/[<＜]/g, "〈").replace(/[>＞]/g, "〉");
}
