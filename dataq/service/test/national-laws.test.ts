import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { importFile } from "../src/importer/import-file.ts";
import { inEnglish, type Message } from "../src/importer/message.ts";
import { findSet, isOfFiles, type LiveSet } from "../src/importer/open-data/sets.ts";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { findTarget } from "../src/operations/imports.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import type { Differences } from "../src/operations/legal/laws/official/differences.ts";
import { readNationalLaws } from "../src/operations/legal/laws/official/national-laws.ts";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { removeSet, setStates } from "../src/operations/open-data.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { databaseUrl, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { makeDocx } from "./docx.ts";
import { type StandIn, type StandInLaw, startStandIn } from "./national-laws-stand-in.ts";
import { writePack } from "./official-laws.ts";
import { startService } from "./service-process.ts";

const kinds = ["法律", "行政法规", "司法解释", "地方性法规"] as const;
const codes = [120, 210, 320, 230] as const;

/** Texts in the publisher's form: title, history, table of contents, parts, articles with paragraphs and items. */
const regulation = (title: string) =>
  makeDocx([
    title,
    "（2003年4月27日中华人民共和国国务院令第375号公布　根据2010年12月20日《国务院关于修改〈工伤保险条例〉的决定》修订）",
    "目　　录",
    "第一章　总　　则",
    "第二章　试验基金",
    "第一章　总　　则",
    "第一条　为了保障试验的开展，制定本条例。",
    "第二条　下列情形适用本条例：",
    "（一）在试验时间内的；",
    "（二）在试验场所内的。",
    "第二款的规定另行公布。",
    "第二章　试验基金",
    "第一节　一般规定",
    "第三条　试验基金由试验费构成。",
    "第六十七条　本条例自2004年1月1日起施行。",
  ]);
const withTexts: StandInLaw[] = [
  {
    ...row("t1", "工伤保险条例", "2010-12-20", "2011-01-01", 3, "行政法规"),
    docx: regulation("工伤保险条例"),
  },
  {
    ...row("t2", "工伤保险条例", "2003-04-27", "2004-01-01", 2, "行政法规"),
    docx: regulation("工伤保险条例"),
  },
  { ...row("t3", "住房公积金管理条例", "2002-03-24", "2002-03-24", 3, "行政法规") },
  {
    ...row("t4", "中华人民共和国样品法", "2010-05-01", "2010-07-01", 2),
    docx: regulation("中华人民共和国样品法"),
  },
  {
    ...row("t5", "全国人民代表大会常务委员会关于试验问题的决定", "2015-01-01", "2015-01-01", 3),
    docx: makeDocx([
      "全国人民代表大会常务委员会关于试验问题的决定",
      "（2015年1月1日第十二届全国人民代表大会常务委员会第十二次会议通过）",
      "为了试验，决定：试验自即日起开展。",
    ]),
  },
  {
    ...row("t6", "试验登记条例", "2018-02-02", "2018-03-01", 3, "行政法规"),
    docx: Buffer.from("an old Word file"),
  },
  {
    ...row("t7", "某市试验条例", "2018-02-02", "2018-03-01", 3, "地方性法规"),
    docx: regulation("某市试验条例"),
  },
];

const set = findSet("national-laws") as LiveSet;

/** Documents as the publisher lists them, of our own making: names with a number, real kinds and days. */
function documents(count: number): StandInLaw[] {
  return Array.from({ length: count }, (_, place) => {
    // Most are local.
    const kind = Math.min(3, place % 8);
    const gbrq = `${1990 + (place % 35)}-0${1 + (place % 9)}-15`;
    return {
      bbbs: `d${String(place).padStart(6, "0")}`,
      title: `某地测试条例之${place}`,
      flxz: kinds[kind] as string,
      zdjgName: kind === 0 ? "全国人民代表大会常务委员会" : null,
      gbrq,
      sxrq: gbrq,
      sxx: place % 10 === 0 ? 1 : place % 7 === 0 ? 2 : 3,
      flfgCodeId: codes[kind] as number,
    };
  });
}

/** Laws that a pack has, too, in versions and states that the pack does not know. */
const known: StandInLaw[] = [
  row("k1", "中华人民共和国样品法", "2010-05-01", "2010-07-01", 2),
  row("k2", "中华人民共和国样品法", "2020-08-01", "2021-01-01", 3),
  row("k3", "中华人民共和国旧货法", "2001-03-01", "2001-06-01", 1),
  row("k4", "中华人民共和国新货法", "2026-03-01", "2099-01-01", 4),
];

