import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { counted } from "@dataq/contract";
import { Command } from "commander";
import { findSecret } from "../../accounts/local-account.ts";
import { megabytes, writeBackup } from "../../backup/backup.ts";
import { Bucket } from "../../backup/bucket.ts";
import { noteBackup } from "../../backup/log.ts";
import { rehearse } from "../../backup/rehearse.ts";
import { type Config, readConfig } from "../../config.ts";
import { type Database, openDatabase } from "../../database/database.ts";
import { migrations } from "../../schema.ts";
import { readAmount, readCount } from "../numbers.ts";
import { withOwnDatabase } from "../own-database.ts";

/** `dataq backup <file>`, and what it does with a store that speaks S3. */
export function backupCommand(): Command {
  const command = new Command("backup")
    .description("write a backup of the database while services run (docs/dataq/backups.md)")
    .argument("<file>", "the file to create, such as dataq-2026-11-22.tar")
    .addHelpText(
      "after",
      `
Examples:
  dataq backup /backups/dataq-$(date +%F).tar
  DATAQ_BACKUPS=s3+https://… dataq backup store --keep 30
  dataq backup rehearse          # the newest one, restored into a side database and verified
  DATABASE_URL=postgres://… dataq backup /backups/dataq.tar

The backup does not contain the secret of the service. Keep it as well: without it, no key works.`,
    )
    .action(async (path: string) => {
      const file = resolve(path);
      await withOwnDatabase(own, async (database, config) => {
        const { takenAt, tables, rows, bytes } = await writeBackup(database, file, new Date(), tell);
        console.log(
          `${file}: ${counted(rows, "row")} of ${counted(tables, "table")} as of ${takenAt.toISOString()}, ${megabytes(bytes)}`,
        );
        console.log(keepSecret(config));
      });
    });
  command
    .command("store")
    .description("write a backup and put it into the store of DATAQ_BACKUPS")
    .option("--keep <n>", "then remove all but the newest n backups there", readCount)
    .action(async ({ keep }: { keep?: number }) => {
      if (keep === 0) throw new Error("--keep is 0; keep at least 1 backup.");
      const bucket = bucketOf(readConfig());
      await withOwnDatabase(own, async (database, config) => {
        await inPlace(config.dataFolder, async (folder) => {
          const now = new Date();
          const name = nameAt(now);
          const file = join(folder, name);
          const { takenAt, rows, bytes } = await writeBackup(database, file, now, tell);
          await bucket.put(name, file, (done) => tell(`Stored ${megabytes(done)} of ${megabytes(bytes)}.`));
          await noteBackup(database.pool, { at: new Date(), kind: "stored", name, takenAt, bytes });
          console.log(`${bucket.place}${name}: ${counted(rows, "row")}, ${megabytes(bytes)}`);
        });
        const known = keep === undefined ? [] : (await stored(bucket)).slice(0, -keep);
        for (const { name } of known) {
          await bucket.remove(name);
          console.log(`Removed ${name}.`);
        }
        console.log(keepSecret(config));
      });
    });
  command
    .command("list")
    .description("list the backups in the store of DATAQ_BACKUPS, oldest first")
    .action(async () => {
      const bucket = bucketOf(readConfig());
      const found = await stored(bucket);
      for (const { name, bytes } of found) console.log(`${name}  ${megabytes(bytes)}`);
      if (found.length === 0) console.log(`No backup in ${bucket.place}.`);
    });
  command
    .command("fetch")
    .description("download a backup from the store of DATAQ_BACKUPS")
    .argument("<name>", "as `dataq backup list` shows it, or `newest`")
    .argument("[file]", "the file to create; its name by default")
    .action(async (name: string, path?: string) => {
      const bucket = bucketOf(readConfig());
      const found = await find(bucket, name);
      const file = resolve(path ?? found);
      if (existsSync(file))
        throw new Error(`${file} already exists. Choose another name, or delete the file.`);
      await bucket.get(found, file);
      console.log(`${file}: ${megabytes((await stat(file)).size)}`);
    });
  command
    .command("rehearse")
    .description(
      "restore a backup into a side database, verify its ledger, and compare it with the one in use",
    )
    .argument("[backup]", "a file, or a name in the store of DATAQ_BACKUPS; the newest there by default")
    .option(
      "--into <url>",
      "an empty PostgreSQL database; by default a temporary embedded one, which is removed",
    )
    .option("--at-most-hours <n>", "fail if the backup is older", readAmount)
    .action(async (backup: string | undefined, options: { into?: string; atMostHours?: number }) => {
      const config = readConfig();
      const secret = await findSecret(config.dataFolder, config.secret);
      await inPlace(config.dataFolder, async (folder) => {
        const file = await backupFile(config, backup, folder);
        const begun = performance.now();
        const side = await openDatabase({
          url: options.into,
          folder: join(folder, "side"),
          poolSize: 2,
          applicationName: "dataq rehearsal",
          progress: () => {},
        });
        const report = await withLive(config, (live) =>
          rehearse(side, file, { live, migrations, secret, progress: tell })
            .then(async (done) => {
              if (live !== undefined)
                await noteBackup(live.pool, {
                  at: new Date(),
                  kind: "rehearsed",
                  name: backup ?? file.slice(folder.length + 1),
                  takenAt: done.takenAt,
                  bytes: (await stat(file)).size,
                  entries: done.covers.entries,
                });
              return { ...done, isCompared: live !== undefined };
            })
            .finally(() => closeSide(side, options.into)),
        );
        const { takenAt, rows, covers, isCompared } = report;
        const seconds = ((performance.now() - begun) / 1000).toFixed(0);
        console.log(
          `Rehearsed the backup of ${takenAt.toISOString()} in ${seconds} s: ${counted(rows, "row")} restored, ${counted(covers.entries, "entry", "entries")} of the ledger verified${isCompared ? ", and the ledger in use continues it" : ""}.`,
        );
        const hours = (Date.now() - takenAt.getTime()) / 3_600_000;
        if (options.atMostHours !== undefined && hours > options.atMostHours)
          throw new Error(`The backup is ${hours.toFixed(1)} hours old, more than ${options.atMostHours}.`);
      });
    });
  return command;
}

