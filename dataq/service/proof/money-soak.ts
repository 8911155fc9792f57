import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, Failure } from "@dataq/contract";
import { verifyLedger } from "../src/ledger/verify.ts";
import { startInProcess } from "../test/in-process.ts";

export const title = "Money: five minutes of calls on a source that fails, conservation asserted each second";

const MINUTES = 5;
const CALLERS = 8;
const ACCOUNTS = 4;
const OPENING = 50_000_000;

export async function run(print: (line: string) => void): Promise<void> {
  const service = await startInProcess();
  try {
    const random = seeded(7);
    const faults: readonly ErrorCode[] = ["upstream_error", "unavailable", "upstream_timeout"];
    service.sources.onRun = async () => {
      const dice = random();
      if (dice < 0.1)
        throw new Failure(faults[Math.floor(random() * faults.length)]!, { operation: "x", retry_after: 1 });
      if (dice < 0.12) throw new Error("a fault of ours");
      await sleep(Math.floor(random() * 20));
    };
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => service.account(OPENING)));
    const end = Date.now() + MINUTES * 60_000;
    const statuses = new Map<number | "left", number>();
    const note = (status: number | "left") => statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const words = ["found", "empty", "past_end", "missing", "throw", "fail:upstream_error"];
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = 0; Date.now() < end; n++) {
        const { keys } = accounts[Math.floor(random() * ACCOUNTS)]!;
        const word = words[Math.floor(random() ** 3 * words.length)]!;
        const leaves = random() < 0.05;
        const controller = new AbortController();
        if (leaves) setTimeout(() => controller.abort(), Math.floor(random() * 30));
        const headers: Record<string, string> = {
          authorization: `Bearer ${keys[0]}`,
          "content-type": "application/json",
        };
        if (random() < 0.3) headers["idempotency-key"] = `soak-${caller}-${Math.floor(n / 3)}`;
        const query = `${word} ${Math.floor(random() * 200)}`;
        const body = JSON.stringify({ operation: "legal_cases", params: { query } });
        try {
          const answer = await fetch(`${service.url}/v1/data/query`, {
            method: "POST",
            headers,
            body,
            signal: controller.signal,
          });
          await answer.arrayBuffer();
          note(answer.status);
        } catch {
          note("left");
        }
      }
    });
    let checks = 0;
    const ids = accounts.map(({ id }) => id);
    for (let due = end - (MINUTES * 60 - 1) * 1_000; due <= end; due += 1_000) {
      await sleep(Math.max(0, due - Date.now()));
      service.nowMs += 1_000;
      await assertConserved(service, ids);
      checks += 1;
    }
    await Promise.all(callers);
    await assertConserved(service, ids);
    const broken = (await verifyLedger(service.database)).findings.filter(
      ({ breaches }) => breaches.length > 0,
    );
    if (broken.length > 0) throw new Error(`Broken laws: ${JSON.stringify(broken)}`);
    const kinds = await service.database.pool.query<{ kind: string; n: number }>(
      "select kind, count(*)::int as n from entry group by kind order by kind",
    );
    print("| checks of conservation | breaches | calls | by status |");
    print("|---:|---:|---:|---|");
    const calls = [...statuses.values()].reduce((sum, n) => sum + n, 0);
    const byStatus = [...statuses]
      .map(([status, n]) => `${status}: ${n}`)
      .sort()
      .join(", ");
    print(`| ${checks} | 0 | ${calls} | ${byStatus} |`);
    print("");
    print(`Entries by kind: ${kinds.rows.map(({ kind, n }) => `${kind} ${n}`).join(", ")}.`);
  } finally {
    await service[Symbol.asyncDispose]();
  }
}

/**
 * Asserts that balances, holds and earnings add up to what was paid in, and that each wallet is the sum of
 * its entries.
 */
async function assertConserved(
  service: Awaited<ReturnType<typeof startInProcess>>,
  ids: readonly string[],
): Promise<void> {
  const found = await service.database.pool.query<{ total: number; wrong: number }>(
    `select (sum(w.trial + w.paid + w.credit + w.held) + (select coalesce(sum(earnings), 0) from entry where account_id = any($1)))::bigint as total,
            (count(*) filter (where w.paid <> e.paid or w.held <> e.held or w.paid < 0 or w.held < 0))::int as wrong
     from wallet w join (select account_id, sum(paid) paid, sum(held) held from entry group by 1) e using (account_id)
     where w.account_id = any($1)`,
    [ids],
  );
  const { total, wrong } = found.rows[0]!;
  if (total !== ACCOUNTS * OPENING || wrong !== 0)
    throw new Error(
      `Conservation is broken: ${total} tokens of ${ACCOUNTS * OPENING}, ${wrong} wallets wrong.`,
    );
}

/** A small generator (mulberry32), so that a run can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
