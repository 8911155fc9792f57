import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure, invalid } from "@dataq/contract";
import type { job, Sent } from "@dataq/contract/wire";
import { WORK_CONNECTIONS } from "../database/connections.ts";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { ImportReport } from "../importer/import-file.ts";
import { inChinese, inEnglish, type Message, readMessage, say } from "../importer/message.ts";
import { lastRuns, type RunState } from "../importer/runs.ts";
import { importNames } from "../operations/imports.ts";

/** An import or a rebuild, as the operator sees it. */
export type Job = Sent<typeof job>;

interface Running {
  readonly id: string;
  readonly kind: Job["kind"];
  readonly child: ChildProcess;
}

/** Options of the command line's import. */
export interface ImportWishes {
  readonly dataset?: string | undefined;
  readonly update?: boolean | undefined;
  readonly dry_run?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly source?: string | undefined;
  readonly kind?: string | undefined;
  readonly licence?: string | undefined;
  readonly retrieved?: string | undefined;
  readonly table?: string | undefined;
  readonly accept_versions?: boolean | undefined;
}

/** Maximum number of concurrent jobs. More would only wait for the disk. */
const AT_A_TIME = 2;
const KEPT = 50;
const MESSAGE_LIMIT = 500;
const TELL_EVERY_MS = 500;
const REPORT_LIMIT = 4 * 1024 * 1024;

/**
 * Jobs that an operator starts over HTTP. Each runs the command line in its own process, so that a large file does not
 * slow down the service or use its memory. Their state is in the database, so that every service can show it.
 */
export class Jobs {
  readonly #database: Database;
  readonly #instanceId: number;
  readonly #clock: () => Date;
  readonly #onEnded: () => void;
  readonly #running = new Set<Running>();

  /** `onEnded` is called when a job has ended, before its state says so. */
  constructor(database: Database, instanceId: number, clock: () => Date, onEnded: () => void) {
    this.#database = database;
    this.#instanceId = instanceId;
    this.#clock = clock;
    this.#onEnded = onEnded;
  }

  /** Throws `invalid_params` for an unknown target, and `already_exists` while a job for the target runs. */
  async startImport(operation: string, from: string, options: ImportWishes = {}): Promise<Job> {
    if (!importNames.includes(operation)) throw unknownTarget(operation);
    const flags = Object.entries(options).flatMap(([name, value]) => {
      const flag = `--${name.replace("_", "-")}`;
      return value === true ? [flag] : typeof value === "string" ? [`${flag}=${value}`] : [];
    });
    return this.#start("import", operation, from, ["import", "--json", ...flags, "--", operation, from]);
  }

  /** Brings a set of open data, or all that can be brought. Who starts it has agreed that a live set's publisher is asked. */
  getOpenData(name: string): Promise<Job> {
    const what = name === "all" ? ["--all"] : ["--yes", "--", name];
    return this.#start("import", "open_data", name, ["data", "get", ...what]);
  }

