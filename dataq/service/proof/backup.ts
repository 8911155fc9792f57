import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { type Database, openDatabase } from "../src/database/database.ts";
import { environmentOf, isEmbedded } from "../test/data-folder.ts";
import { startService } from "../test/service-process.ts";

export const title =
  "Backup and restore under load: killed in the middle, restored elsewhere, books verified";

const CALLERS = 6;
const ENTRIES_BEFORE = 200_000;
const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

/** On the embedded PostgreSQL, or with `.ci/on-debian-postgresql` on that one: over TLS, as a role that is no superuser. */
export async function run(print: (line: string) => void): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "dataq-backup-proof-"));
  await using source = await makeBooks("source");
  await using target = await makeBooks("target");
  const service = await startService({ ...source, vendor: true });
  let isOver = false;
  try {
    await fillAccount(source);
    const { keys } = (
      await service.call("/admin/v1/accounts", {
        body: { name: "load", tokens: 1_000_000_000, keys: 1, tier: "operator" },
      })
    ).body;
    /** Captured calls, with the time at which their answer had arrived. */
    const captured: { id: string; atMs: number }[] = [];
    let failed = 0;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = 0; !isOver; n++) {
        const body = {
          operation: "enterprise_shixin_check",
          params: { company_name: `公司${caller}甲${n}` },
        };
        const answer = await service.call("/v1/data/query", { key: keys[0], body });
        if (answer.status === 200) captured.push({ id: answer.body.request_id, atMs: Date.now() });
        else failed += 1;
      }
    });
    await sleep(3_000);
    const doomed = await dataq(source, ["backup", join(place, "killed.tar")], (log) =>
      log.includes("public.entry"),
    );
    if (existsSync(join(place, "killed.tar"))) throw new Error("A killed backup has its final name.");
    const beganMs = Date.now();
    const written = await dataq(source, ["backup", join(place, "whole.tar")]);
    const backupMs = Date.now() - beganMs;
    if (written.code !== 0) throw new Error(written.log);
    await sleep(2_000);
    isOver = true;
    await Promise.all(callers);
    const before = captured.filter(({ atMs }) => atMs < beganMs);

    await cp(join(source.folder, "secret"), join(target.folder, "secret"));
    const partial = await dataq(target, ["restore", join(place, "killed.tar.partial")]);
    const killed = await dataq(target, ["restore", join(place, "whole.tar")], (log) =>
      log.includes("public.entry"),
    );
    const served = await dataq(target, ["ledger", "verify"]);
    const restoringMs = Date.now();
    const restored = await dataq(target, ["restore", join(place, "whole.tar")]);
    const restoreMs = Date.now() - restoringMs;
    if (restored.code !== 0) throw new Error(restored.log);
    const verified = await dataq(target, ["ledger", "verify", "--whole"]);
    const there = await target.open();
    const server = await serverOf(there);
    const found = await there.query<{ request_id: string }>(
      "select request_id from entry where kind = 'capture'",
    );
    await there.close();
    const known = new Set(found.rows.map(({ request_id }) => request_id));
    const lost = before.filter(({ id }) => !known.has(id)).length;
    if (lost > 0) throw new Error(`${lost} captured calls of before the backup are not in it.`);
    const again = await startService(target);
    const balance = await again.call("/v1/balance", { key: keys[0] });
    await again.stop();
    print(`On ${server}.`);
    print("");
    print("| | |");
    print("|---|---|");
    print(`| calls while backups were written: captured, failed | ${captured.length}, ${failed} |`);
    print(
      `| a backup killed with SIGKILL: its final name exists; restoring its \`.partial\` | no; exit code ${partial.code} |`,
    );
    print(
      `| the backup: time, size | ${(backupMs / 1_000).toFixed(1)} s, ${(statSync(join(place, "whole.tar")).size / 1e6).toFixed(1)} MB |`,
    );
    print(
      `| a restore killed with SIGKILL: a command on its database | exit code ${served.code}: ${served.log.includes("did not finish") ? "refused by name" : `not refused by name: ${served.log.trim().split("\n").at(-1)}`} |`,
    );
    print(`| the restore after it: time, with all checks | ${(restoreMs / 1_000).toFixed(1)} s |`);
    print(`| \`dataq ledger verify --whole\` on it | exit code ${verified.code} |`);
    print(
      `| captured calls of before the backup: all, missing in the restored books | ${before.length}, ${lost} |`,
    );
    print(`| a key of the backup at a service on the restored data | ${balance.status} |`);
    if (!doomed.isKilled || !killed.isKilled) print("A command ended before it could be killed.");
  } finally {
    isOver = true;
    await service.stop();
    rmSync(place, { recursive: true, force: true });
  }
}

