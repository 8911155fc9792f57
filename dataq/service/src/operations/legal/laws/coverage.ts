import { type Bilingual, counted } from "@dataq/contract";
import type { TellCoverage } from "../../covered.ts";
import { lawEntriesCorpus, type StoredLaw } from "../law-catalog/corpus.ts";
import { levelOf } from "./status.ts";

/** How many laws of each kind are held. A kind without any is said too: nobody should pay to find that out. */
export const tellLaws: TellCoverage = async ({ index }) => {
  const listed = new Set<string>();
  const namesOf = new Map(kinds.map(({ levels }) => [levels, new Map<string, string>()]));
  const state = await index.state(lawEntriesCorpus);
  const datasets = state === undefined ? [] : [...(await index.contents(lawEntriesCorpus)).keys()];
  for (const dataset of datasets)
    for await (const body of index.documentsAt(Number(state?.snapshot), dataset)) {
      const { law_name, level_text, version_date, article_count } = body as StoredLaw;
      listed.add(law_name);
      if (article_count === 0) continue;
      const level = levelOf(level_text);
      const kind = kinds.find(({ levels }) => levels.includes(level)) ?? others;
      const names = namesOf.get(kind.levels) as Map<string, string>;
      const day = version_date ?? "";
      if (day >= (names.get(law_name) ?? "")) names.set(law_name, day);
    }
  for (const names of namesOf.values()) for (const name of names.keys()) listed.delete(name);
  const parts = kinds.map(({ levels, en, zh }) => {
    const names = namesOf.get(levels) as Map<string, string>;
    const days = [...names.values()].filter((day) => day !== "").sort();
    return {
      what: { en, zh },
      count: names.size,
      oldest_day: days[0] ?? null,
      newest_day: days.at(-1) ?? null,
    };
  });
  return {
    parts: parts.filter(({ what, count }) => count > 0 || what.en !== others.en),
    text: withListed(sentence(parts), listed.size),
  };
};

/** Laws of which only a catalogue or the official list tells are not held. */
function withListed({ en, zh }: Bilingual, more: number): Bilingual {
  if (more === 0) return { en, zh };
  const [first, then] = [en === "" ? "" : "; ", zh === "" ? "" : "；另有 "];
  return {
    en: `${en}${first}${more.toLocaleString("en")} more listed, text not held`,
    zh: `${zh}${then}${more.toLocaleString("en")} 部仅列入目录、未收录正文`,
  };
}

function sentence(parts: readonly { readonly what: Bilingual; readonly count: number }[]): Bilingual {
  const held = parts.filter(({ count }) => count > 0);
  // A text without a level may be of any kind.
  const isClassified = held.every(({ what }) => what.en !== others.en);
  const missing = isClassified ? parts.filter(({ what, count }) => count === 0 && what.en !== others.en) : [];
  const en = held.map(({ what, count }) => counted(count, what.en)).join(", ");
  const zh = held.map(({ what, count }) => `${what.zh} ${count.toLocaleString("en")} 部`).join("、");
  if (missing.length === 0) return { en, zh };
  return {
    en: `${en}; no ${missing.map(({ what }) => `${what.en}s`).join(", no ")}`,
    zh: `${zh}；未收录${missing.map(({ what }) => what.zh).join("、")}`,
  };
}

interface Kind extends Bilingual {
  readonly levels: readonly string[];
}

/** A text without a known level. */
const others: Kind = { levels: ["other"], en: "unclassified text", zh: "未注明类别的法律文件" };
const kinds: readonly Kind[] = [
  { levels: ["constitution", "law"], en: "national law", zh: "全国性法律" },
  { levels: ["administrative_regulation"], en: "administrative regulation", zh: "行政法规" },
  { levels: ["judicial_interpretation"], en: "judicial interpretation", zh: "司法解释" },
  { levels: ["departmental_rule"], en: "departmental rule", zh: "部门规章" },
  { levels: ["local"], en: "local regulation", zh: "地方性法规" },
  others,
];
