import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Binaries } from "./binaries.ts";
import { type Cluster, serverEnvironment } from "./cluster.ts";
import type { Owner } from "./owner.ts";

/** How to reach an embedded server. */
export interface Connection {
  /** A folder with a socket, or a loopback address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** The content of postmaster.pid, if its process is alive and really is the server of this cluster. */
export interface Postmaster {
  readonly pid: number;
  readonly connection: Connection;
}

const LONGEST_SOCKET_PATH = 100;
const LOG_SIZE_BYTES = 16 * 1024 * 1024;

/** A server that has not written yet where it listens. */
interface StartingPostmaster {
  readonly pid: number;
  readonly connection?: undefined;
}

/** The running server of a cluster, if there is one. */
export function findPostmaster(data: string, password: string): Postmaster | StartingPostmaster | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !isServerOf(pid, data)) return undefined;
  // The folder of its socket, or the address where there are no sockets. They are the last to be written; the usual
  // address meanwhile may be another PostgreSQL, which must not see the password.
  const host = lines[4]?.trim() || lines[5]?.trim();
  const port = Number(lines[3]);
  if (!host || !port) return { pid };
  return {
    pid,
    connection: {
      host,
      port,
      user: "dataq",
      password,
      database: "postgres",
    },
  };
}

/**
 * A process ID alone proves nothing: after a reboot or in a restarted container, the number in an old postmaster.pid
 * often belongs to another process.
 */
