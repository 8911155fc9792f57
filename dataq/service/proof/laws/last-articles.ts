import { join } from "node:path";
import { readRows } from "../../src/importer/format/read-rows.ts";

/** A text of a law as a pack has it, read without any code of the import. */
export interface RawVersion {
  /** The day on which it was passed: "2020-05-28"; "" if the pack does not say it. */
  readonly passed: string;
  readonly from: string;
  /** Texts by number of the article: "120-2" for 第一百二十条之二. Only letters and digits are left of each. */
  readonly articles: ReadonlyMap<string, string>;
}

/** All texts that three packs have of laws, by the law's name without 中华人民共和国. */
export async function rawVersions(packs: string): Promise<Map<string, RawVersion[]>> {
  const rows = (name: string) => fieldsOf(join(packs, `${name}.jsonl.zst`));
  const found = new Map<string, RawVersion[]>();
  const add = (name: string, version: RawVersion) => {
    const short = name.replace("中华人民共和国", "");
    if (version.articles.size > 0) found.set(short, [...(found.get(short) ?? []), version]);
  };
  const listed = new Map<string, Row>();
  for await (const row of rows("law_catalog")) listed.set(String(row["law_id"]), row);
  const byLaw = new Map<string, Map<string, string>>();
  for await (const row of rows("law_articles")) {
    const id = String(row["law_id"]);
    const articles = byLaw.get(id) ?? new Map<string, string>();
    byLaw.set(id, articles);
    const number = numberOf(String(row["article_no"]));
    if (number !== undefined) articles.set(number, plain(String(row["article_text"])));
  }
  for (const [id, articles] of byLaw) {
    const law = listed.get(id);
    const passed = String(law?.["version_date"] ?? law?.["publish_date"] ?? "");
    add(String(law?.["law_name"]), { passed, from: String(law?.["effective_date"] ?? passed), articles });
  }
  for await (const row of rows("laws_current_md")) {
    const text = String(row["text"]);
    const days = [...(text.split(/^## |\*\*第一条/m)[0] ?? "").matchAll(/(\d{4})年(\d{1,2})月(\d{1,2})日/g)];
    const passed =
      days
        .map(([, ...day]) => dayOf(day))
        .filter((day) => day < "2026-07-18")
        .sort()
        .at(-1) ?? "";
    const from = /versions\/([\d-]+)\//.exec(String(row["path"]))?.[1] ?? passed;
    add(String(row["title"]), { passed, from, articles: articlesIn(text) });
  }
  for await (const row of rows("law_versions_md")) {
    const passed = String(row["version_date"] ?? "");
    add(String(row["name"]), { passed, from: passed, articles: articlesIn(String(row["text"])) });
  }
  return found;
}

type Row = Readonly<Record<string, unknown>>;

async function* fieldsOf(path: string): AsyncGenerator<Row> {
  for await (const row of readRows(path)) if ("fields" in row) yield row.fields;
}

function articlesIn(text: string): Map<string, string> {
  const pieces = text.split(
    /^\**(第[零〇一二三四五六七八九十百千]+条(?:之[一二三四五六七八九十]+)?)\**(?=[\s　])/m,
  );
  const articles = new Map<string, string>();
  for (let place = 1; place + 1 < pieces.length; place += 2) {
    const number = numberOf(pieces[place]!);
    // A heading stands between the end of an article and the next one.
    if (number !== undefined) articles.set(number, plain(pieces[place + 1]!.split(/^#/m)[0]!));
  }
  return articles;
}

export function plain(text: string): string {
  return text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, "");
}

const digits = "零一二三四五六七八九";

function numberOf(article: string): string | undefined {
  const [, number, sub] = /^第(.+?)条(?:之(.+))?$/.exec(article) ?? [];
  return number === undefined
    ? undefined
    : `${amountOf(number)}${sub === undefined ? "" : `-${amountOf(sub)}`}`;
}

function amountOf(number: string): number {
  let sum = 0;
  let digit = 0;
  for (const character of number) {
    const unit = { 十: 10, 百: 100, 千: 1000 }[character];
    if (unit === undefined) digit = Math.max(0, digits.indexOf(character));
    else {
      sum += (digit || 1) * unit;
      digit = 0;
    }
  }
  return sum + digit;
}

function dayOf([year, month, day]: readonly (string | undefined)[]): string {
  return `${year}-${month!.padStart(2, "0")}-${day!.padStart(2, "0")}`;
}
