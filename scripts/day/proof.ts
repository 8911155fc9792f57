import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { verifyLedger } from "../../dataq/service/src/ledger/verify.ts";
import { openFolder } from "../../dataq/service/test/data-folder.ts";
import { startService } from "../../dataq/service/test/service-process.ts";
import { Random } from "../../fuzz/random.ts";
import { createModelStore } from "../../locallm/test/model-store.ts";
import { startServer } from "../../locallm/test/server-process.ts";
import { smallEncoder, smallLlama } from "../../locallm/test/small-llama.ts";
import { ggufBytes } from "../../locallm/test/tiny-gguf.ts";
import { freePort } from "../../testing/free-port.ts";
import { type Balances, Bookkeeping } from "./bookkeeping.ts";
import { askModels, longestMs, payForAnswers, type Traffic } from "./callers.ts";
import { Kept } from "./kept.ts";
import { RotatedLogs } from "./rotated-logs.ts";
import { TlsFront } from "./tls-front.ts";

export const title =
  "A day: both products behind TLS, under traffic, kills, full disks, clocks that jump, new certificates and rotated logs";

/**
 * As root on Linux, with Debian's `faketime`, `nginx`, `openssl` and `logrotate`. `--minutes` (60) is how long the day takes; its events come in rounds whose
 * order follows from `--seed` (1).
 */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: "string", default: "60" }, seed: { type: "string", default: "1" } },
  });
  const random = new Random(Number(values.seed));
  const end = Date.now() + Number(values.minutes) * 60_000;
  const disk = new SmallDisk();
  const clock = new FakeClock(disk.folder);
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = disk.folder;
  try {
    await day({ print, random, end, disk, clock });
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    disk.remove();
  }
}

interface Day {
  readonly print: (line: string) => void;
  readonly random: Random;
  readonly end: number;
  readonly disk: SmallDisk;
  readonly clock: FakeClock;
}

