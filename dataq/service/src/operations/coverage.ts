import { type Bilingual, counted } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";
import { newestDayWithout, oldestDayWithout, sizeWithout } from "../search/contents.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { withDays } from "./covered.ts";
import { findTarget } from "./imports.ts";
import { corpusOf, registry } from "./registry.ts";

/** What is imported for each operation, counted once for each state of the data. */
export class Coverages {
  readonly #index: SearchIndex;
  readonly #told = new Map<
    string,
    { readonly snapshot: string; readonly coverage: Promise<Coverage | null> }
  >();

  constructor(index: SearchIndex) {
    this.#index = index;
  }

  /** Null without imported records. Does not wait for the data of a first start. */
  async of(operation: string): Promise<Coverage | null> {
    const { madeFrom } = registry[operation as keyof typeof registry];
    const own = await this.#index.state(corpusOf(operation));
    const corpus = own === undefined && madeFrom !== undefined ? madeFrom : corpusOf(operation);
    const state = own ?? (await this.#index.state(corpus));
    if (state === undefined) return null;
    const told = this.#told.get(operation);
    if (told?.snapshot === state.snapshot) return told.coverage;
    const coverage = this.#count(operation, corpus, Number(state.snapshot));
    this.#told.set(operation, { snapshot: state.snapshot, coverage });
    coverage.catch(() => this.#told.delete(operation));
    return coverage;
  }

  async #count(operation: string, corpus: string, snapshot: number): Promise<Coverage | null> {
    const contents = await this.#index.contents(corpus, String(snapshot));
    const { fill } = findTarget(corpus);
    const generated = fill === undefined ? [] : [fill.dataset];
    const records = sizeWithout(contents, generated);
    if (records === 0) return null;
    const oldest_day = oldestDayWithout(contents, generated);
    const newest_day = newestDayWithout(contents, generated);
    const { tellCoverage, unit = record } = registry[operation as keyof typeof registry];
    const text = withDays(
      {
        en: counted(records, unit.en, pluralOf(unit.en)),
        zh: `${records.toLocaleString("en")} ${unit.zh}`,
      },
      oldest_day,
      newest_day,
    );
    const covered = { index: this.#index, corpus, snapshot, contents, generated: fill?.dataset, text };
    const told = (await tellCoverage?.(covered)) ?? { parts: [], text };
    return { records, oldest_day, newest_day, ...told };
  }
}

const record: Bilingual = { en: "record", zh: "条记录" };

function pluralOf(noun: string): string {
  return `${noun.replace(/y$/, "ie")}s`;
}
