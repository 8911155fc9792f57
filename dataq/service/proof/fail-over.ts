import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresServers } from "../test/postgres-server.ts";
import { type ServiceProcess, startService } from "../test/service-process.ts";

export const title = "Fail-over: the primary is killed under load and its replica promoted";

const callers = 8;
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
  const calls: Call[] = [];
  const statuses = new Map<string, number>();
  let isOver = false;
  let longestGapMs = 0;
  let lastAnswer = performance.now();
  const caller = async (number: number) => {
    const services = [first, second];
    for (let n = 0; !isOver; n++) {
      const name = `call-${number}-${n}`;
      // A caller repeats a call under its key until it is answered, on whichever service the proxy gives it.
      for (let attempt = 0; ; attempt++) {
        const { status, requestId } = await ask(services[(n + attempt) % 2]!, keys[0], name);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === "200") {
          const now = performance.now();
          longestGapMs = Math.max(longestGapMs, now - lastAnswer);
          lastAnswer = now;
          calls.push({ name, requestId });
          break;
        }
        await sleep(200);
      }
    }
  };
  const running = Array.from({ length: callers }, (_, number) => caller(number));
  await sleep(seconds.before * 1_000);
  const answeredBefore = calls.length;
  await primary.kill();
  await sleep(seconds.withoutPrimary * 1_000);
  await replica.query("select pg_promote()");
  await sleep(seconds.after * 1_000);
  isOver = true;
  await Promise.all(running);
  while ((await replica.query<{ n: number }>("select count(*)::int as n from hold"))[0]!.n > 0)
    await sleep(500);

  const captured = await replica.query<{ request_id: string; earnings: number }>(
    "select request_id, earnings::int as earnings from entry where account_id = $1 and kind = 'capture'",
    [account_id],
  );
  const known = new Set(captured.map(({ request_id }) => request_id));
  const lost = calls.filter(({ requestId }) => !known.has(requestId));
  const verify = await second.call("/admin/v1/ledger/verify");
  const breaches = verify.body.findings.flatMap((finding: { breaches: string[] }) => finding.breaches);
  const charged = captured.length;
  const paid = captured.reduce((sum, { earnings }) => sum + earnings, 0);
  const { balance } = (await second.call("/v1/balance", { key: keys[0] })).body;
  rmSync(folder, { recursive: true, force: true });
  const problems = [
    ...breaches,
    ...(charged + lost.length === calls.length
      ? []
      : [`${calls.length} calls were answered, ${charged} were charged and ${lost.length} were lost.`]),
    ...(isSynchronous && lost.length > 0 ? [`${lost.length} answers that were charged are lost.`] : []),
    ...(opening - balance === paid
      ? []
      : [`${opening - balance} tokens are gone, but ${paid} were charged.`]),
  ];
  return {
    problems,
    figures: {
      "calls answered before the kill": answeredBefore,
      "calls answered in all": calls.length,
      "attempts refused meanwhile, free": [...statuses].reduce(
        (sum, [status, n]) => sum + (status === "200" ? 0 : n),
        0,
      ),
      "longest time without an answer": `${(longestGapMs / 1_000).toFixed(1)} s`,
      "of it, without any primary": `${seconds.withoutPrimary}.0 s`,
      "calls charged on the promoted server": charged,
      "calls charged without an answer": Math.max(0, charged - calls.length),
      "answers whose charge is lost": lost.length,
      "breaches found by ledger verify": breaches.length,
    },
  };
}

interface Call {
  readonly name: string;
  readonly requestId: string;
}

const opening = 1_000_000_000;

async function ask(
  service: ServiceProcess,
  key: string,
  name: string,
): Promise<{ readonly status: string; readonly requestId: string }> {
  try {
    const { status, body } = await service.call("/v1/data/query", {
      key,
      headers: { "idempotency-key": name },
      body: { operation: "enterprise_shixin_check", params: { company_name: name } },
    });
    return { status: String(status), requestId: body?.request_id ?? "" };
  } catch {
    return { status: "no answer", requestId: "" };
  }
}
