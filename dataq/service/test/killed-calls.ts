import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../src/database/database.ts";
import { recover } from "../src/ledger/instance.ts";
import { type Failpoint, failpoints } from "../src/query/failpoint.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

/** A call during which its service is killed with SIGKILL. */
export interface KilledCall {
  readonly failpoint: Failpoint;
  readonly queries: "one query" | "several queries";
}

/** A call with several queries claims its key and answers once, as one with one query does. */
const ofEachQuery: readonly Failpoint[] = ["after_hold", "after_run", "before_settle", "after_settle"];

export const killedCalls: readonly KilledCall[] = [
  ...failpoints.map((failpoint) => ({ failpoint, queries: "one query" }) as const),
  ...ofEachQuery.map((failpoint) => ({ failpoint, queries: "several queries" }) as const),
];

export const check = (name: string) => ({
  operation: "enterprise_shixin_check",
  params: { company_name: name },
});

export async function openAccount(service: ServiceProcess, tokens: number, keys = 1) {
  const body = { name: "crash", tokens, keys, tier: "operator" };
  return (await service.call("/admin/v1/accounts", { body })).body;
}

const PRICE = 10_000;

/**
 * Starts a service beside two others, kills it during a call, and repeats the call at one of the others. Throws unless the
 * tokens come back, the retry is answered, and it is charged once.
 */
export async function killAndRetry(
  { failpoint, queries }: KilledCall,
  parts: {
    readonly folder: string;
    readonly database: Database;
    readonly others: readonly [ServiceProcess, ServiceProcess];
  },
): Promise<void> {
  const [one, two] = parts.others;
  const before = 5 * PRICE;
  const { keys } = await openAccount(one, before);
  const doomed = await startService({
    folder: parts.folder,
    vendor: true,
    env: { DATAQ_FAILPOINT: failpoint },
  });
  const names = queries === "one query" ? ["甲"] : ["甲", "乙", "丙"];
  const asked = names.map((name) => check(`崩溃${name}${failpoint}${keys[0].slice(-6)}`));
  const body = queries === "one query" ? asked[0] : { queries: [...asked, { operation: "no_such" }] };
  const headers = { "idempotency-key": `crash-${queries.replace(" ", "-")}-${failpoint}` };
  const call = { key: keys[0], headers, body };
  const balance = async (service: ServiceProcess) =>
    (await service.call("/v1/balance", { key: keys[0] })).body as { balance: number; held: number };
  const answered = await doomed.call("/v1/data/query", call).catch(() => undefined);
  equal("the killed call", answered?.status, undefined);
  await doomed.ended;
  // Recovers as each start and each sweep does. PostgreSQL needs a moment to notice that a connection is gone.
  const end = Date.now() + 30_000;
  for (;;) {
    await recover(parts.database, new Date());
    const { held } = await balance(one);
    if (held === 0) break;
    if (Date.now() > end) throw new Error(`${held} tokens are still held.`);
    await sleep(50);
  }
  const retry = await one.call("/v1/data/query", call);
  equal("the status of the retry", retry.status, 200);
  if (queries === "one query") equal("the answer", retry.body.summary?.record_count, 0);
  else {
    const codes = retry.body.data.map(({ code = "answered" }: { code?: string }) => code);
    equal("the answers", codes.join(), [...names.map(() => "answered"), "unknown_operation"].join());
  }
  const after = await balance(two);
  equal("the balance", after.balance, before - names.length * PRICE);
  equal("tokens on hold", after.held, 0);
}

function equal(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)}, not ${String(expected)}`);
}