/** A data folder, and a database of its own if the server is external. */
interface Books extends AsyncDisposable {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  open(): Promise<Database>;
}

async function makeBooks(name: string): Promise<Books> {
  const folder = mkdtempSync(join(tmpdir(), `dataq-${name}-`));
  const url = isEmbedded ? undefined : await makeDatabase(`proof_${name}_${process.pid}`);
  return {
    folder,
    env: url === undefined ? {} : { DATABASE_URL: url },
    open: () => openDatabase({ url, folder, progress: () => {} }),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database that belongs to a role with a password, as an operator makes it. The server is removed with all of it. */
async function makeDatabase(name: string): Promise<string> {
  const url = new URL(process.env["TEST_DATABASE_URL"]!);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`create role ${name} login password '${name}'`);
    await client.query(`create database ${name} owner ${name} encoding 'UTF8' template template0`);
  } finally {
    await client.end();
  }
  url.username = name;
  url.password = name;
  url.pathname = name;
  return url.href;
}

async function serverOf(database: Database): Promise<string> {
  if (database.isEmbedded) return "the embedded PostgreSQL";
  const { rows } = await database.query<{ version: string; tls: string | null; is_superuser: string }>(
    `select current_setting('server_version') as version, current_setting('is_superuser') as is_superuser,
            (select version from pg_stat_ssl where pid = pg_backend_pid()) as tls`,
  );
  const { version, tls, is_superuser } = rows[0]!;
  const { searchParams } = new URL(process.env["TEST_DATABASE_URL"]!);
  return `PostgreSQL ${version}, ${tls ?? "without TLS"}, sslmode=${searchParams.get("sslmode") ?? "none"}, superuser: ${is_superuser}`;
}

/** Makes the books long enough for a kill to hit. The entries are marked as generated. */
async function fillAccount(books: Books): Promise<void> {
  const database = await books.open();
  await database.query(
    `with opened as (
       insert into account (id, name, role, tier, created_at) values ('acc_generated', 'generated', 'customer', 'trial', now())
     ) insert into wallet (account_id, paid, seq, touched_at) values ('acc_generated', $1, $1, date_trunc('milliseconds', now()))`,
    [ENTRIES_BEFORE],
  );
  await database.query(
    `insert into entry (account_id, seq, at, kind, paid, payments, balance_after, actor, note)
     select 'acc_generated', n, date_trunc('milliseconds', now()), 'topup', 1, -1, n, 'generated', 'generated'
     from generate_series(1, $1::int) n`,
    [ENTRIES_BEFORE],
  );
  await database.close();
}

/** Runs a command; kills it as soon as its output is as `until` wants. */
function dataq(
  { folder, env }: Books,
  args: readonly string[],
  until?: (log: string) => boolean,
): Promise<{ code: number | null; log: string; isKilled: boolean }> {
  const child = spawn(process.execPath, ["--conditions=source", main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environmentOf(folder), ...env, DATAQ_LAWS: "off" },
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (until?.(log)) child.kill("SIGKILL");
    });
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, log, isKilled: signal === "SIGKILL" })),
  );
}
