import type { Fold } from "../../../../importer/fold.ts";
import { type Message, say } from "../../../../importer/message.ts";
import { keyedDocument } from "../../../../search/keyed-document.ts";
import type { IndexDocument, SearchIndex } from "../../../../search/search-index.ts";
import { lawEntriesCorpus, lawEntryDocument } from "../../law-catalog/corpus.ts";
import { lawArticleDocument, lawArticlesCorpus } from "../corpus.ts";
import type { Difference, Differences } from "../official/differences.ts";
import type { OfficialLaw } from "../official/official-law.ts";
import type { HeldVersion } from "./choose-versions.ts";
import { type FoldedLaws, foldLaws } from "./fold.ts";
import type { CataloguePack, LawPack } from "./law-version.ts";
import { adoptOlderStore } from "./older-store.ts";

export const lawPacksCorpus = "legal_laws#packs";
export const cataloguePacksCorpus = "legal_law_catalog#packs";
export const officialListCorpus = "official_law_list#packs";

export function packDocument(pack: LawPack | CataloguePack): IndexDocument {
  return keyedDocument(pack, []);
}

/** Folds the versions of all packs into articles and catalogue, and switches to the result. */
export const lawFold: Fold = {
  name: "laws",
  corpora: [lawPacksCorpus, cataloguePacksCorpus, officialListCorpus],
  servedBefore: `select from search_corpus where corpus = '${lawArticlesCorpus}'`,
  adopt: (index) => adoptOlderStore(index, { laws: lawPacksCorpus, catalogue: cataloguePacksCorpus }),
  async run(index, { signal, progress }) {
    const { articles, entries, heldBack, official } = await foldHeld(index);
    const total = articles.length;
    progress?.(say("indexing_articles", { articles: total, laws: entries.length }));
    const options = { dataset: "laws", mode: "replace" as const, ...(signal && { signal }) };
    await index.refresh(lawArticlesCorpus, each(articles, lawArticleDocument), {
      ...options,
      progress: (done) => {
        if (done % 5_000 === 0) progress?.(say("indexed_articles", { done, total }));
      },
    });
    await index.refresh(lawEntriesCorpus, each(entries, lawEntryDocument), options);
    return [...heldBack.map(heldBackNote), ...differenceNote(official)];
  },
};

/** What the held packs make together. */
export async function foldHeld(index: SearchIndex): Promise<FoldedLaws> {
  return foldLaws(
    await packsIn<LawPack>(index, lawPacksCorpus),
    await packsIn<CataloguePack>(index, cataloguePacksCorpus),
    await packsIn<OfficialLaw>(index, officialListCorpus),
  );
}

function differenceNote({ listed_on: day, differences, settled, agreeing }: Differences): Message[] {
  if (day === null) return [];
  const count = (...kinds: readonly Difference["what"][]) =>
    differences.filter(({ what }) => kinds.includes(what)).length;
  return [
    say("official_differences", {
      day,
      agreeing,
      settled,
      states: count("state"),
      days: count("in_force_from", "promulgated"),
      unlisted: count("not_listed", "version_not_listed"),
    }),
  ];
}

function heldBackNote({ law, versionDate, dropped, of, source }: HeldVersion): Message {
  return versionDate === null
    ? say("version_undated", { law, source })
    : say("version_held_back", { law, date: versionDate, dropped, of, source });
}

async function packsIn<Pack>(index: SearchIndex, corpus: string): Promise<Pack[]> {
  const packs: Pack[] = [];
  for await (const body of index.documents(corpus)) packs.push(body as Pack);
  return packs;
}

async function* each<Item, Out>(items: Iterable<Item>, map: (item: Item) => Out): AsyncGenerator<Out> {
  for (const item of items) yield map(item);
}