function row(
  bbbs: string,
  title: string,
  gbrq: string,
  sxrq: string,
  sxx: number,
  flxz = "法律",
): StandInLaw {
  const flfgCodeId = codes[kinds.indexOf(flxz as (typeof kinds)[number])] as number;
  return { bbbs, title, flxz, zdjgName: "全国人民代表大会常务委员会", gbrq, sxrq, sxx, flfgCodeId };
}

describe("the national database of laws", () => {
  let folder: string;
  let database: Database;
  let index: SearchIndex;
  let standIn: StandIn;
  let said: string[] = [];
  let today = "2026-11-27T04:00:00Z";

  beforeAll(async () => {
    folder = await makeDataFolder("tables");
    database = await openFolder(folder);
    index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
    standIn = await startStandIn([...known, ...documents(430)]);
    const { laws, catalogue } = await writePack(folder);
    for (const [target, path] of [
      ["legal_law_catalog", catalogue],
      ["legal_laws", laws],
    ] as const)
      await importFile(database, index, findTarget(target), await fetchOrigin(path, { folder }), {});
  }, 120_000);

  afterAll(async () => {
    await standIn?.close();
    await database?.close();
    await removeDataFolder(folder);
  });

  afterEach(() => {
    standIn.troubles.length = 0;
    standIn.requests.length = 0;
    standIn.delayMs = 0;
    said = [];
  });

  const needs = () => ({
    database,
    index,
    dataFolder: folder,
    standIn: { address: standIn.url, paceMs: 2 },
    now: () => new Date(today),
    progress: (message: Message) => void said.push(inEnglish(message)),
  });
  const read = (wishes = {}) => readNationalLaws(needs(), set, { listOnly: true, ...wishes });
  const listed = async () => {
    let count = 0;
    for await (const _ of index.documents("official_law_list#packs")) count++;
    return count;
  };
  const articleWith = async (id: string) => {
    index.forget("legal_laws");
    for await (const body of index.documents("legal_laws"))
      if ((body as StoredArticle).id === id) return body as StoredArticle;
    throw new Error(`${id} is not there`);
  };
  const recordOf = async (id: string) => articleRecord(await articleWith(id), new Date(today));

  test("nobody is asked without a yes, and the plan names publisher, requests and time", async () => {
    const asked = await run(["data", "get", "national-laws"]);
    expect(asked.code).toBe(1);
    expect(asked.text).toMatch(
      /国家法律法规数据库, National database of laws and regulations, https:\/\/flk\.npc\.gov\.cn\/\n/,
    );
    expect(asked.text).toMatch(/asked about 620 times for its list/);
    expect(asked.text).toMatch(/nobody was asked\. Pass --yes/);
    const shown = await run(["data", "show", "national-laws"]);
    expect(shown.text).toMatch(/one a second, when you run "dataq data get national-laws"/);
    expect(shown.text).toMatch(/never run against the real publisher/);
    expect((await run(["data", "list"])).text).toMatch(/national-laws .*live/);
    expect(standIn.requests).toEqual([]);
    expect((await setStates(database, index)).get(set)).toBe("missing");
  }, 60_000);

  test.each([
    ["another type", { total: "434" }, "total"],
    ["a field that is gone", { rows: [{ ...known[0], bbbs: undefined }] }, "rows[0].bbbs"],
    ["a day in other words", { rows: [{ ...known[0], gbrq: "last May" }] }, "rows[0].gbrq"],
    ["a name that is a path", { rows: [{ ...known[0], bbbs: "../../x" }] }, "rows[0].bbbs"],
    ["its own error", { code: 500 }, "code"],
  ])("%s is an error that names the field, and nothing is changed", async (_, change, field) => {
    standIn.troubles.push({ kind: "other shape", change: (answer) => ({ ...answer, ...change }) });
    await expect(read()).rejects.toThrow(`answered page 1 of the list in another shape: ${field}: `);
    expect(await listed()).toBe(0);
    expect(existsSync(join(folder, "national-laws", "list.json"))).toBe(false);
  });

  test("a publisher that always answers a page for people is given up with a sentence", async () => {
    for (let time = 0; time < 5; time++) standIn.troubles.push({ kind: "page" });
    await expect(read()).rejects.toThrow(/something that is not JSON \(text\/html\)/);
    expect(standIn.requests).toHaveLength(5);
  });

  test("a limit of an hour is told, and nobody waits for it", async () => {
    standIn.troubles.push({ kind: "status", status: 429, retryAfter: "3600" });
    await expect(read()).rejects.toThrow(/asks to wait 60 minutes/);
  });

  test("the list is read whole, through limits, errors and answers that break off", async () => {
    standIn.troubles.push(
      { kind: "status", status: 429, retryAfter: "0" },
      { kind: "status", status: 503 },
      { kind: "cut" },
    );
    await read();
    expect(await listed()).toBe(434);
    expect((await setStates(database, index)).get(set)).toBe("here");
    const pages = standIn.requests.map(({ body }) => body?.pageNum);
    expect(pages).toEqual([1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1]);
    expect(said.join("\n")).toMatch(/asked too often; asking again in 0 seconds/);
    expect(said.join("\n")).toMatch(/it answered 503; asking again/);
    expect(said.join("\n")).toMatch(/its answer was cut off/);
  }, 60_000);

  test("laws of a pack have the list's state and day, each version its own", async () => {
    expect(await recordOf("样品法:1")).toMatchObject({
      status: "in_force",
      status_basis: "official list of 2026-11-27: in force",
      status_basis_zh: "国家法律法规数据库 2026-11-27 目录注明“有效”",
      promulgated_date: "2020-08-01",
    });
    // The pack calls it in force.
    expect(await recordOf("旧货法:1")).toMatchObject({
      status: "repealed",
      status_text: "已废止",
      status_basis: "official list of 2026-11-27: repealed",
      status_basis_zh: "国家法律法规数据库 2026-11-27 目录注明“已废止”",
    });
    expect(await recordOf("新货法:1")).toMatchObject({
      status: "not_yet_effective",
      status_basis: "official list of 2026-11-27: not yet in force; takes effect on 2099-01-01",
    });
    // Not listed: the pack's own word.
    expect(await recordOf("未列法:1")).toMatchObject({ status_basis: "no pack states the status" });
  });

  test("where the list and the packs differ is told in numbers and as a report", async () => {
    const { code, text } = await run(["data", "report", "national-laws", "--json"]);
    expect(code).toBe(0);
    const report = JSON.parse(text) as Differences;
    expect(report).toMatchObject({ listed_on: "2026-11-27", agreeing: 2, settled: 1 });
    const source = "The operator of this service";
    expect(report.differences).toEqual([
      {
        what: "state",
        law: "中华人民共和国旧货法",
        version_date: "2001-03-01",
        here: "the pack says 现行有效 (in force)",
        listed: "official list of 2026-11-27: repealed",
        source,
      },
      expect.objectContaining({ what: "not_listed", law: "中华人民共和国未列法", listed: null }),
    ]);
    const shown = await run(["data", "report", "national-laws"]);
    expect(shown.text).toContain(
      "中华人民共和国旧货法 2001-03-01 (The operator of this service): another state: here the pack says 现行有效 (in force); listed official list of 2026-11-27: repealed",
    );
  }, 60_000);

  test("an update asks for counts, and only the state that gained is read", async () => {
    today = "2026-12-01T04:00:00Z";
    await read();
    expect(standIn.requests.map(({ body }) => body?.sxx)).toEqual([[], [4], [1], [2], [3]]);
    expect(await recordOf("样品法:1")).toMatchObject({
      status_basis: "official list of 2026-12-01: in force",
    });
    standIn.requests.length = 0;
    (known[1] as StandInLaw).sxx = 2;
    standIn.laws.push(row("k5", "中华人民共和国样品法", "2026-11-20", "2027-01-01", 4));
    await read();
    const states = standIn.requests.map(({ body }) => String(body?.sxx));
    expect(new Set(states)).toEqual(new Set(["", "4", "1", "2", "3"]));
    expect(states.filter((state) => state === "3")).toHaveLength(1);
    expect(await listed()).toBe(435);
    // The list calls it amended, and the amended text, which is not held, applies from 2027.
    expect(await recordOf("样品法:1")).toMatchObject({
      status: "in_force",
      status_basis:
        "official list of 2026-12-01: amended since; in force until 2027-01-01, when the version of 2026-11-20 takes effect, which is not in the data",
    });
    const later = articleRecord(await articleWith("样品法:1"), new Date("2027-02-01T00:00:00Z"));
    expect(later).toMatchObject({
      status: "unknown",
      status_basis: "official list of 2026-12-01: there is a version of 2026-11-20, which is not in the data",
    });
  }, 60_000);

  test("documents that were withdrawn make it read all again", async () => {
    standIn.laws.splice(standIn.laws.length - 2, 1);
    await read();
    expect(await listed()).toBe(434);
    expect(standIn.requests.filter(({ body }) => body?.sxx.length === 0).length).toBeGreaterThan(8);
  }, 60_000);

  test("the pace is kept and halved by a limit", async () => {
    standIn.troubles.push({ kind: "status", status: 429, retryAfter: "0" });
    await readNationalLaws({ ...needs(), standIn: { address: standIn.url, paceMs: 40 } }, set, {
      listOnly: true,
    });
    const gaps = standIn.requests
      .slice(1)
      .map(({ atMs }, place) => atMs - (standIn.requests[place]?.atMs ?? 0));
    // A request may be late and the next one then in time, so the sum is what is kept.
    const sum = (some: readonly number[]) => some.reduce((all, gap) => all + gap, 0);
    expect(sum(gaps.slice(1))).toBeGreaterThan((gaps.length - 2) * 80);
  }, 60_000);

  test("two at once would ask twice as fast, so the second says that the first is reading", async () => {
    standIn.delayMs = 200;
    const first = start(["data", "get", "national-laws", "--list-only", "--yes", "--whole"]);
    await expect.poll(() => standIn.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await expect(read()).rejects.toThrow(/is being read by another process of this installation/);
    first.kill("SIGKILL");
    await ended(first);
    standIn.delayMs = 0;
    // The lock ends with the process that had it.
    await expect
      .poll(
        () =>
          read().then(
            () => "read",
            () => "locked",
          ),
        { timeout: 10_000 },
      )
      .toBe("read");
  }, 60_000);

  test("killed at any moment, the next run goes on, and half a list is never served", async () => {
    await removeSet({ ...needs(), mirror: undefined }, set);
    const place = `${standIn.url}#20`;
    standIn.delayMs = 30;
    standIn.requests.length = 0;
    for (let kill = 0; kill < 4; kill++) {
      const child = start(["data", "get", "national-laws", "--list-only", "--yes", "--whole"], place);
      await Promise.race([ended(child), wait(900 + Math.random() * 500)]);
      child.kill("SIGKILL");
      await ended(child);
      index.forget("official_law_list#packs");
      expect([0, 434]).toContain(await listed());
    }
    const last = await run(["data", "get", "national-laws", "--list-only", "--yes"], place);
    expect([last.code, last.text]).toEqual([0, expect.stringContaining("the list has 434 documents")]);
    index.forget("official_law_list#packs");
    expect(await listed()).toBe(434);
  }, 120_000);

  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  function start(args: readonly string[], place = `${standIn.url}#1`): ChildProcess {
    const url = databaseUrl(folder);
    return spawn(process.execPath, ["--conditions=source", main, ...args], {
      env: {
        ...process.env,
        DATAQ_DATA: folder,
        DATAQ_NATIONAL_LAWS: place,
        ...(url !== undefined && { DATABASE_URL: url }),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
  async function run(args: readonly string[], place?: string) {
    const child = start(args, place);
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
    const code = await ended(child);
    return { code, text };
  }
});

describe("texts of the national database of laws", () => {
  let folder: string;
  let database: Database;
  let index: SearchIndex;
  let standIn: StandIn;
  let said: string[] = [];

  beforeAll(async () => {
    folder = await makeDataFolder("tables");
    database = await openFolder(folder);
    index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
    standIn = await startStandIn([...withTexts]);
  }, 120_000);

  afterAll(async () => {
    await standIn?.close();
    await database?.close();
    await removeDataFolder(folder);
  });

  afterEach(() => {
    standIn.troubles.length = 0;
    standIn.requests.length = 0;
    said = [];
  });

  const read = (wishes = {}) =>
    readNationalLaws(
      {
        database,
        index,
        dataFolder: folder,
        standIn: { address: standIn.url, paceMs: 2 },
        now: () => new Date("2026-11-27T04:00:00Z"),
        progress: (message: Message) => void said.push(inEnglish(message)),
      },
      set,
      wishes,
    );
  const textsAsked = () =>
    standIn.requests.flatMap(({ path }) => /download\/pc\?format=docx&bbbs=(\w+)/.exec(path)?.[1] ?? []);
  const articles = async () => {
    const found = new Map<string, StoredArticle>();
    index.forget("legal_laws");
    for await (const body of index.documents("legal_laws"))
      found.set((body as StoredArticle).id, body as StoredArticle);
    return found;
  };

  test("the regulation that people ask for most is read first, into its articles, with the organ's own facts", async () => {
    await read({ most: 1 });
    expect(textsAsked()).toEqual(["t1"]);
    const found = await articles();
    expect([...found.keys()]).toEqual([
      "工伤保险条例:1",
      "工伤保险条例:2",
      "工伤保险条例:3",
      "工伤保险条例:67",
    ]);
    const record = articleRecord(
      found.get("工伤保险条例:2") as StoredArticle,
      new Date("2026-11-27T04:00:00Z"),
    );
    expect(record).toMatchObject({
      law_id: "t1",
      article_no: "第二条",
      chapter: "第一章 总 则",
      section: null,
      content: "下列情形适用本条例：\n（一）在试验时间内的；\n（二）在试验场所内的。\n第二款的规定另行公布。",
      level: "administrative_regulation",
      promulgated_date: "2010-12-20",
      status: "in_force",
      status_basis: "official list of 2026-11-27: in force",
      source: { name: "国家法律法规数据库", kind: "official", url: "https://flk.npc.gov.cn/" },
    });
    expect(found.get("工伤保险条例:3")?.versions.at(-1)).toMatchObject({
      chapter: "第二章 试验基金",
      section: "第一节 一般规定",
    });
  });

  test("then laws, then the rest; local regulations only where asked for; what cannot be read is counted", async () => {
    standIn.requests.length = 0;
    await read();
    expect(textsAsked()).toEqual(["t3", "t5", "t4", "t6", "t2"]);
    expect(said).toContain("1 listed text has no Word file at the publisher");
    expect(said).toContain("1 file is no Word file of today's format (docx) and cannot be read");
    const found = await articles();
    expect(found.get("全国人民代表大会常务委员会关于试验问题的决定:全文")?.versions[0]?.content).toBe(
      "为了试验，决定：试验自即日起开展。",
    );
    expect(found.get("工伤保险条例:1")?.versions).toHaveLength(2);
    standIn.requests.length = 0;
    await read();
    expect(textsAsked()).toEqual([]);
    await read({ local: ["某省"] });
    expect(textsAsked()).toEqual([]);
    await read({ local: ["某市"] });
    expect(textsAsked()).toEqual(["t7"]);
  });

  test("a text that breaks off is asked again, and one that the list renames is read again", async () => {
    (standIn.laws[6] as { title: string }).title = "某市试验管理条例";
    // The counts agree, so only a whole reading sees a new title.
    standIn.requests.length = 0;
    standIn.troubles.push({ kind: "cut" });
    await rm(join(folder, "national-laws", "reading.jsonl"), { force: true });
    await read({ local: ["某市"], whole: true });
    expect(textsAsked()).toEqual(["t7"]);
    expect((await articles()).has("某市试验管理条例:1")).toBe(true);
  });

  test("a publisher that has no text at all is told, and nothing is forgotten", async () => {
    standIn.laws.push(
      ...Array.from({ length: 25 }, (_, place) =>
        row(`n${place}`, `中华人民共和国无文法之${place}`, "2024-01-01", "2024-01-01", 3),
      ),
    );
    const before = (await articles()).size;
    await expect(read()).rejects.toThrow(/gave none of 20 texts that were asked one after the other/);
    expect((await articles()).size).toBe(before);
    standIn.requests.length = 0;
    // They are not known to be lacking, so they are asked again.
    await expect(read()).rejects.toThrow(/gave none/);
    expect(textsAsked()).toHaveLength(20);
    standIn.laws.splice(-25);
  });

  test("a publisher that dies while texts are read is given up, and what was read is served", async () => {
    const laws = Array.from({ length: 6 }, (_, place) => ({
      ...row(`g${place}`, `中华人民共和国中断法之${place}`, "2023-01-01", "2023-01-01", 3),
      docx: regulation(`中华人民共和国中断法之${place}`),
    }));
    standIn.laws.push(...laws);
    let files = 0;
    standIn.isDead = (path) => path.startsWith("/files/") && ++files > 3;
    await expect(read()).rejects.toThrow(
      /did not answer the text of 中华人民共和国中断法之3 in 5 attempts: it was not reached \(socket hang up\)\./,
    );
    const held = async () =>
      [...(await articles()).keys()].filter((id) => /^中断法之\d:1$/.test(id)).map((id) => id.at(4));
    expect(await held()).toEqual(["0", "1", "2"]);
    standIn.isDead = () => false;
    standIn.requests.length = 0;
    await read();
    expect(textsAsked()).toEqual(["g3", "g4", "g5"]);
    expect((await held()).sort()).toEqual(["0", "1", "2", "3", "4", "5"]);
  }, 60_000);

  test("killed while texts are read, the next run reads only those that are not here", async () => {
    const many = Array.from({ length: 30 }, (_, place) => ({
      ...row(
        `m${String(place).padStart(2, "0")}`,
        `中华人民共和国多文法之${place}`,
        "2024-01-01",
        "2024-01-01",
        3,
      ),
      docx: regulation(`中华人民共和国多文法之${place}`),
    }));
    standIn.laws.push(...many);
    standIn.delayMs = 15;
    const url = databaseUrl(folder);
    const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
    const get = () =>
      spawn(process.execPath, ["--conditions=source", main, "data", "get", "--yes", "national-laws"], {
        env: {
          ...process.env,
          DATAQ_DATA: folder,
          DATAQ_NATIONAL_LAWS: `${standIn.url}#10`,
          ...(url !== undefined && { DATABASE_URL: url }),
        },
        stdio: "ignore",
      });
    const kills = 4;
    for (let kill = 0; kill < kills; kill++) {
      const child = get();
      const before = textsAsked().length;
      // Killed after a few texts, at any place of the next.
      while (textsAsked().length < before + 4 && child.exitCode === null) await wait(5);
      await wait(Math.random() * 60);
      child.kill("SIGKILL");
      await ended(child);
    }
    expect(await ended(get())).toBe(0);
    const asked = textsAsked().filter((id) => id.startsWith("m"));
    expect(new Set(asked).size).toBe(30);
    // At most the one that was being read at each kill.
    expect(asked.length).toBeLessThanOrEqual(30 + kills);
    const found = await articles();
    for (let place = 0; place < 30; place++) expect(found.has(`多文法之${place}:67`)).toBe(true);
  }, 120_000);
});

test("an operator reads it over HTTP, and search, catalogue and citation check tell the list's state", async () => {
  const laws = [
    {
      ...row("h1", "中华人民共和国旧货法", "2001-03-01", "2001-06-01", 1),
      docx: regulation("中华人民共和国旧货法"),
    },
    {
      ...row("h2", "工伤保险条例", "2010-12-20", "2011-01-01", 3, "行政法规"),
      docx: regulation("工伤保险条例"),
    },
  ];
  const standIn = await startStandIn(laws);
  try {
    await using service = await startService({
      env: { DATAQ_NATIONAL_LAWS: `${standIn.url}#1`, DATAQ_LAWS: "off" },
    });
    const path = "/admin/v1/open-data";
    const stateIn = async () =>
      (await service.call(path)).body.data.find(({ name }: { name: string }) => name === "national-laws");
    expect(await stateIn()).toMatchObject({ state: "missing", origin: "live", can_get: true, taken: null });
    expect(standIn.requests).toEqual([]);
    const { status, body: job } = await service.call(`${path}/national-laws`, { method: "POST", body: {} });
    expect(status).toBe(202);
    await expect
      .poll(async () => (await service.call(`/admin/v1/jobs/${job.id}`)).body.state, { timeout: 60_000 })
      .toBe("done");
    expect((await stateIn()).state).toBe("here");
    const day = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
    const repealed = {
      status: "repealed",
      status_basis: `official list of ${day}: repealed`,
      status_basis_zh: `国家法律法规数据库 ${day} 目录注明“已废止”`,
    };
    const ask = async (operation: string, params: object) =>
      (await service.call("/v1/data/query", { body: { operation, params } })).body.data;
    expect((await ask("legal_laws", { query: "旧货法 第二条" }))[0]).toMatchObject(repealed);
    const domains = (await ask("legal_law_catalog", {})) as { laws: { law_name: string }[] }[];
    const entries = domains.flatMap((domain) => domain.laws);
    expect(entries.find(({ law_name }) => law_name === "中华人民共和国旧货法")).toMatchObject(repealed);
    const [cited] = await ask("legal_citation_check", { text: "依照《旧货法》第二条的规定" });
    expect(cited).toMatchObject({ verdict: "exists", in_force: false, ...repealed });
    // Its text was not held before, so that the question was free and answered by nobody.
    const [found] = await ask("legal_laws", { query: "工伤保险条例 第三条" });
    expect(found).toMatchObject({
      content: "试验基金由试验费构成。",
      source: { name: "国家法律法规数据库", kind: "official" },
    });
  } finally {
    await standIn.close();
  }
}, 120_000);

test("a live set is no set of files", () => {
  expect(isOfFiles(set)).toBe(false);
});

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("close", resolve));
}