  /** Rebuilds an index while the old one keeps serving. Throws `invalid_params` for one that does not exist. */
  async refreshIndex(operation: string): Promise<Job> {
    const found = await this.#database.query<{ corpus: string }>(
      "select corpus from search_corpus where corpus not like '%#packs' order by corpus",
    );
    const known = found.rows.map(({ corpus }) => corpus);
    if (!known.includes(operation)) throw unknownIndex(operation, known);
    return this.#start("index", operation, "", ["index", "build", "--", operation]);
  }

  changeDataset(kind: "remove" | "restore", operation: string, name: string): Promise<Job> {
    return this.#start(kind, operation, name, ["datasets", kind, "--operation", operation, "--", name]);
  }

  /** A job with the report of its import; undefined for runs of the command line. */
  async find(id: string): Promise<(Job & { readonly report: ImportReport | null }) | undefined> {
    await this.#endCutOff();
    const found = await this.#database.query<JobRow & { report: ImportReport | null }>(
      `select ${columns}, report from job where id = $1`,
      [id],
    );
    const row = found.rows[0];
    return row && { ...jobOfRow(row), report: row.report };
  }

  /** Lists jobs, newest first: those that were started over HTTP, then the latest runs of the command line. */
  async list(): Promise<Job[]> {
    await this.#endCutOff();
    const [runs, rows] = await Promise.all([
      lastRuns(this.#database),
      this.#database.query<JobRow>(`select ${columns} from job order by id desc limit ${KEPT}`),
    ]);
    const own = rows.rows.map((row) => withProgress(jobOfRow(row), runs));
    const isOwn = (run: RunState) =>
      own.some(({ operation, from }) => operation === run.target && (from === run.origin || from === ""));
    const others = runs.filter((run) => !isOwn(run)).map(jobOfRun);
    return [...own, ...others.sort((a, b) => b.started_at.getTime() - a.started_at.getTime())].slice(0, KEPT);
  }

  /** Stops running jobs. The next import of the same file continues where they stopped. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#running].map(
        ({ child }) =>
          new Promise((resolve) => {
            child.once("close", resolve);
            child.kill("SIGTERM");
          }),
      ),
    );
    await this.#database
      .query(
        "update job set state = 'failed', said = $2, ended_at = $3 where instance_id = $1 and state = 'running'",
        [this.#instanceId, JSON.stringify(say("cut_off")), this.#clock()],
      )
      .catch(() => {});
  }

  async #start(kind: Job["kind"], operation: string, from: string, args: readonly string[]): Promise<Job> {
    await this.#endCutOff();
    if (this.#running.size >= AT_A_TIME) throw new Failure("concurrency_limited", { retry_after: 5 });
    const takeBack = await this.#database.lend(WORK_CONNECTIONS);
    if (takeBack === undefined) throw new Failure("concurrency_limited", { retry_after: 5 });
    const now = this.#clock();
    const id = makeIdentifier("job", now);
    try {
      const made = await this.#database.query<JobRow>(
        `insert into job (id, instance_id, kind, operation, origin, state, started_at)
         values ($1, $2, $3, $4, $5, 'running', $6) on conflict do nothing returning ${columns}`,
        [id, this.#instanceId, kind, operation, from, now],
      );
      const row = made.rows[0];
      if (row === undefined)
        throw new Failure("already_exists", { what: `A running import or build of ${operation}` });
      const child = spawn(process.execPath, [...process.execArgv, mainOf(import.meta.url), ...args], {
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      });
      this.#follow({ id, kind, child }, takeBack);
      return jobOfRow(row);
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  #follow(running: Running, takeBack: () => void): void {
    const { id, kind, child } = running;
    this.#running.add(running);
    let lastLine = "";
    child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
      lastLine = chunk.trim().split("\n").at(-1)?.trim() || lastLine;
    });
    // Messages for the console arrive through the IPC channel. The lines on standard error are for a
    // terminal.
    let said: Message | null = null;
    let toldMs = 0;
    child.on("message", (news: { said?: unknown }) => {
      said = readMessage(news.said);
      if (performance.now() - toldMs < TELL_EVERY_MS) return;
      toldMs = performance.now();
      this.#write("said = $2 where id = $1 and state = 'running'", [id, JSON.stringify(said)]);
    });
    let report = "";
    child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
      report = (report + chunk).slice(-REPORT_LIMIT);
    });
    const end = (state: "done" | "failed", last: Message, imported: ImportReport | null = null) => {
      if (!this.#running.delete(running)) return;
      takeBack();
      this.#onEnded();
      this.#write("state = $2, said = $3, report = $4, ended_at = $5 where id = $1", [
        id,
        state,
        JSON.stringify(last),
        imported && JSON.stringify(imported),
        this.#clock(),
      ]);
    };
    child.once("error", (error) => end("failed", say("failed", { reason: error.message })));
    child.once("close", (code, signal) => {
      if (code === 0) {
        const imported = kind === "import" ? reportIn(report) : null;
        end("done", lastWords(kind, imported, said), imported);
      } else if (signal) end("failed", say("ended", { signal }));
      else end("failed", said ?? say("failed", { reason: lastLine.replace(/^dataq: /, "") }));
    });
  }

  /** A lost write leaves the job running until its service stops. */
  #write(change: string, values: unknown[]): void {
    this.#database.query(`update job set ${change}`, values).catch(() => {});
  }

  /** Ends the jobs of services that were killed, and forgets the oldest. */
  async #endCutOff(): Promise<void> {
    await this.#database.query(
      `update job j set state = 'failed', said = $1, ended_at = $2
        where state = 'running' and not exists (select from instance i where i.id = j.instance_id)`,
      [JSON.stringify(say("cut_off")), this.#clock()],
    );
    await this.#database.query(
      `delete from job where state <> 'running' and id < (select id from job order by id desc offset ${KEPT} limit 1)`,
    );
  }
}