async function day({ print, random, end, disk, clock }: Day): Promise<void> {
  const faults: string[] = [];
  const [dataqPort, locallmPort] = [await freePort(), await freePort()];
  const logs = new RotatedLogs(disk.folder, ["dataq", "locallm"]);
  const store = await createModelStore();
  for (const [name, bytes] of [
    ["small", smallLlama(1)],
    ["other", smallLlama(2)],
    ["vectors", ggufBytes(smallEncoder(3))],
  ] as const) {
    const path = join(store.folder, "model.gguf");
    await writeFile(path, bytes);
    await store.add(name, path, { parameters: { num_thread: 1 } });
    rmSync(path);
  }
  const folder = mkdtempSync(join(disk.folder, "dataq-"));
  execFileSync("chmod", ["711", disk.folder, folder]);
  const dataq = new Kept("dataq", async () => {
    const env = {
      DATAQ_HOST: `127.0.0.1:${dataqPort}`,
      DATAQ_TRUSTED_PROXIES: "127.0.0.1",
      ...clock.environment,
    };
    const started = await logs.into("dataq", (logTo) => startService({ folder, vendor: true, env, logTo }));
    return {
      ...started,
      ended: started.ended.then(() => {}),
      term: () => void process.kill(started.pid, "SIGTERM"),
    };
  });
  const locallm = new Kept("locallm", async () => {
    const env = {
      LOCALLM_HOST: `127.0.0.1:${locallmPort}`,
      LOCALLM_NUM_PARALLEL: "4",
      LOCALLM_MAX_LOADED_MODELS: "2",
      LOCALLM_CACHE_FOLDER: join(disk.folder, "kept"),
      LOCALLM_RESPONSES_FOLDER: join(disk.folder, "responses"),
      ...clock.environment,
    };
    const options = { models: store.folder, hasSmallHeap: true, env } as const;
    const started = await logs.into("locallm", (logTo) => startServer({ ...options, logTo }));
    return { ...started, ended: started.exited.then(() => {}), term: () => started.signal("SIGTERM") };
  });
  const front = new TlsFront({
    dataq: { front: await freePort(), product: dataqPort },
    locallm: { front: await freePort(), product: locallmPort },
    plain: await freePort(),
  });
  const first = await dataq.start();
  await locallm.start();
  const books = await Bookkeeping.open(front.urls.dataq, first.key);
  const models = {
    // Nobody asks while it starts.
    get url() {
      return locallm.url === undefined ? undefined : front.urls.locallm;
    },
    counts: locallm.counts,
  };
  const traffic: Traffic = { stopping: false, faults };
  const began = listed(disk.folder);
  const callers = [
    ...Array.from({ length: 4 }, (__, n) => payForAnswers(traffic, books, new Random(100 + n))),
    ...Array.from({ length: 6 }, (__, n) => askModels(traffic, models, new Random(200 + n))),
  ];
  // nginx answers for a product that is not there.
  const unanswered = () =>
    [...books.counts(), ...Object.entries(locallm.counts)].reduce(
      (sum, [what, count]) => sum + (/connection broke|status 50[24]/.test(what) ? count : 0),
      0,
    );
  const does: Record<string, () => Promise<void>> = {
    "dataq's process is killed": async () => dataq.kill(),
    "dataq's PostgreSQL is killed": async () => killFirst(postgresOf(folder)),
    "dataq is updated: stopped with its calls, and started": () => dataq.restart(),
    "locallm's process is killed": async () => locallm.kill(),
    "a model's process is killed": async () => killFirst(childrenOf(locallm.pid)),
    "locallm is updated": () => locallm.restart(),
    "the disk is full for 10 seconds": () => disk.fullFor(10_000),
    "the clock jumps ahead or back": async () => clock.jump(random),
    "the certificate is renewed": () => front.renew(),
    "the logs are copied and truncated": () => logs.copy(),
    "the logs are moved, and SIGHUP": () => logs.move([dataq.pid, locallm.pid].filter((pid) => pid > 0)),
  };
  const events = Object.entries(does).map(([what, act]) => ({ what, act, times: 0, missed: 0 }));
  const memory = new Memory();
  let balances: Balances = new Map();
  try {
    while (Date.now() < end) {
      for (const event of shuffled(events, random)) {
        if (Date.now() >= end) break;
        const before = unanswered();
        await event.act().catch((error) => faults.push(`${event.what}: ${error}`));
        event.times++;
        await Promise.all([dataq.ready(), locallm.ready()]).catch((error) => faults.push(String(error)));
        memory.note("dataq", dataq.pid);
        memory.note("locallm", locallm.pid);
        await sleep(6_000 + random.below(6_000));
        event.missed += unanswered() - before;
      }
    }
    // A quiet end: what is held is released, and memory is what one life needs.
    await sleep(5_000);
    traffic.stopping = true;
    await Promise.race([
      Promise.all(callers),
      sleep(longestMs, undefined, { ref: false }).then(() =>
        faults.push("some call did not end within ten minutes"),
      ),
    ]);
    memory.note("dataq", dataq.pid);
    memory.note("locallm", locallm.pid);
    for (const { what, times } of events) if (times === 0) faults.push(`never: ${what}`);
    // The hold of a call whose database died ends with its deadline, which is a time of day: the clock stays now.
    const quiet = Date.now();
    while ((await books.held()) > 0 && Date.now() < quiet + 240_000) await sleep(1_000);
    const releasedS = Math.round((Date.now() - quiet) / 1_000);
    balances = await books.balances();
    print("| what happened | times | calls without an answer until the next |");
    print("| --- | --: | --: |");
    for (const { what, times, missed } of events) print(`| ${what} | ${times} | ${missed} |`);
    print("\n| what | count |");
    print("| --- | --: |");
    print(`| dataq's starts | ${dataq.starts} |`);
    print(`| locallm's starts | ${locallm.starts} |`);
    for (const [what, count] of [...books.counts(), ...Object.entries(locallm.counts)])
      print(`| ${what} | ${count} |`);
    print(`| seconds until nothing was on hold | ${releasedS} |`);
    for (const line of memory.lines(faults)) print(line);
  } finally {
    traffic.stopping = true;
    await dataq.stop();
    await locallm.stop();
    await front.stop();
  }
  logs.end();
  for (const [name, lines] of Object.entries(logs.lines)) print(`| lines in ${name}'s logs | ${lines} |`);
  const database = await openFolder(folder);
  try {
    const { findings } = await verifyLedger(database);
    faults.push(...findings.flatMap(({ law, breaches }) => breaches.map((one) => `${law}: ${one}`)));
    const open = await database.query<{ n: number }>("select count(*)::int as n from hold");
    print(`| holds that are open at the end | ${open.rows[0]!.n} |`);
    if (open.rows[0]!.n > 0) faults.push(`${open.rows[0]!.n} holds are open`);
    const paid = await database.query<{ key: string; tokens: number }>(
      `select key, -sum(trial + paid + credit + held)::bigint as tokens
        from idempotency join entry using (account_id, request_id) group by key`,
    );
    faults.push(...books.faults(balances, new Map(paid.rows.map(({ key, tokens }) => [key, tokens]))));
    // Every call has an Idempotency-Key.
    const lost = await database.query<{ request_id: string; kinds: string; tokens: string }>(
      `select request_id, string_agg(kind || ' ' || at, ', ' order by at) as kinds,
          -sum(trial + paid + credit + held) as tokens
        from entry where request_id is not null and request_id not in (select request_id from idempotency)
        group by request_id having sum(trial + paid + credit + held) <> 0`,
    );
    for (const { request_id, kinds, tokens } of lost.rows)
      faults.push(`${tokens} tokens were paid for ${request_id}, which no key names: ${kinds}`);
  } finally {
    await database.close();
  }
  const left = [...listed(disk.folder)].filter((path) => !began.has(path) && !mayStay.test(path));
  print(`| files that are left behind | ${left.length} |`);
  faults.push(...left.slice(0, 20).map((path) => `left behind: ${path}`));
  await store.remove();
  for (const [what, times] of logs.errors) console.log(`${times} times in the logs: ${what}`);
  for (const fault of new Set(faults))
    print(`\n- ${fault} (${faults.filter((other) => other === fault).length} times)`);
  if (faults.length > 0) throw new Error(`${faults.length} faults`);
}