const own = { applicationName: "dataq backup", poolSize: 1, tables: "as is" } as const;

function tell(line: string): void {
  console.error(line);
}

function keepSecret(config: Config): string {
  return config.secret === undefined
    ? `Keep ${join(config.dataFolder, "secret")} as well, in another place: without it, no key of this backup works.`
    : "Keep DATAQ_SECRET as well, in another place: without it, no key of this backup works.";
}

function bucketOf({ backups }: Config): Bucket {
  if (backups !== undefined) return new Bucket(backups);
  throw new Error(
    "DATAQ_BACKUPS is not set. Set it to a bucket, such as s3+https://access-key:secret-key@s3.example.com/bucket.",
  );
}

/** Names sort by time. */
function nameAt(now: Date): string {
  return `dataq-${now.toISOString().replace(/[-:]|\.\d{3}/g, "")}.tar`;
}

async function stored(bucket: Bucket) {
  return (await bucket.list()).filter(({ name }) => /^dataq-\d{8}T\d{6}Z\.tar$/.test(name));
}

async function find(bucket: Bucket, wanted: string): Promise<string> {
  const found = await stored(bucket);
  const name = wanted === "newest" ? found.at(-1)?.name : found.find((one) => one.name === wanted)?.name;
  if (name !== undefined) return name;
  throw new Error(
    found.length === 0
      ? `No backup in ${bucket.place}.`
      : `No backup ${wanted} in ${bucket.place}. The newest is ${found.at(-1)!.name}.`,
  );
}

/** The file itself, or a copy of a stored backup in `folder`. */
async function backupFile(config: Config, wanted: string | undefined, folder: string): Promise<string> {
  if (wanted !== undefined && existsSync(wanted)) return resolve(wanted);
  if (wanted !== undefined && config.backups === undefined)
    throw new Error(`${resolve(wanted)} was not found. Check the path of the backup.`);
  const bucket = bucketOf(config);
  const name = await find(bucket, wanted ?? "newest");
  const file = join(folder, name);
  tell(`Fetching ${name} …`);
  await bucket.get(name, file);
  return file;
}

/** Runs with the database in use, if there is one here: a rehearsal also works on another machine. */
async function withLive<Result>(
  { dataFolder, databaseUrl }: Config,
  run: (live: Database | undefined) => Promise<Result>,
): Promise<Result> {
  if (databaseUrl === undefined && !existsSync(join(dataFolder, "postgres"))) return run(undefined);
  return withOwnDatabase({ ...own, applicationName: "dataq rehearsal" }, (database) => run(database));
}

/** The files of a temporary server may be elsewhere: as root, PostgreSQL runs as a user who cannot enter every folder. */
async function closeSide(side: Database, into: string | undefined): Promise<void> {
  const owner = await side.connectAsOwner();
  const found = await owner.query<{ folder: string }>("select current_setting('data_directory') as folder");
  await owner.end();
  await side.close();
  if (into === undefined) await rm(dirname(found.rows[0]!.folder), { recursive: true, force: true });
}

const workName = "backup-";
const DAY_MS = 86_400_000;

/** A folder for large files, removed in the end; also what a killed command left there. */
async function inPlace<Result>(
  dataFolder: string,
  run: (folder: string) => Promise<Result>,
): Promise<Result> {
  const base = existsSync(dataFolder) ? dataFolder : tmpdir();
  for (const name of await readdir(base)) {
    const path = join(base, name);
    if (!name.startsWith(workName) || Date.now() - (await stat(path)).mtimeMs < DAY_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(base, workName));
  // For the user of an embedded server; the folder's own files are 0600.
  await chmod(folder, 0o711);
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
