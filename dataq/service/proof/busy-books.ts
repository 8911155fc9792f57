import type { QueryResultRow } from "pg";
import type { Database } from "../src/database/database.ts";
import { listRequests } from "../src/query/request-log.ts";
import { type InProcessService, startInProcess } from "../test/in-process.ts";

export const title = "Busy books: indexes at 600,000 rows, and calls beside 60 exports that nobody reads";

const ROWS = 600_000;
const ACCOUNTS = 200;
const EXPORTS = 60;
const CALLS = 200;

export async function run(print: (line: string) => void): Promise<void> {
  const service = await startInProcess();
  try {
    await proveIndexes(service, print);
    await proveExports(service, print);
  } finally {
    await service[Symbol.asyncDispose]();
  }
}

/** Runs each statement with its index, then without it in a transaction that is rolled back. */
async function proveIndexes({ database }: InProcessService, print: (line: string) => void): Promise<void> {
  await database.query(
    `insert into request (id, at, account_id, key_id, mode, route, operation, status, cached, latency_ms)
     select 'req_' || lpad(n::text, 8, '0'), now() - n * interval '1 second', 'acc_' || n % $2, 'key', 'live',
       '/v1/data/query', 'legal_laws', 200, false, 10 from generate_series(1, $1::int) n`,
    [ROWS, ACCOUNTS],
  );
  await database.query(
    `insert into search_posting (term, segment, documents, data)
     select 'term' || n, n % $2, 1, '\\x00' from generate_series(1, $1::int) n`,
    [ROWS, ACCOUNTS],
  );
  const owner = await database.connectAsOwner();
  await owner.query("analyze request, search_posting");
  const statements = [
    [
      "a page of an account's requests",
      await statementOf((to) => listRequests(to, "acc_7", { limit: 50 })),
      "request_page",
    ],
    [
      "a segment is deleted",
      ["delete from search_posting where segment = any($1)", [[7]]],
      "search_posting_segment",
    ],
  ] as const;
  print(
    `| statement, ${ROWS.toLocaleString("en")} rows, ${ACCOUNTS} accounts or segments | index | with it: ms, rows filtered | without: ms, rows filtered |`,
  );
  print("|---|---|---:|---:|");
  for (const [what, [text, values], index] of statements) {
    const cells = [];
    for (const isThere of [true, false]) {
      await owner.query("begin");
      if (!isThere) await owner.query(`drop index ${index}`);
      const explained = await owner.query<{ "QUERY PLAN": [{ Plan: Plan; "Execution Time": number }] }>(
        `explain (analyze, format json) ${text}`,
        values as unknown[],
      );
      await owner.query("rollback");
      const [{ Plan: plan, "Execution Time": ms }] = explained.rows[0]!["QUERY PLAN"];
      if (isThere !== indexesOf(plan).includes(index))
        throw new Error(`${what}: the plan is not as expected.`);
      cells.push(`${ms.toFixed(1)}, ${filteredBy(plan).toLocaleString("en")}`);
    }
    print(`| ${what} | \`${index}\` | ${cells.join(" | ")} |`);
  }
  await owner.end();
}

interface Plan {
  readonly "Index Name"?: string;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

function indexesOf(plan: Plan): string[] {
  return [plan["Index Name"] ?? "", ...(plan.Plans ?? []).flatMap(indexesOf)];
}

function filteredBy(plan: Plan): number {
  return (
    (plan["Rows Removed by Filter"] ?? 0) + (plan.Plans ?? []).reduce((sum, one) => sum + filteredBy(one), 0)
  );
}

/** Returns the statement that `ask` sends. */
async function statementOf(ask: (database: Database) => Promise<unknown>): Promise<[string, unknown[]]> {
  let sent: [string, unknown[]] | undefined;
  const query = async (text: string, values: unknown[]): Promise<{ rows: QueryResultRow[] }> => {
    sent = [text, values];
    return { rows: [] };
  };
  await ask({ pool: { query } } as unknown as Database);
  return sent!;
}

/** Sends calls of one account, one after the other, while exports of other accounts are open and unread. */
async function proveExports(service: InProcessService, print: (line: string) => void): Promise<void> {
  const caller = (await service.account(1_000_000_000)).keys[0]!;
  let questions = 0;
  const callTimes = async () => {
    const times = [];
    for (let n = 0; n < CALLS; n++) {
      const began = performance.now();
      const body = { operation: "legal_laws", params: { query: `found ${questions++}` } };
      const { status } = await service.call("/v1/data/query", { key: caller, body });
      if (status !== 200) throw new Error(`A call was answered with ${status}.`);
      times.push(performance.now() - began);
    }
    return times.sort((a, b) => a - b);
  };
  print("");
  print(
    `| ${EXPORTS} unread exports, of | accepted | refused (429) | ${CALLS} calls of another account: median ms | longest ms |`,
  );
  print("|---|---:|---:|---:|---:|");
  await callTimes();
  for (const accounts of [0, 1, 6]) {
    const controller = new AbortController();
    const exports = [];
    for (let n = 0; n < accounts; n++) {
      const { id, keys } = await service.account(1_000_000);
      // More data than a socket buffers.
      await service.database.query(
        `insert into entry (account_id, seq, at, kind, payments, paid, balance_after, actor, note)
         select $1, 1 + n, now(), 'topup', 0, 0, 1000000, 'test', repeat('x', 400) from generate_series(1, 20000) n`,
        [id],
      );
      const headers = { authorization: `Bearer ${keys[0]}`, "accept-encoding": "identity" };
      for (let open = 0; open < EXPORTS / accounts; open++)
        exports.push(fetch(`${service.url}/v1/ledger/export`, { headers, signal: controller.signal }));
    }
    const statuses = (await Promise.all(exports)).map(({ status }) => status);
    const times = await callTimes();
    controller.abort();
    const count = (status: number) => statuses.filter((one) => one === status).length;
    const label = accounts === 0 ? "none" : accounts === 1 ? "one account" : `${accounts} accounts`;
    print(
      `| ${label} | ${count(200)} | ${count(429)} | ${times[CALLS / 2]!.toFixed(1)} | ${times.at(-1)!.toFixed(1)} |`,
    );
  }
}
