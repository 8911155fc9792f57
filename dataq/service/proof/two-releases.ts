import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { migrations } from "../src/schema.ts";
import { PayingCallers } from "../test/paying-callers.ts";
import { PostgresServers } from "../test/postgres-server.ts";
import { type ServiceProcess, startService } from "../test/service-process.ts";

export const title = "Two releases: an older service and this one on one database, under load";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const callers = 8;
const opening = 1_000_000_000;
const seconds = { old: 8, both: 15, new: 8, back: 8 };

/**
 * An upgrade in steps and a step back: the older release alone, both, this one alone, the older one again. With
 * `--commit <commit>`, the older release is that commit; otherwise the newest one that lacks a migration of this one.
 */
export async function run(
  print: (line: string) => void,
  _folder: string,
  args: readonly string[],
): Promise<void> {
  const commit = args[0] === "--commit" ? args[1] : commitBefore();
  if (commit === undefined) {
    print("skipped: this clone has no commit before the newest migration (git fetch --unshallow)");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "dataq-two-releases-"));
  await using servers = new PostgresServers();
  try {
    const older = join(folder, "older");
    unpack(commit, older);
    const server = await servers.primary();
    await server.query("create database releases");
    const url = server.url().replace(/\/postgres$/, "/releases");
    const start = (main?: string) =>
      startService({
        folder,
        vendor: true,
        ...(main !== undefined && { main }),
        env: { DATABASE_URL: url, DATAQ_SECRET: servers.secret },
      });
    const oldMain = join(older, "dataq/service/src/cli/main.ts");
    const applied = async () =>
      (await server.query<{ name: string }>("select name from migration", [], url)).length;

    const first = await start(oldMain);
    const before = await applied();
    const { account_id, keys } = await ask(first, "/admin/v1/accounts", {
      name: "load",
      tokens: opening,
      tier: "operator",
      keys: 1,
    });
    const serving = [first];
    const paying = new PayingCallers(() => serving.map(({ url: address }) => address), keys[0], callers);
    const counts: number[] = [];
    const phase = async (length: number) => {
      const began = paying.answered;
      await sleep(length * 1_000);
      counts.push(paying.answered - began);
    };
    await phase(seconds.old);
    const second = await start();
    const after = await applied();
    serving.push(second);
    await phase(seconds.both);
    const verdicts = [await breachesAt(first), await breachesAt(second)];
    serving.shift();
    const stopped = await first.stop();
    await phase(seconds.new);
    const third = await start(oldMain);
    serving.push(third);
    serving.shift();
    await second.stop();
    await phase(seconds.back);
    const { answered, refused, longestGapMs } = await paying.stop();
    verdicts.push(await breachesAt(third));
    const { balance } = await ask(third, "/v1/balance", undefined, keys[0]);
    await third.stop();
    const fourth = await start();
    verdicts.push(await breachesAt(fourth));
    await fourth.stop();

    const captured = await server.query<{ request_id: string; earnings: number }>(
      "select request_id, earnings::int as earnings from entry where account_id = $1 and kind = 'capture'",
      [account_id],
      url,
    );
    const ids = new Set(captured.map(({ request_id }) => request_id));
    const lost = answered.filter((id) => !ids.has(id)).length;
    const paid = captured.reduce((sum, { earnings }) => sum + earnings, 0);
    await server.query(
      "insert into migration (name, sha256, version, oldest) values ('proof/removes-a-column', '', '9.1.0', '9.0.0')",
      [],
      url,
    );
    const refusals = [oldMain, undefined].map(async (main) =>
      start(main).then(
        () => "started",
        (error: Error) => /A newer dataq.*/.exec(error.message)?.[0] ?? error.message,
      ),
    );
    const refusal = await Promise.all(refusals);
    print(`The older release is ${commit.slice(0, 7)}. Load of the machine: ${loadavg()[0]!.toFixed(1)}.`);
    print("");
    print("| | |");
    print("|---|---:|");
    const rows: readonly (readonly [string, string | number])[] = [
      ["steps of the schema: of the older release, with this one's", `${before}, ${after}`],
      ["calls answered: by the older one alone", counts[0]!],
      ["by both", counts[1]!],
      ["by this one alone", counts[2]!],
      ["by the older one again, on the new schema", counts[3]!],
      ["calls answered in all", answered.length],
      ["attempts refused meanwhile, free", refused],
      ["longest time without an answer", `${(longestGapMs / 1_000).toFixed(1)} s`],
      ["calls charged", captured.length],
      ["answers whose charge is lost", lost],
      [
        "breaches found by the older release, this one, the older one at the end, this one at the end",
        verdicts.join(", "),
      ],
      ["exit code of the older release at its stop, with calls under way", String(stopped)],
    ];
    for (const [name, value] of rows) print(`| ${name} | ${value} |`);
    print("");
    print("A start of either release after a step that removes something:");
    print("");
    for (const line of new Set(refusal)) print(`> ${line}`);
    const isWrong =
      lost > 0 ||
      captured.length !== answered.length ||
      opening - balance !== paid ||
      verdicts.some((breaches) => breaches > 0) ||
      refusal.some((line) => !line.startsWith("A newer dataq (9.1.0) changed this database"));
    if (isWrong)
      throw new Error(
        `${answered.length} answered, ${captured.length} charged, ${opening - balance} tokens gone, ${paid} earned.`,
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The newest commit in which a migration of this tree does not exist; undefined in a clone without it. */
function commitBefore(): string | undefined {
  const commits = execFileSync("git", ["rev-list", "--max-count=500", "HEAD"], {
    cwd: root,
    encoding: "utf8",
  });
  return commits
    .trim()
    .split("\n")
    .find((commit) =>
      migrations.some(
        ({ name }) =>
          spawnSync("git", ["grep", "-qF", `"${name}"`, commit, "--", "dataq/service/src"], { cwd: root })
            .status !== 0,
      ),
    );
}

/** The sources of a commit, with the modules of this tree; packages of the repository are that commit's own. */
function unpack(commit: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  for (const part of ["", "dataq/service"])
    link(join(root, part, "node_modules"), join(folder, part, "node_modules"));
}

function link(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    const isOwn = name === "@dataq" || name === "@locallm" || lstatSync(source).isSymbolicLink();
    if (isOwn) cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(source, target);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of another release are not checked against this contract
async function ask({ url, key }: ServiceProcess, path: string, body?: object, asKey = key): Promise<any> {
  const answer = await fetch(url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${asKey}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.json();
}

async function breachesAt(service: ServiceProcess): Promise<number> {
  const { findings } = await ask(service, "/admin/v1/ledger/verify?whole=true");
  return findings.flatMap(({ breaches }: { breaches: string[] }) => breaches).length;
}
