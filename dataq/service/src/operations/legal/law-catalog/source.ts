import type { Params } from "@dataq/contract";
import { chinaDate } from "@dataq/contract";
import type { SearchIndex } from "../../../search/search-index.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer, Page, SourceContext } from "../../../sources/source.ts";
import { lawStatus, levelOf } from "../laws/status.ts";
import { everyLaw, type StoredLaw } from "./corpus.ts";

/** All laws by legal domain, in the order in which the legal system is taught. */
export class LawCatalogSource implements OptionalSource {
  readonly #index: SearchIndex;
  readonly #corpus: string;

  constructor(index: SearchIndex, corpus: string) {
    this.#index = index;
    this.#corpus = corpus;
  }

  async exists(): Promise<boolean> {
    return (await this.#index.state(this.#corpus)) !== undefined;
  }

  async version(): Promise<string> {
    return (await this.#index.state(this.#corpus))?.snapshot ?? "none";
  }

  async run(_params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const found = await this.#index.search(
      this.#corpus,
      { query: { term: everyLaw } },
      { offset: 0, limit: mostLaws },
    );
    const laws = (found?.hits ?? []).map(({ body }) => body.parse() as StoredLaw);
    const records = domainsOf(laws, chinaDate(context.now));
    return {
      outcome: records.length === 0 ? "empty" : "found",
      records,
      total: records.length,
      totalRelation: "eq",
      warnings: [],
      ...(found !== undefined && { index: found.index }),
    };
  }
}

const mostLaws = 10_000;

/** The catalogue on a day. */
export function domainsOf(laws: readonly StoredLaw[], today: string): object[] {
  const byDomain = new Map<string, StoredLaw[]>();
  for (const law of laws) {
    const name = law.department ?? "其他";
    byDomain.set(name, [...(byDomain.get(name) ?? []), law]);
  }
  const rank = (name: string) => (knownDomains.findIndex(([known]) => known === name) + 100) % 100;
  const ordered = [...byDomain].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return ordered.map(([name, members]) => ({
    id: codeOf(name),
    domain_code: codeOf(name),
    domain_name: name,
    count: members.length,
    laws: members.map((law) => entry(law, today)),
    source: members[0]?.source,
  }));
}

function entry(law: StoredLaw, today: string): object {
  // Entries that an older dataq stored stand alone, with their repeal in the entry.
  const { timeline = { ...law, versions: [law] }, place = 0 } = law;
  return {
    law_id: law.law_id,
    law_name: law.law_name,
    level: levelOf(law.level_text),
    level_text: law.level_text ?? "未注明",
    issuing_body: law.issuing_body,
    promulgated_date: law.promulgated_date,
    effective_date: law.effective_date,
    law_effective_date: law.law_effective_date ?? null,
    ...lawStatus(timeline, today, place),
    article_count: law.article_count,
    text_held: law.article_count > 0,
  };
}

const knownDomains: readonly (readonly [string, string])[] = [
  ["宪法", "constitution"],
  ["宪法相关法", "constitution_related"],
  ["民法商法", "civil_commercial"],
  ["行政法", "administrative"],
  ["经济法", "economic"],
  ["社会法", "social"],
  ["刑法", "criminal"],
  ["诉讼与非诉讼程序法", "procedure"],
];

function codeOf(name: string): string {
  return knownDomains.find(([known]) => known === name)?.[1] ?? "other";
}
