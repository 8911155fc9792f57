import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type OperationName, operations, type Params } from "@dataq/contract";
import { fileSets } from "../src/importer/open-data/sets.ts";
import { startService } from "../test/service-process.ts";

export const title = "dataq: all sets of open data, brought by a process that is killed ten times";

const kills = 10;
/** Questions whose answers are in the sets. */
const questions: Partial<Record<OperationName, Params>> = {
  legal_laws: { query: "工伤保险条例 第十四条" },
  legal_law_catalog: {},
  legal_citation_check: { text: "《民法典》第五百七十七条" },
  legal_cases: { query: "盗窃" },
  content_hot_rank: { platform: "weibo", date: "2024-05-20" },
  content_keyword_index: { keyword: "高考", date: "2024-06-07" },
  research_paper_search: { query: "神经网络" },
  research_scholar_search: { name: "Wei Wang" },
  research_journal_search: { query: "nature" },
};

/** Needs TEST_DATA, whose folder is the mirror. */
export async function run(print: (line: string) => void): Promise<void> {
  const mirror = process.env["TEST_DATA"];
  if (mirror === undefined) return print("Skipped: TEST_DATA names no folder with the packs.");
  await using service = await startService({ env: { DATAQ_LAWS: "off" } });
  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const get = () =>
    spawn(process.execPath, ["--conditions=source", main, "data", "get", "--all"], {
      env: { ...process.env, DATAQ_DATA: service.folder, DATAQ_DATA_MIRROR: mirror },
      stdio: "ignore",
    });
  const begun = performance.now();
  for (let kill = 0; kill < kills; kill++) {
    const child = get();
    await Promise.race([ended(child), wait(2_000 + Math.random() * 25_000)]);
    child.kill("SIGKILL");
    await ended(child);
  }
  const code = await ended(get());
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  const megabytes = fileSets()
    .flatMap(({ files }) => files)
    .reduce((sum, { bytes }) => sum + bytes / 1e6, 0);
  print(
    `${fileSets().length} sets, ${megabytes.toFixed(0)} MB; killed ${kills} times, the last run ended with ${code} after ${minutes} minutes in all.`,
  );
  print("");
  print("| operation | data | held | first record's publisher | licence |");
  print("| --- | --- | --- | --- | --- |");
  const { data: entries } = (await service.call("/v1/catalog")).body as {
    data: readonly { operation: OperationName; data: string; coverage: { text: { en: string } } | null }[];
  };
  for (const { operation, data, coverage } of entries) {
    const params = questions[operation];
    const answer = params && (await service.call("/v1/data/query", { body: { operation, params } })).body;
    const source = sourceIn(answer?.data);
    print(
      `| \`${operation}\` | ${data} | ${coverage?.text.en ?? ""} | ${source?.name ?? ""} | ${source?.licence ?? ""} |`,
    );
  }
  const real = entries.filter(({ data }) => data === "imported").length;
  print("");
  print(`${real} of ${operations.length} operations have real data.`);
}

/** The first source in an answer, however deep. */
function sourceIn(data: unknown): { readonly name: string; readonly licence?: string } | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  if ("source" in data && typeof data.source === "object" && data.source !== null)
    return data.source as { name: string; licence?: string };
  for (const value of Object.values(data)) {
    const found = sourceIn(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}
