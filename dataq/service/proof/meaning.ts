import { existsSync } from "node:fs";
import { createModelStore, embeddingModelPath } from "../../../locallm/test/model-store.ts";
import { startServer } from "../../../locallm/test/server-process.ts";
import { buildVectors } from "../src/background/vectors/build-vectors.ts";
import {
  type PaperRecord,
  paperDocument,
  papersCorpus,
  readArxivId,
} from "../src/operations/research/paper-search/corpus.ts";
import { createSources } from "../src/operations/sources.ts";
import { Embedder } from "../src/search/meaning/embedder.ts";
import { Meaning } from "../src/search/meaning/meaning.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { importPack } from "../test/pack.ts";
import { depth, type Figures, figuresOf, meanOf } from "./judged/figures.ts";
import { questions } from "./meaning/questions.ts";

export const title = "dataq: English papers by words, by meaning, and by both";

/** Needs TEST_DATA and TEST_MODELS. The vectors are made by locallm, which runs as a process of its own. */
export async function run(print: (line: string) => void): Promise<void> {
  const packs = process.env["TEST_DATA"];
  if (packs === undefined || embeddingModelPath === null || !existsSync(embeddingModelPath))
    return print("Skipped: TEST_DATA or TEST_MODELS names no folder with the packs and the model.");
  const store = await createModelStore();
  await store.add("all-minilm:22m", embeddingModelPath);
  const server = await startServer({ models: store.folder });
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  const index = embeddedIndex(database);
  const embedder = new Embedder({ address: server.url, name: "all-minilm:22m" });
  const meaning = new Meaning({
    space: index.vectors,
    database,
    embedder,
    withoutDataset: "generated",
    limitMs: 30_000,
    onTrouble: (message) => print(`Trouble: ${message}`),
  });
  try {
    await importPack({ database, index, folder, packs }, "papers_arxiv", papersCorpus);
    const signal = new AbortController().signal;
    const model = await embedder.identity(signal);
    const from = performance.now();
    const { total } = await buildVectors({
      database,
      space: index.vectors,
      embedder,
      model,
      corpus: papersCorpus,
      document: paperDocument,
      withoutDataset: "generated",
      signal,
      progress: () => {},
      onRejected: (id) => print(`Rejected: ${id}`),
    });
    const seconds = (performance.now() - from) / 1000;
    meaning.use(model);
    const stored = await database.pool.query<{ bytes: number }>(
      "select sum(length(vectors) + length(digests))::int as bytes from search_vector_block",
    );
    print(
      `${total} papers: vectors in ${seconds.toFixed(0)} s (${(total / seconds).toFixed(0)} a second), ${((stored.rows[0]?.bytes ?? 0) / 1e6).toFixed(1)} MB in the database.\n`,
    );
    const words = createSources({ index, samples: false }).find(papersCorpus)!;
    const both = createSources({ index, samples: false, meaning }).find(papersCorpus)!;
    const page = { page: 1, pageSize: depth };
    const context = { signal, now: new Date(), sandbox: false };
    const byVectors = async (query: string) => {
      const near = await meaning.near(papersCorpus, query, { query: { all: [] } }, {}, signal);
      const bodies = await index.read((near ?? []).slice(0, depth));
      return bodies.map((body) => body?.parse() as PaperRecord);
    };
    const bySource = (source: typeof words) => async (query: string) => {
      const { records = [] } = await source.run({ query }, page, context);
      return records.map((each) => (each instanceof WrittenRecord ? each.parse() : each) as PaperRecord);
    };
    print("| engine | success@1 | success@5 | MRR | nDCG@10 | ms, median | ms, p95 |");
    print("| --- | --: | --: | --: | --: | --: | --: |");
    for (const [name, ask] of [
      ["words (BM25)", bySource(words)],
      ["vectors", byVectors],
      ["both", bySource(both)],
    ] as const)
      print(await rowOf(name, ask));
  } finally {
    await meaning.close();
    await database.close();
    await server.stop();
    await store.remove();
    await removeDataFolder(folder);
  }
}

async function rowOf(name: string, ask: (query: string) => Promise<PaperRecord[]>): Promise<string> {
  const figures: Figures[] = [];
  const times: number[] = [];
  for (const question of questions) {
    const from = performance.now();
    const found = await ask(question.query);
    times.push(performance.now() - from);
    // Some papers are in the data twice.
    const ids = [...new Set(found.map(({ id }) => readArxivId(id)))].map(String);
    figures.push(figuresOf(ids, new Set(question.right)));
  }
  times.sort((a, b) => a - b);
  const { success1, success5, reciprocalRank, ndcg10 } = meanOf(figures);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(0);
  return `| ${name} | ${percent(success1)} | ${percent(success5)} | ${reciprocalRank.toFixed(2)} | ${ndcg10.toFixed(2)} | ${at(0.5)} | ${at(0.95)} |`;
}