/** What a product keeps on purpose: conversations, indexes and the database. And what names the vendor of each start. */
const mayStay =
  /^(kept|responses|logs)\/|\/vendor-[-\w]+\.json$|\/(search|indexes|downloads|postgres(ql)?|pgdata|database)\//;

/** A file system in memory that can be full. */
class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), "a-day-"));

  constructor() {
    if (process.getuid?.() !== 0) throw new Error("This proof mounts a small disk, so it needs root.");
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1000m,mode=711", "tmpfs", this.folder]);
  }

  async fullFor(ms: number): Promise<void> {
    const filler = join(this.folder, "filler");
    try {
      const file = openSync(filler, "w");
      const piece = Buffer.alloc(2 ** 20);
      try {
        for (const until = Date.now() + ms; Date.now() < until; ) {
          try {
            writeSync(file, piece);
          } catch (error) {
            if ((error as { code?: string }).code !== "ENOSPC") throw error;
            // What others free meanwhile is taken, too.
            await sleep(50);
          }
        }
      } finally {
        closeSync(file);
      }
    } finally {
      rmSync(filler, { force: true });
    }
  }

  remove(): void {
    execFileSync("umount", ["--lazy", this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The clock of both products. Only the time of day jumps, as on a machine; how long something takes stays true. */
class FakeClock {
  readonly #file: string;
  #aheadS = 0;
  readonly environment: Readonly<Record<string, string>>;

  constructor(folder: string) {
    const library = ["x86_64", "aarch64"]
      .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
      .find(existsSync);
    if (library === undefined) throw new Error("This proof needs Debian's package faketime.");
    this.#file = join(folder, "clock");
    this.environment = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      // A thread that ends while it holds faketime's lock for the times of files stops the whole process.
      NO_FAKE_STAT: "1",
    };
    this.#write();
  }

  /** Up to two hours in either direction, and never more than twelve from the real time. */
  jump(random: Random): void {
    const by = 60 * (1 + random.below(120)) * (random.below(2) === 0 ? 1 : -1);
    this.#aheadS += Math.abs(this.#aheadS + by) > 12 * 3_600 ? -by : by;
    this.#write();
  }

  #write(): void {
    writeFileSync(this.#file, `${this.#aheadS < 0 ? "" : "+"}${this.#aheadS}`);
  }
}

/** The largest resident memory of a process in each of its lives, and whether it still grows at the end. */
class Memory {
  readonly #seen = new Map<string, Map<number, number[]>>();

  note(name: string, pid: number): void {
    const lives = this.#seen.get(name) ?? new Map<number, number[]>();
    this.#seen.set(name, lives);
    const mib = residentMib(pid);
    if (mib !== undefined) lives.set(pid, [...(lives.get(pid) ?? []), mib]);
  }

  *lines(faults: string[]): Generator<string> {
    for (const [name, lives] of this.#seen) {
      const largest = [...lives.values()].map((life) => Math.max(...life));
      const [least, most] = [Math.min(...largest), Math.max(...largest)];
      yield `| ${name}'s memory, the largest of each life, MiB | ${least} to ${most} |`;
      if (most > mostMib) faults.push(`${name} took ${most} MiB`);
    }
  }
}

const mostMib = 700;

function residentMib(pid: number): number | undefined {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return Math.round((Number(pages) * 4096) / 2 ** 20);
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  } catch {
    return [];
  }
}

/** The main process of the embedded server. */
function postgresOf(folder: string): number[] {
  const files = [...listed(folder)].filter((path) => path.endsWith("postmaster.pid"));
  return files.map((path) => Number(readFileSync(join(folder, path), "utf8").split("\n", 1)[0]));
}

function killFirst([pid]: readonly number[]): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile.
  }
}

function listed(folder: string): Set<string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Set(
    found.filter((one) => !one.isDirectory()).map((one) => relative(folder, join(one.parentPath, one.name))),
  );
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}
