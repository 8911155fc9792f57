import { parseArgs } from "node:util";
import { Failure } from "@dataq/contract";
import { lawArticlesCorpus } from "../src/operations/legal/laws/corpus.ts";
import { createSources } from "../src/operations/sources.ts";
import { openIndex } from "../src/search/open-index.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { missedQueries } from "../test/judged-queries.ts";
import { openSearchFolder, startOpenSearch } from "../test/opensearch-server.ts";
import { depth, type Figures, figuresOf, meanOf } from "./judged/figures.ts";
import { idOf, importRecords } from "./judged/held-records.ts";
import { type Half, type JudgedQuestion, readJudged } from "./judged/judged-questions.ts";
import { bm25OfPairs, type Engine, fts5Trigram } from "./judged/plain-engines.ts";
import { readStard } from "./judged/stard.ts";

export const title = "dataq: judged questions, beside SQLite FTS5 trigram and plain BM25";

const now = new Date("2026-11-22T04:00:00Z");
const halves = ["dev", "test"] as const;

/**
 * Needs TEST_DATA. Asks the judged questions of both halves, or of one with `--half dev` or `--half test`. `--show`
 * also lists what the dev half misses. `--stard FILE` asks the questions of STARD's queries.json instead. `--engine opensearch` asks
 * OpenSearch instead of the embedded engine.
 */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const asked = optionsOf(args);
  const from = process.env["TEST_DATA"];
  if (from === undefined) return print("Skipped: TEST_DATA names no folder with the packs.");
  if (asked.isOpenSearch && openSearchFolder === undefined)
    return print("Skipped: TEST_OPENSEARCH names no unpacked distribution, or there is no Java 21.");
  const server = asked.isOpenSearch ? await startOpenSearch() : undefined;
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  const index = await openIndex(database, server && { url: server.url, prefix: "dataq" });
  try {
    const { held } = await importRecords(database, folder, from, index);
    const sources = createSources({ index, samples: false });
    const engines = {
      dataq: ({ corpus, query }: JudgedQuestion) => askDataq(sources.find(corpus), query),
      "BM25, pairs of characters": askPlain(held, bm25OfPairs),
      "SQLite FTS5, trigram": askPlain(held, fts5Trigram),
    };
    const sets =
      asked.stard === undefined
        ? asked.halves.map((half) => [half, readJudged(half, held)] as const)
        : [["STARD", readStard(asked.stard, new Set(held.get(lawArticlesCorpus)?.map(idOf)))] as const];
    print("| questions | kind | engine | success@1 | success@5 | MRR@10 | nDCG@10 |");
    print("| --- | --- | --- | --: | --: | --: | --: |");
    const missed: string[] = [];
    for (const [name, questions] of sets) {
      for (const kind of new Set(questions.map((question) => question.kind))) {
        const ofKind = questions.filter((question) => question.kind === kind);
        for (const [engine, ask] of Object.entries(engines)) {
          const figures: Figures[] = [];
          for (const question of ofKind) {
            const found = await ask(question);
            figures.push(figuresOf(found, question.right));
            if (name !== "dev" || engine !== "dataq" || isEnough(kind, figures.at(-1) as Figures)) continue;
            missed.push(
              `${kind} | ${question.query} | ${found.slice(0, 5).join(" ")} | ${listed(question.right)}`,
            );
          }
          print(row(`${name}, ${ofKind.length}`, kind, engine, meanOf(figures)));
        }
      }
    }
    if (asked.stard === undefined) {
      const { articles, others } = await missedQueries(sources);
      print(`\n60 judged queries: ${articles.length} of 24 articles are not first, and`);
      print(`${others.length} of 36 others are not among the first ten (the limits are 0 and 3).`);
      for (const line of [...articles, ...others]) print(line);
    }
    if (!asked.show) return;
    print("\nMissed by dataq in the dev half: kind | question | first five | right\n");
    for (const line of missed) print(line);
  } finally {
    await index.close();
    await database.close();
    await removeDataFolder(folder);
    await server?.remove();
  }
}

function optionsOf(args: readonly string[]): {
  halves: readonly Half[];
  show: boolean;
  isOpenSearch: boolean;
  stard?: string;
} {
  const { values } = parseArgs({
    args: [...args],
    options: {
      half: { type: "string" },
      show: { type: "boolean" },
      engine: { type: "string" },
      stard: { type: "string" },
    },
  });
  const chosen = halves.filter((half) => values.half === undefined || values.half === half);
  if (chosen.length === 0) throw new Error(`--half must be dev or test, not ${values.half}.`);
  if (values.show && !chosen.includes("dev"))
    throw new Error(
      "--show lists the dev half only. Nobody looks at the test half while the search is tuned.",
    );
  if (values.engine !== undefined && values.engine !== "embedded" && values.engine !== "opensearch")
    throw new Error(`--engine must be embedded or opensearch, not ${values.engine}.`);
  const isOpenSearch = values.engine === "opensearch";
  return {
    halves: chosen,
    show: values.show === true,
    isOpenSearch,
    ...(values.stard && { stard: values.stard }),
  };
}

type Source = ReturnType<ReturnType<typeof createSources>["find"]>;

/** Asks the service. A rejected question counts as one without results. */
async function askDataq(source: Source, query: string): Promise<string[]> {
  const context = { signal: AbortSignal.timeout(60_000), now, sandbox: false };
  try {
    const answer = await source?.run({ query }, { page: 1, pageSize: depth }, context);
    return (answer?.records ?? []).map((record) => {
      const fields = record instanceof WrittenRecord ? record.parse() : record;
      return (fields as { id: string }).id;
    });
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** Returns the engine of a corpus, created for its first question. */
function askPlain(
  held: Awaited<ReturnType<typeof importRecords>>["held"],
  make: (records: Parameters<typeof bm25OfPairs>[0]) => Engine,
): (question: JudgedQuestion) => string[] {
  const made = new Map<string, Engine>();
  return ({ corpus, query }) => {
    const engine = made.get(corpus) ?? make(held.get(corpus) ?? []);
    made.set(corpus, engine);
    return engine(query, depth);
  };
}

/** A question that names an article must find it first. Any other must find a right record among the first five. */
function isEnough(kind: string, { success1, success5 }: Figures): boolean {
  return (kind === "notation" ? success1 : success5) === 1;
}

function listed(right: ReadonlySet<string>): string {
  const few = [...right].slice(0, 8).join(" ");
  return right.size > 8 ? `${few} and ${right.size - 8} others` : few;
}

function row(questions: string, kind: string, engine: string, figures: Figures): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const { success1, success5, reciprocalRank, ndcg10 } = figures;
  return `| ${questions} | ${kind} | ${engine} | ${percent(success1)} | ${percent(success5)} | ${reciprocalRank.toFixed(2)} | ${ndcg10.toFixed(2)} |`;
}
