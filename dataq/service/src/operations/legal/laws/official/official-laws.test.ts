import { describe, expect, test } from "vitest";
import { foldPacks, readPack } from "../../../../../test/law-packs.ts";
import { domainsOf } from "../../law-catalog/source.ts";
import { foldLaws } from "../import/fold.ts";
import { lawStatus } from "../status.ts";
import type { OfficialLaw } from "./official-law.ts";
import { OfficialLaws } from "./official-laws.ts";

const source = {
  name: "list",
  kind: "official",
  retrieved_at: "2026-11-27T00:00:00+08:00",
  content_sha256: "",
} as const;
const listed = (
  id: string,
  title: string,
  promulgated: string | null,
  state: OfficialLaw["state"],
  inForceFrom: string | null = promulgated,
): OfficialLaw => ({
  id,
  title,
  kind: "法律",
  issuer: null,
  promulgated,
  in_force_from: inForceFrom,
  state,
  listed_on: "2026-11-27",
  source,
});
const held = (version: string | null, promulgated: string | null = version) => ({
  version_date: version,
  promulgated_date: promulgated,
});

describe("the listed law of a held version", () => {
  const law = "测试法";
  const idsOf = (list: readonly OfficialLaw[], versions: Parameters<OfficialLaws["match"]>[1]) =>
    new OfficialLaws(list).match(law, versions).map((found) => found?.id ?? null);
  const two = [listed("a", "中华人民共和国测试法", "2010-05-01", 2), listed("b", "测试法", "2020-08-01", 3)];

  test("has the same title and day, with or without 中华人民共和国 and the year in brackets", () => {
    expect(idsOf(two, [held("2010-05-01"), held("2020-08-01")])).toEqual(["a", "b"]);
    expect(
      idsOf([listed("c", "中华人民共和国测试法（2018年修正文本）", "2018-01-01", 3)], [held("2018-01-01")]),
    ).toEqual(["c"]);
  });

  test("is never chosen by the title alone where there are two versions on a side", () => {
    expect(idsOf(two, [held(null)])).toEqual([null]);
    expect(idsOf([two[0] as OfficialLaw], [held(null), held("2020-08-01")])).toEqual([null, null]);
    expect(idsOf(two, [held("2015-01-01")])).toEqual([null]);
  });

  test("is the only one where both sides have one and the held one has no day", () => {
    expect(idsOf([two[0] as OfficialLaw], [held(null)])).toEqual(["a"]);
    expect(idsOf([two[0] as OfficialLaw], [held("2009-01-01")])).toEqual([null]);
  });

  test("may be a few weeks younger than the day of passing, if no other can be meant", () => {
    expect(idsOf(two, [held("2020-06-28")])).toEqual(["b"]);
    expect(idsOf(two, [held("2020-05-01")])).toEqual([null]);
    // Two held ones could be it.
    expect(idsOf(two, [held("2020-06-28"), held("2020-07-05")])).toEqual([null, null]);
    // Another held one is it.
    expect(idsOf(two, [held("2020-06-28"), held("2020-08-01")])).toEqual([null, "b"]);
    const close = [listed("d", "测试法", "2020-07-01", 2), listed("e", "测试法", "2020-07-20", 3)];
    expect(idsOf(close, [held("2020-06-28")])).toEqual([null]);
  });

  test("of two with one day is neither", () => {
    expect(
      idsOf(
        [listed("a", "测试法", "2010-05-01", 1), listed("b", "测试法", "2010-05-01", 3)],
        [held("2010-05-01")],
      ),
    ).toEqual([null]);
  });
});