interface JobRow {
  readonly id: string;
  readonly kind: Job["kind"];
  readonly operation: string;
  readonly origin: string;
  readonly state: Job["state"];
  readonly said: unknown;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

const columns = "id, kind, operation, origin, state, said, started_at, ended_at";

function jobOfRow({ origin, said, ...row }: JobRow): Job {
  return { ...row, from: origin, done: 0, total: null, ...told(readMessage(said)) };
}

/** The report of the command line; null if it was too long to keep. */
function reportIn(text: string): ImportReport | null {
  try {
    return JSON.parse(text) as ImportReport;
  } catch {
    return null;
  }
}

function lastWords(kind: Job["kind"], report: ImportReport | null, said: Message | null): Message {
  if (kind === "index") return say("index_refreshed");
  if (kind !== "import") return said ?? say("finished");
  // The import succeeded even if its report was too long to keep.
  if (report === null) return say("finished");
  const { outcome, records, badRows } = report;
  if (outcome === "dry_run") return say("checked", { records, bad: badRows });
  return outcome === "unchanged" ? say("unchanged") : importedOf(records, badRows);
}

function importedOf(records: number, bad: number): Message {
  return say(bad === 0 ? "imported" : "imported_but", { records, bad });
}

function told(said: Message | null): Pick<Job, "message" | "message_zh"> {
  if (said === null) return silence;
  const [message, message_zh] = [inEnglish(said), inChinese(said)];
  return { message: message.slice(0, MESSAGE_LIMIT), message_zh: message_zh.slice(0, MESSAGE_LIMIT) };
}

const silence = { message: "", message_zh: "" };

function withProgress(job: Job, runs: readonly RunState[]): Job {
  const run = runs.find(({ target, updated_at }) => target === job.operation && updated_at >= job.started_at);
  return run ? { ...job, done: run.done, total: run.total } : job;
}

function jobOfRun(run: RunState): Job {
  const last = run.state === "done" ? importedOf(run.done, run.bad_rows) : run.said;
  return {
    id: `${run.target} ${run.dataset}`,
    kind: "import",
    operation: run.target,
    from: run.origin,
    state: run.state,
    done: run.done,
    total: run.total,
    // A message that this version does not know is shown as it was written.
    ...(last === null && run.message !== null
      ? { message: run.message, message_zh: run.message }
      : told(last)),
    started_at: run.updated_at,
    ended_at: run.state === "running" ? null : run.updated_at,
  };
}

/** The command line next to this file, as source or as built JavaScript. */
function mainOf(here: string): string {
  return fileURLToPath(new URL(`../cli/main${extname(here)}`, here));
}

function unknownIndex(operation: string, known: readonly string[]): Failure {
  return invalid(
    "operation",
    "unknown",
    `${operation.slice(0, 64)} has no index`,
    known.length === 0 ? "import records first" : `send one of ${known.join(", ")}`,
    known.length === 0 ? "请先导入数据" : `可选：${known.join("、")}`,
  );
}

function unknownTarget(operation: string): Failure {
  return invalid(
    "operation",
    "unknown",
    `${operation.slice(0, 64)} cannot be imported`,
    `send one of ${importNames.join(", ")}`,
    `可选：${importNames.join("、")}`,
  );
}
