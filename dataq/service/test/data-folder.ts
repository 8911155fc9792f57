import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import lockfile from "proper-lockfile";
import { compileCache } from "../../../testing/compile-cache.ts";
import { type Database, openDatabase } from "../src/database/database.ts";
import { migrate } from "../src/database/migrations.ts";
import { migrations } from "../src/schema.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

/**
 * Any PostgreSQL ≥ 15 with the right to create databases. Every test of the service uses its own database on it.
 */
const serverUrl = process.env["TEST_DATABASE_URL"];
/** The folder of this test run (`test-run.ts`). Outside a test run, nothing is prepared. */
const runFolder = process.env["DATAQ_TEST_RUN"];

export const isEmbedded = serverUrl === undefined;

/** The content of a new data folder: only tables, or everything that a first start creates. */
export type Prepared = "tables" | "first start";

/**
 * A data folder for one test. Creating a database and all samples takes seconds of CPU time, so a test run does it
 * once, when the first test needs it, and the others get copies. Outside a test run, a service generates its samples
 * itself.
 */
export async function makeDataFolder(prepared: Prepared): Promise<string> {
  const original = runFolder === undefined ? undefined : await prepare(prepared);
  const folder = mkdtempSync(join(runFolder ?? tmpdir(), "dataq-test-"));
  if (original !== undefined) {
    execFileSync("cp", ["-a", "--reflink=auto", `${original}/.`, folder]);
    if (!isEmbedded)
      await onServer(`create database "${databaseName(folder)}" template "${databaseName(original)}"`);
  } else {
    if (!isEmbedded) await onServer(`create database "${databaseName(folder)}"`);
    if (prepared === "tables") await makeTables(folder);
  }
  return folder;
}

export async function removeDataFolder(folder: string): Promise<void> {
  if (!isEmbedded) await onServer(`drop database if exists "${databaseName(folder)}" with (force)`);
  rmSync(folder, { recursive: true, force: true });
}

/** The database of a data folder, opened as its service does. */
export function openFolder(folder: string, poolSize?: number): Promise<Database> {
  return openDatabase({
    url: databaseUrl(folder),
    folder,
    progress: () => {},
    ...(poolSize && { poolSize }),
  });
}

/** Runs statements that only the owner of the tables may run, also on the embedded server. */
export async function queryAsOwner(database: Database, ...statements: readonly string[]): Promise<void> {
  const owner = await database.connectAsOwner();
  try {
    for (const statement of statements) await owner.query(statement);
  } finally {
    await owner.end();
  }
}

/**
 * Commits of this database no longer wait for the disk: for tests that kill no server. `alter system` would do nothing,
 * because the embedded server is started with its own setting.
 */
export async function commitWithoutDisk(database: Database): Promise<void> {
  if (!database.isEmbedded) return;
  await queryAsOwner(database, "alter role dataq_service set synchronous_commit = off");
  // Opening the database has left one connection, which keeps the old setting.
  await database.query("set synchronous_commit = off");
}

/** The environment that `dataq` needs to work on a data folder, and nothing else. */
export function environmentOf(folder: string): Record<string, string> {
  const url = databaseUrl(folder);
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "",
    DATAQ_DATA: folder,
    NODE_COMPILE_CACHE: compileCache,
    ...(url && { DATABASE_URL: url }),
  };
}

/** The URL of the folder's database; undefined if the folder has an embedded server. */
export function databaseUrl(folder: string): string | undefined {
  if (serverUrl === undefined) return undefined;
  const url = new URL(serverUrl);
  url.pathname = databaseName(folder);
  return url.href;
}

function databaseName(folder: string): string {
  return basename(folder);
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Removes what a run has prepared. */
export async function removeRun(folder: string): Promise<void> {
  for (const prepared of ["tables", "first start"] as const)
    await removeDataFolder(originalOf(folder, prepared));
  rmSync(folder, { recursive: true, force: true });
}

function originalOf(run: string, prepared: Prepared): string {
  return join(run, `${basename(run)}-${prepared.replace(" ", "-")}`);
}

/**
 * The original that the tests of this run copy. If two need it at once, one makes it and the other waits. Undefined
 * if root's embedded server had to put its files elsewhere: then there is nothing to copy.
 */
async function prepare(prepared: Prepared): Promise<string | undefined> {
  const original = originalOf(runFolder as string, prepared);
  const done = `${original}.done`;
  const lock = `${original}.lock`;
  mkdirSync(lock, { recursive: true });
  const release = await lockfile.lock(lock, { retries: { retries: 1_200, factor: 1, minTimeout: 100 } });
  try {
    if (!existsSync(done)) await (prepared === "tables" ? prepareTables(original) : prepareStart(original));
    mkdirSync(done, { recursive: true });
  } finally {
    await release();
  }
  return !isEmbedded || existsSync(join(original, "postgres", "cluster")) ? original : undefined;
}

async function prepareTables(original: string): Promise<void> {
  mkdirSync(original);
  if (!isEmbedded) await onServer(`create database "${databaseName(original)}"`);
  await makeTables(original);
}

export async function makeTables(folder: string): Promise<void> {
  const database = await openFolder(folder);
  await migrate(database, migrations);
  await database.close();
}

/** Like an operator's first start, until the last sample is ready. */
async function prepareStart(original: string): Promise<void> {
  const folder = await makeDataFolder("tables");
  const child = spawn(process.execPath, ["--conditions=source", main, "serve", "--json"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...environmentOf(folder), DATAQ_HOST: "127.0.0.1:0", DATAQ_LAWS: "off" },
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
    if (log.includes("Samples created.")) child.kill("SIGTERM");
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The first start of this test run ended with ${code}:\n${log}`);
  if (!isEmbedded)
    await onServer(`alter database "${databaseName(folder)}" rename to "${databaseName(original)}"`);
  renameSync(folder, original);
}