function isServerOf(pid: number, data: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  if (process.platform === "win32") return isPostgresOnWindows(pid);
  const command = existsSync("/proc/self/cmdline") ? readCommand(pid) : askPs(pid);
  return command.includes("postgres") && command.includes(data);
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function askPs(pid: number): string {
  return spawnSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8" }).stdout ?? "";
}

/**
 * Opens our end of the pipe that the server's watcher reads. The server stays as long as a process has it open.
 */
export function openLifeline(cluster: Cluster, owner: Owner): number | undefined {
  const path = join(cluster.run, "lifeline");
  if (!existsSync(path)) spawnSync("mkfifo", ["-m", "600", path], { ...owner.ids, cwd: "/" });
  if (!statSync(path, { throwIfNoEntry: false })?.isFIFO()) return undefined;
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

/**
 * Starts the server and waits until it answers. It runs in its own session, so that Ctrl-C in the terminal reaches
 * only this process, which then stops it properly. Its watcher stops it when the last process with an open lifeline
 * has ended, however that process ended.
 */
export async function startPostmaster(
  cluster: Cluster,
  owner: Owner,
  binaries: Binaries,
): Promise<Postmaster> {
  await clearLeftLocks(cluster);
  if (process.platform === "win32") return await startOnWindows(cluster, binaries);
  const log = openLog(cluster, owner);
  const socket = join(cluster.run, ".s.PGSQL.5432");
  const onSocket = Buffer.byteLength(socket) <= LONGEST_SOCKET_PATH;
  const all = {
    ...(onSocket
      ? {
          listen_addresses: "",
          port: "5432",
          unix_socket_directories: cluster.run,
          unix_socket_permissions: "0700",
        }
      : { listen_addresses: "127.0.0.1", port: String(await findFreePort()), unix_socket_directories: "" }),
    ...settings,
    log_line_prefix: "%m [%p] ",
  };
  const script = [
    "lifeline=$1 data=$2; shift 2",
    'if [ -p "$lifeline" ]; then',
    '  ( ( read -r _ <"$lifeline"; read -r pid <"$data/postmaster.pid" && [ "$pid" = $$ ] && kill -INT $$ ) 2>/dev/null & )',
    "fi",
    'exec "$@"',
  ].join("\n");
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      script,
      "dataq-postgres",
      join(cluster.run, "lifeline"),
      cluster.data,
      binaries.postgres,
      "-D",
      cluster.data,
      ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    {
      ...owner.ids,
      cwd: "/",
      detached: true,
      stdio: ["ignore", log, log],
      env: serverEnvironment(),
    },
  );
  closeSync(log);
  child.unref();
  let ended: string | undefined;
  child.on("error", (error) => {
    ended = error.message;
  });
  child.on("exit", (code, signal) => {
    ended = `it ended with ${signal ?? code}`;
  });
  return await firstAnswer(cluster, () => ended);
}

async function firstAnswer(cluster: Cluster, ended: () => string | undefined): Promise<Postmaster> {
  for (;;) {
    const reason = ended();
    if (reason) throw new Error(`PostgreSQL did not start: ${reason}. Its log: ${tailOf(cluster)}`);
    const found = findPostmaster(cluster.data, cluster.password);
    if (found?.connection && (await answers(found.connection))) return found;
    await sleep(20);
  }
}

/** The settings on every system. */
const settings = {
  max_connections: "100",
  shared_buffers: "128MB",
  max_wal_size: "1GB",
  wal_level: "minimal",
  max_wal_senders: "0",
  timezone: "UTC",
  log_timezone: "UTC",
  jit: "off",
  // The defaults, stated explicitly because balances depend on them.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
};

/**
 * Windows has no sockets by path that PostgreSQL's clients use here, no pipe that closes with its last user, and no
 * signals, so pg_ctl starts and stops the server on a free loopback port. pg_ctl also drops an administrator's rights,
 * with which PostgreSQL refuses to run. Never run here.
 */
async function startOnWindows(cluster: Cluster, binaries: Binaries): Promise<Postmaster> {
  const network = { listen_addresses: "127.0.0.1", port: String(await findFreePort()) };
  const options = Object.entries({ ...network, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  const log = join(cluster.home, "postgres.log");
  const parameters = ["start", "-W", "-D", cluster.data, "-l", log, "-o", options.join(" ")];
  const started = spawnSync(binaries.control, parameters, { env: serverEnvironment(), stdio: "ignore" });
  const reason = started.status === 0 ? undefined : `pg_ctl ended with ${started.status}`;
  return await firstAnswer(cluster, () => reason);
}

/** Windows shows the program of a process, but not its data folder. */
function isPostgresOnWindows(pid: number): boolean {
  const query = ["/FI", `PID eq ${pid}`, "/NH", "/FO", "CSV"];
  return /postgres/i.test(spawnSync("tasklist", query, { encoding: "utf8" }).stdout ?? "");
}

/**
 * PostgreSQL refuses to start if the number in an old lock file belongs to any live process, even a zombie or an
 * unrelated one. The caller knows that it is not the server, so the files can be removed once no process of the old
 * server is attached to its shared memory.
 */
async function clearLeftLocks(cluster: Cluster): Promise<void> {
  const pidFile = join(cluster.data, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const memory = readFileSync(pidFile, "utf8").split("\n")[6]?.trim().split(/\s+/)[1];
  while (memory && isMemoryInUse(memory)) await sleep(50);
  for (const path of [pidFile, join(cluster.run, ".s.PGSQL.5432.lock")]) rmSync(path, { force: true });
}

/** Linux lists System V segments with the number of attached processes. On other systems this is unknown. */
function isMemoryInUse(id: string): boolean {
  try {
    const rows = readFileSync("/proc/sysvipc/shm", "utf8").split("\n").slice(1);
    return rows.some((row) => {
      const [, shmid, , , , , attached] = row.trim().split(/\s+/);
      return shmid === id && Number(attached) > 0;
    });
  } catch {
    return false;
  }
}

/** Whether the server accepts connections now. */
export async function answers(connection: Connection): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch (error) {
    // A wrong password stays wrong. All other errors (starting, stopping, no socket yet) are temporary.
    if ((error as { code?: string }).code === "28P01") throw error;
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Fast shutdown: open transactions are rolled back, the log is flushed. Waits until it is over. */
export async function stopPostmaster(data: string, pid: number, binaries: Binaries): Promise<void> {
  try {
    if (process.platform === "win32") spawnSync(binaries.control, ["stop", "-m", "fast", "-D", data]);
    else process.kill(pid, "SIGINT");
  } catch {
    return;
  }
  while (isServerOf(pid, data)) await sleep(20);
}

function openLog(cluster: Cluster, owner: Owner): number {
  const path = join(cluster.home, "postgres.log");
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_SIZE_BYTES)
    renameSync(path, `${path}.old`);
  const log = openSync(path, "a", 0o600);
  if (owner.ids) chownSync(path, owner.ids.uid, owner.ids.gid);
  return log;
}

function tailOf(cluster: Cluster): string {
  const text = readFileSync(join(cluster.home, "postgres.log"), "utf8");
  return text.trim().split("\n").slice(-5).join(" | ");
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
