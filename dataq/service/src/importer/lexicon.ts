import { keyedDocument } from "../search/keyed-document.ts";
import type { IndexDocument, SearchIndex } from "../search/search-index.ts";
import { adoptDataset } from "./datasets.ts";
import { text } from "./field.ts";
import type { Fold } from "./fold.ts";
import { say } from "./message.ts";
import type { RowTarget } from "./target.ts";

const lexiconCorpus = "lexicon#packs";

/**
 * The words of all data sets together are the dictionary of the segmenter. Words of a removed list leave it.
 */
const dictionary: Fold = {
  name: "lexicon",
  corpora: [lexiconCorpus],
  servedBefore: "select from search_lexicon",
  adopt: adoptWords,
  async run(index, { progress }) {
    const made = await index.lexicons.set(await wordsOfLists(index));
    progress?.(say("new_dictionary", made));
    return [];
  },
};

/** Words for the segmenter. No operation returns them; whatever is indexed from now on uses them. */
export const lexiconTarget: RowTarget = {
  name: "lexicon",
  corpus: lexiconCorpus,
  servedIn: lexiconCorpus,
  map(fields) {
    const word = text(fields, "word")?.normalize("NFKC");
    return word === undefined
      ? { problem: say("row_lacks", { fields: ["word"] }) }
      : { record: { id: word, word } };
  },
  document: (record) => keyedDocument(record, []),
  fold: dictionary,
};

/** Words that an older version stored only in the dictionary become a data set, so that they can be removed. */
async function adoptWords(index: SearchIndex): Promise<void> {
  const listed = new Set(await wordsOfLists(index));
  const words = (await index.lexicons.words()).filter((word) => !listed.has(word));
  if (words.length === 0) return;
  const documents = async function* (): AsyncGenerator<IndexDocument> {
    for (const word of words)
      yield { ...keyedDocument({ id: word, word } as { id: string }, []), id: `${adopted}|${word}` };
  };
  await index.refresh(lexiconCorpus, documents(), {
    dataset: adopted,
    mode: "replace",
    atSwitch: (change) => adoptDataset(change, { target: "lexicon", name: adopted }, lexiconCorpus),
  });
}

async function wordsOfLists(index: SearchIndex): Promise<string[]> {
  index.forget(lexiconCorpus);
  const words: string[] = [];
  for await (const body of index.documents(lexiconCorpus)) words.push((body as { word: string }).word);
  return words;
}

const adopted = "earlier-words";
