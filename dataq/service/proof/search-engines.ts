import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Database } from "../src/database/database.ts";
import { judgmentsCorpus } from "../src/operations/legal/cases/corpus.ts";
import { buildLegalIndex } from "../src/operations/legal/cases/fill.ts";
import { cases } from "../src/operations/legal/cases/source.ts";
import { openIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { SearchSource } from "../src/sources/search-source.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { type OpenSearchServer, openSearchFolder, startOpenSearch } from "../test/opensearch-server.ts";
import { plain } from "./legal-index/other-engines.ts";
import { type Question, questions } from "./legal-index/questions.ts";
import { type Timed, timed } from "./legal-index/timed.ts";

export const title = "dataq: the embedded engine and OpenSearch, side by side";

/**
 * Builds the same judgments on both engines, then asks the same 200 questions, without HTTP and money: with one client
 * after passes that warm up (Java compiles what it has run a thousand times), then with 8. Processor time is counted
 * too, because it says the same on a machine that does other work. `--size` sets the number of judgments, `--engine`
 * asks one engine alone.
 */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { size: { type: "string", default: "68787" }, engine: { type: "string" } },
  });
  const size = Number(values.size);
  if (!Number.isInteger(size) || size < 1) throw new Error("--size must be a positive whole number.");
  print(`${size.toLocaleString("en")} judgments\n`);
  print(
    "| engine | build s | processor s | p50 ms | p95 ms | max ms | processor ms | 8 clients, per second | 8 clients, p95 ms | memory MB | disk MB |",
  );
  print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
  const totals: (readonly number[])[] = [];
  for (const engine of ["embedded", "opensearch"] as const) {
    if (values.engine !== undefined && values.engine !== engine) continue;
    if (engine === "opensearch" && openSearchFolder === undefined) {
      print(
        "\nOpenSearch was skipped: TEST_OPENSEARCH names no unpacked distribution, or there is no Java 21.",
      );
      continue;
    }
    totals.push(await oneEngine(engine, size, print));
  }
  const [own, others] = totals;
  if (own === undefined || others === undefined) return;
  const agreed = own.filter((total, place) => total === others[place]).length;
  print(`\nTotals are equal for ${agreed} of ${own.length} questions.`);
}

async function oneEngine(
  engine: "embedded" | "opensearch",
  size: number,
  print: (line: string) => void,
): Promise<readonly number[]> {
  const server = engine === "opensearch" ? await startOpenSearch() : undefined;
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  const index = await openIndex(database, server && { url: server.url, prefix: "dataq" });
  try {
    const used = processorOf(server);
    const begun = performance.now();
    await buildLegalIndex(database, index, { size });
    const seconds = (performance.now() - begun) / 1_000;
    const build = used();
    const ask = askOf(index);
    await timed(ask, warmPasses * questions.length, 1);
    const usedByOne = processorOf(server);
    const one = await timed(ask, questions.length, 1);
    const each = usedByOne().map((ms) => ms / questions.length);
    const eight = await timed(ask, 4 * questions.length, 8);
    const cells = [
      engine,
      seconds.toFixed(0),
      build.map((ms) => (ms / 1_000).toFixed(0)).join(" + "),
      ...[0.5, 0.95, 1].map((part) => percentile(one, part)),
      each.map((ms) => ms.toFixed(1)).join(" + "),
      ((1_000 * eight.times.length) / eight.wallMs).toFixed(0),
      percentile(eight, 0.95),
      memoryOf(server),
      await diskOf(database, server),
    ];
    print(`| ${cells.join(" | ")} |`);
    return one.totals;
  } finally {
    await index.close();
    await database.close();
    await removeDataFolder(folder);
    await server?.remove();
  }
}

const warmPasses = 5;

/** Starts counting processor time, in ms, of this process and of OpenSearch. PostgreSQL's is not counted. */
function processorOf(server: OpenSearchServer | undefined): () => number[] {
  const now = () => {
    const { user, system } = process.cpuUsage();
    return [(user + system) / 1_000, ...(server === undefined ? [] : [processorMsOf(server.pid)])];
  };
  const before = now();
  return () => now().map((ms, place) => ms - (before[place] as number));
}

function processorMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (1_000 * ticks) / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
}

function askOf(index: SearchIndex): (question: Question) => Promise<number> {
  const source = new SearchSource(index, judgmentsCorpus, cases);
  const signal = new AbortController().signal;
  return async ({ query, page }) => {
    const context = { signal, now: new Date(), sandbox: false };
    const found = await source.run({ query: plain(query) }, { page, pageSize: 20 }, context);
    return found.total;
  };
}

function percentile({ times }: Timed, part: number): string {
  const sorted = [...times].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(1);
}

/** Resident, of this process and, after the plus sign, of OpenSearch. PostgreSQL's is not counted. */
function memoryOf(server: OpenSearchServer | undefined): string {
  const own = megabytes(process.memoryUsage().rss);
  if (server === undefined) return own;
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);
  return `${own} + ${megabytes(1_024 * kilobytes)}`;
}

/** Of the database and, after the plus sign, of OpenSearch. */
async function diskOf({ pool }: Database, server: OpenSearchServer | undefined): Promise<string> {
  const found = await pool.query<{ bytes: number }>(
    "select pg_database_size(current_database())::bigint as bytes",
  );
  const own = megabytes(Number(found.rows[0]?.bytes));
  if (server === undefined) return own;
  let bytes = 0;
  for (const file of await readdir(server.dataFolder, { recursive: true }))
    bytes += (await stat(join(server.dataFolder, file)).catch(() => ({ size: 0 }))).size;
  return `${own} + ${megabytes(bytes)}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
