import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PayingCallers } from "../test/paying-callers.ts";
import { PostgresServers } from "../test/postgres-server.ts";
import { startService } from "../test/service-process.ts";

export const title = "Fail-over: the primary is killed under load and its replica promoted";

const mostCallers = 8;
const seconds = { before: 8, withoutPrimary: 2, after: 10 };

/** Two services and two servers; with synchronous and with asynchronous replication. */
export async function run(print: (line: string) => void): Promise<void> {
  const outcomes = [await failOver(true), await failOver(false)];
  print("| | synchronous | asynchronous |");
  print("|---|---:|---:|");
  for (const name of Object.keys(outcomes[0]!.figures))
    print(`| ${name} | ${outcomes.map(({ figures }) => figures[name]).join(" | ")} |`);
  for (const { problems } of outcomes) if (problems.length > 0) throw new Error(problems.join("\n"));
}

interface Outcome {
  readonly figures: Readonly<Record<string, string | number>>;
  readonly problems: readonly string[];
}

async function failOver(isSynchronous: boolean): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "dataq-fail-over-"));
  await using servers = new PostgresServers();
  const primary = await servers.primary();
  const replica = await servers.replicaOf(primary);
  if (isSynchronous) {
    await primary.query("alter system set synchronous_standby_names = 'replica'");
    await primary.query("select pg_reload_conf()");
  }
  const url = `postgresql://dataq:${primary.password}@127.0.0.1:${primary.port},127.0.0.1:${replica.port}/postgres`;
  const start = () =>
    startService({ folder, vendor: true, env: { DATABASE_URL: url, DATAQ_SECRET: servers.secret } });
  await using first = await start();
  await using second = await start();
  const account = { name: "fail-over", tokens: opening, tier: "operator" };
  const { account_id, keys } = (await first.call("/admin/v1/accounts", { body: account })).body;
  const callers = new PayingCallers(() => [first.url, second.url], keys[0], mostCallers);
  await sleep(seconds.before * 1_000);
  const answeredBefore = callers.answered;
  await primary.kill();
  await sleep(seconds.withoutPrimary * 1_000);
  await replica.query("select pg_promote()");
  await sleep(seconds.after * 1_000);
  const { answered, refused, longestGapMs } = await callers.stop();
  while ((await replica.query<{ n: number }>("select count(*)::int as n from hold"))[0]!.n > 0)
    await sleep(500);

  const captured = await replica.query<{ request_id: string; earnings: number }>(
    "select request_id, earnings::int as earnings from entry where account_id = $1 and kind = 'capture'",
    [account_id],
  );
  const known = new Set(captured.map(({ request_id }) => request_id));
  const lost = answered.filter((id) => !known.has(id));
  const verify = await second.call("/admin/v1/ledger/verify");
  const breaches = verify.body.findings.flatMap((finding: { breaches: string[] }) => finding.breaches);
  const charged = captured.length;
  const paid = captured.reduce((sum, { earnings }) => sum + earnings, 0);
  const { balance } = (await second.call("/v1/balance", { key: keys[0] })).body;
  rmSync(folder, { recursive: true, force: true });
  const problems = [
    ...breaches,
    ...(charged + lost.length === answered.length
      ? []
      : [`${answered.length} calls were answered, ${charged} were charged and ${lost.length} were lost.`]),
    ...(isSynchronous && lost.length > 0 ? [`${lost.length} answers that were charged are lost.`] : []),
    ...(opening - balance === paid
      ? []
      : [`${opening - balance} tokens are gone, but ${paid} were charged.`]),
  ];
  return {
    problems,
    figures: {
      "calls answered before the kill": answeredBefore,
      "calls answered in all": answered.length,
      "attempts refused meanwhile, free": refused,
      "longest time without an answer": `${(longestGapMs / 1_000).toFixed(1)} s`,
      "of it, without any primary": `${seconds.withoutPrimary}.0 s`,
      "calls charged on the promoted server": charged,
      "calls charged without an answer": Math.max(0, charged - answered.length),
      "answers whose charge is lost": lost.length,
      "breaches found by ledger verify": breaches.length,
    },
  };
}

const opening = 1_000_000_000;