describe("the status of a law with an official list", () => {
  const row = {
    category: "经济法",
    title: "中华人民共和国测试法",
    name: "测试法",
    version_date: "2010-05-01",
    revision_history: ["2010年5月1日 第十一届全国人民代表大会常务委员会第十四次会议通过"],
    text: "第一条 为了测试。\n\n第二条 本法自2010年7月1日起施行。",
  };
  const repealing = {
    ...row,
    title: "中华人民共和国新测试法",
    name: "新测试法",
    version_date: "2026-06-01",
    revision_history: ["2026年6月1日 第十四届全国人民代表大会常务委员会第三十次会议通过"],
    text: "第一条 为了新的测试。\n\n第二条 本法自2026-12-15起施行。",
  };
  const stateOn = async (day: string, list: readonly OfficialLaw[], rows: readonly object[] = [row]) => {
    const { articles } = foldPacks([await readPack("pack", rows)], list);
    const article = articles.find(({ id }) => id === "测试法:1");
    if (article === undefined) throw new Error("not there");
    const { status, status_basis } = lawStatus(article, day);
    return [status, status_basis];
  };
  const of = (state: OfficialLaw["state"], from = "2010-07-01") => [
    listed("a", "测试法", "2010-05-01", state, from),
  ];

  test.each([
    [1, "repealed", "official list of 2026-11-27: repealed"],
    [2, "amended", "official list of 2026-11-27: amended since"],
    [3, "in_force", "official list of 2026-11-27: in force"],
    [null, "unknown", "no pack states the status"],
  ] as const)("state %s is told with the day of the list", async (state, status, basis) => {
    expect(await stateOn("2026-11-28", of(state))).toEqual([status, basis]);
  });

  test("what is in force was so since its day; of the day of an end the list says nothing", async () => {
    expect(await stateOn("2015-01-01", of(3))).toEqual(["in_force", "official list of 2026-11-27: in force"]);
    expect(await stateOn("2010-06-01", of(3))).toEqual(["not_yet_effective", "takes effect on 2010-07-01"]);
    expect(await stateOn("2015-01-01", of(1))).toEqual(["unknown", "no pack states the status"]);
  });

  test("a law that is not yet in force is, once the list's own day has come", async () => {
    const coming = of(4, "2027-01-01");
    expect(await stateOn("2026-12-31", coming)).toEqual([
      "not_yet_effective",
      "official list of 2026-11-27: not yet in force; takes effect on 2027-01-01",
    ]);
    expect(await stateOn("2027-01-01", coming)).toEqual([
      "in_force",
      "official list of 2026-11-27: not yet in force; in force since 2027-01-01",
    ]);
  });

  test("an act that repeals after the list's day goes before the list; one before does not", async () => {
    const text = (date: string) => ({
      ...repealing,
      text: `第一条 为了新的测试。\n\n第二条 本法自${date}起施行。《中华人民共和国测试法》同时废止。`,
    });
    const rows = (date: string) => [row, text(date)];
    expect(await stateOn("2026-12-20", of(3), rows("2026年12月15日"))).toEqual([
      "repealed",
      "repealed on 2026-12-15 by 《中华人民共和国新测试法》",
    ]);
    expect(await stateOn("2026-12-01", of(3), rows("2026年12月15日"))).toEqual([
      "in_force",
      "official list of 2026-11-27: in force; in force until 2026-12-15, when 《中华人民共和国新测试法》 repeals it",
    ]);
    // The organ knows better than a sentence of a text.
    expect(await stateOn("2026-12-01", of(3), rows("2026年7月15日"))).toEqual([
      "in_force",
      "official list of 2026-11-27: in force",
    ]);
    expect(await stateOn("2026-12-01", of(1), rows("2026年7月15日"))).toEqual([
      "repealed",
      "official list of 2026-11-27: repealed; repealed on 2026-07-15 by 《中华人民共和国新测试法》",
    ]);
  });

  test("a listed version that is not held makes the held one doubtful from the day on which it applies", async () => {
    const list = [listed("b", "测试法", "2026-10-01", 4, "2027-01-01")];
    expect(await stateOn("2026-12-01", list)).toEqual([
      "in_force",
      "in force until 2027-01-01, when the version of 2026-10-01 takes effect, which is not in the data",
    ]);
    expect(await stateOn("2027-01-01", list)).toEqual([
      "unknown",
      "official list of 2026-11-27: there is a version of 2026-10-01, which is not in the data",
    ]);
  });

  test("a version that only a catalogue has gets the list's state, too", async () => {
    const pack = await readPack("catalogue", [
      { law_id: "x", law_name: "中华人民共和国无文法", version_date: "2001-01-01", status: "现行有效" },
    ]);
    const { entries } = foldPacks([pack], [listed("n", "无文法", "2001-01-01", 1)]);
    const [entry] = entries;
    expect(entry?.timeline && lawStatus(entry.timeline, "2026-12-01", entry.place)).toMatchObject({
      status: "repealed",
      status_basis: "official list of 2026-11-27: repealed",
    });
  });
});

describe("laws of which only the list tells", () => {
  test("are in the catalogue with the list's state and without a text; local ones and held ones are not", () => {
    const list = [
      listed("a", "测试条例", "2010-05-01", 2),
      listed("b", "测试条例", "2020-08-01", 3, "2020-10-01"),
      { ...listed("c", "某市测试条例", "2021-01-01", 3), kind: "地方性法规" },
      listed("d", "另一法", "2026-11-01", 4, "2027-01-01"),
    ];
    const found = new OfficialLaws(list).nationalUnder((key) => key !== "测试条例");
    expect([...found.keys()]).toEqual(["另一法"]);
    const { entries } = foldLaws([], [], list);
    const told = domainsOf(entries, "2026-11-28").flatMap((domain) => (domain as { laws: object[] }).laws);
    expect(told.map((law) => pick(law as never))).toEqual([
      ["另一法", "2027-01-01", "not_yet_effective", false],
      ["测试条例", "2010-05-01", "amended", false],
      ["测试条例", "2020-10-01", "in_force", false],
    ]);
  });

  const pick = (law: { law_name: string; effective_date: string; status: string; text_held: boolean }) => [
    law.law_name,
    law.effective_date,
    law.status,
    law.text_held,
  ];
});
