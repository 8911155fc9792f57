import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { judgmentsCorpus } from "../src/operations/legal/cases/corpus.ts";
import { cases } from "../src/operations/legal/cases/source.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import { SearchSource } from "../src/sources/search-source.ts";
import {
  environmentOf,
  makeDataFolder,
  makeTables,
  openFolder,
  removeDataFolder,
} from "../test/data-folder.ts";
import { startService } from "../test/service-process.ts";
import { openOthers, plain } from "./legal-index/other-engines.ts";
import { type Question, questions } from "./legal-index/questions.ts";
import { ask, head, openAccount, row, timed } from "./legal-index/timed.ts";

const execute = promisify(execFile);
const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const buildPart = fileURLToPath(new URL("legal-index/build-part.ts", import.meta.url));
const refreshPart = fileURLToPath(new URL("legal-index/refresh-part.ts", import.meta.url));

export const title = "dataq: the legal index, through paid calls";

const usualSize = 68_787;

/**
 * Builds the index, then asks 200 mixed questions through paid calls (`cache: bypass`, operator tier, client on the same
 * machine): in a new process, again, with 8 clients, and while a tenth of the judgments is replaced. Then asks the same
 * questions without their fields, directly in the index and in two other engines with the same tokens.
 *
 * `--size N` builds another number of judgments, for example 1,000,000, and leaves out the other engines. `--data FOLDER`
 * builds into this folder and keeps it; if it has the index already, only the questions are asked. `--questions-only`
 * leaves out the replacement, which would change a kept folder. `--threads N` cuts the documents of a build with a size in
 * this many threads.
 */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: "string" },
      data: { type: "string" },
      threads: { type: "string" },
      "questions-only": { type: "boolean", default: false },
    },
  });
  const isUsual = values.size === undefined && values.data === undefined;
  const size = Number(values.size ?? usualSize);
  const folder = values.data === undefined ? await makeDataFolder("tables") : await keptFolder(values.data);
  const env = environmentOf(folder);
  const node = (...args: string[]) =>
    execute(process.execPath, ["--conditions=source", ...args], { env, maxBuffer: 1 << 24 });
  try {
    const held = await sizeOf(folder);
    if (held === 0) {
      const { stderr, spent } = await spending(() =>
        isUsual
          ? node(main, "index", "build", "--full")
          : node(buildPart, folder, String(size), ...(values.threads === undefined ? [] : [values.threads])),
      );
      const lines = stderr.split("\n").filter((line) => line.startsWith("Building")).length;
      print(`Built ${size} judgments in ${spent}${isUsual ? `, with ${lines} lines of progress` : ""}.\n`);
    } else print(`The folder has ${held} judgments.\n`);
    for (const line of head) print(line);
    const { spent } = await spending(() =>
      throughCalls(folder, node, values["questions-only"] ? 0 : Math.round(size / 10), print),
    );
    print(`All calls took ${spent}.\n`);
    if (isUsual) await besideOthers(folder, print);
  } finally {
    if (values.data === undefined) await removeDataFolder(folder);
  }
}

async function keptFolder(folder: string): Promise<string> {
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { recursive: true });
  await makeTables(folder);
  return folder;
}

async function sizeOf(folder: string): Promise<number> {
  const database = await openFolder(folder);
  try {
    return (await embeddedIndex(database).state(judgmentsCorpus))?.size ?? 0;
  } finally {
    await database.close();
  }
}

/** What a step takes. Processor time is that of the whole machine: the database works in processes of its own. */
async function spending<Result>(run: () => Promise<Result>): Promise<Result & { readonly spent: string }> {
  const busy = () => cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0) / 1000;
  const [begun, before] = [performance.now(), busy()];
  const result = await run();
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  const spent = `${seconds} s, ${(busy() - before).toFixed(0)} s of processor time on the machine, load ${loadavg()[0]?.toFixed(1)}`;
  return { ...result, spent };
}

async function throughCalls(
  folder: string,
  node: (...args: string[]) => Promise<unknown>,
  replaced: number,
  print: (line: string) => void,
): Promise<void> {
  const service = await startService({ folder, env: { DATAQ_SAMPLES: "on" } });
  const printMemory = () => {
    if (process.platform !== "linux") return;
    const status = readFileSync(`/proc/${service.pid}/status`, "utf8");
    const megabytes = (name: string) =>
      Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1000);
    print(`\nThe service holds ${megabytes("VmRSS")} MB, and held ${megabytes("VmHWM")} MB at most.\n`);
  };
  try {
    const key = await openAccount(service);
    print(row("paid calls, a new process", await ask(service, key, 200, 1)));
    print(row("paid calls, warm", await ask(service, key, 200, 1)));
    print(row("paid calls, warm, 8 clients", await ask(service, key, 1_600, 8)));
    if (replaced > 0) {
      let isRefreshing = true;
      const refresh = node(refreshPart, folder, String(replaced)).finally(() => {
        isRefreshing = false;
      });
      const times: number[] = [];
      const from = performance.now();
      while (isRefreshing) times.push(...(await ask(service, key, 25, 1)).times);
      await refresh;
      print(row("paid calls while a tenth is replaced", { times, wallMs: performance.now() - from }));
      print(row("paid calls after it", await ask(service, key, 200, 1)));
    }
    printMemory();
  } finally {
    await service.stop();
  }
}

/** Asks each engine until all questions are done or its time is up. The row says how many were asked. */
export async function besideOthers(folder: string, print: (line: string) => void): Promise<void> {
  const database = await openFolder(folder);
  try {
    const index = embeddedIndex(database);
    const source = new SearchSource(index, judgmentsCorpus, cases);
    const signal = new AbortController().signal;
    const own = async ({ query, page }: Question) => {
      const context = { signal, now: new Date(), sandbox: false };
      const found = await source.run({ query: plain(query) }, { page, pageSize: 20 }, context);
      return found.relaxed ? 0 : found.total;
    };
    print(row("posting blocks, without HTTP and money", await timed(own, questions.length, 1)));
    const ours = await timed(own, questions.length, 1);
    print(row("the same again", ours));
    const agreements: string[] = [];
    for (const engine of await openOthers(database, folder, index.documents(judgmentsCorpus))) {
      const theirs = await timed(engine.ask, questions.length, 1, engineLimitMs);
      print(row(`${engine.name}, ${theirs.times.length} questions`, theirs));
      const agreed = theirs.totals.filter((total, place) => total === ours.totals[place]).length;
      agreements.push(`${engine.name} in ${agreed} of ${theirs.times.length}`);
      await engine.close();
    }
    print(`\nTotals are equal to ours: ${agreements.join(", ")}.`);
  } finally {
    await database.close();
  }
}

const engineLimitMs = 45_000;
