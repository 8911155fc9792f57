import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure, invalid } from "@dataq/contract";
import type { job, Sent } from "@dataq/contract/wire";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { ImportReport } from "../importer/import-file.ts";
import { inChinese, inEnglish, type Message, readMessage, say } from "../importer/message.ts";
import { lastRuns, type RunState } from "../importer/runs.ts";
import { importNames } from "../operations/imports.ts";

/** An import or a rebuild, as the operator sees it. */
export type Job = Sent<typeof job>;

interface Running {
  job: Job;
  report: ImportReport | null;
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
const REPORT_LIMIT = 4 * 1024 * 1024;

/**
 * Jobs that an operator starts over HTTP. Each runs the command line in its own process, so that a large file does not
 * slow down the service or use its memory.
 */
export class Jobs {
  readonly #database: Database;
  readonly #clock: () => Date;
  #running: Running[] = [];

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Throws `invalid_params` for an unknown target, and `already_exists` while a job for the target runs. */
  startImport(operation: string, from: string, options: ImportWishes = {}): Job {
    if (!importNames.includes(operation)) throw unknownTarget(operation);
    const flags = Object.entries(options).flatMap(([name, value]) => {
      const flag = `--${name.replace("_", "-")}`;
      return value === true ? [flag] : typeof value === "string" ? [`${flag}=${value}`] : [];
    });
    return this.#start("import", operation, from, ["import", "--json", ...flags, "--", operation, from]);
  }

  /** Rebuilds the index while the old one keeps serving. */
  refreshIndex(): Job {
    return this.#start("index", "legal_cases", "", ["index", "build", "legal_cases"]);
  }

  changeDataset(kind: "remove" | "restore", operation: string, name: string): Job {
    return this.#start(kind, operation, name, ["datasets", kind, "--operation", operation, "--", name]);
  }

  /** A job of this service, with the report of its import; undefined for other jobs. */
  find(id: string): (Job & { readonly report: ImportReport | null }) | undefined {
    const found = this.#running.find(({ job }) => job.id === id);
    return found && { ...found.job, report: found.report };
  }

  /**
   * Lists jobs, newest first: those of this service, then the latest runs of other processes such as the
   * command line.
   */
  async list(): Promise<Job[]> {
    const runs = await lastRuns(this.#database);
    const own = this.#running.map(({ job }) => withProgress(job, runs));
    const isOwn = (run: RunState) =>
      own.some(({ operation, from }) => operation === run.target && (from === run.origin || from === ""));
    const others = runs.filter((run) => !isOwn(run)).map(jobOfRun);
    return [...own, ...others.sort((a, b) => b.started_at.getTime() - a.started_at.getTime())].slice(0, KEPT);
  }

  /** Stops running jobs. The next import of the same file continues where they stopped. */
  async close(): Promise<void> {
    const open = this.#running.filter(({ job }) => job.state === "running");
    await Promise.all(
      open.map(
        ({ child }) =>
          new Promise((resolve) => {
            child.once("close", resolve);
            child.kill("SIGTERM");
          }),
      ),
    );
  }

  #start(kind: Job["kind"], operation: string, from: string, args: readonly string[]): Job {
    const open = this.#running.filter(({ job }) => job.state === "running");
    if (open.some(({ job }) => job.operation === operation))
      throw new Failure("already_exists", { what: `A running import or build of ${operation}` });
    if (open.length >= AT_A_TIME) throw new Failure("concurrency_limited", { retry_after: 5 });
    const child = spawn(process.execPath, [...process.execArgv, mainOf(import.meta.url), ...args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const now = this.#clock();
    const job: Job = {
      id: makeIdentifier("job", now),
      kind,
      operation,
      from,
      state: "running",
      done: 0,
      total: null,
      ...silence,
      started_at: now,
      ended_at: null,
    };
    const running: Running = { job, child, report: null };
    this.#running = [running, ...this.#running].slice(0, KEPT);
    this.#follow(running);
    return job;
  }

  #follow(running: Running): void {
    let lastLine = "";
    running.child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
      lastLine = chunk.trim().split("\n").at(-1)?.trim() || lastLine;
    });
    // Messages for the console arrive through the IPC channel. The lines on standard error are for a
    // terminal.
    let said: Message | null = null;
    running.child.on("message", (news: { said?: unknown }) => {
      said = readMessage(news.said);
      running.job = { ...running.job, ...told(said) };
    });
    let report = "";
    running.child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
      report = (report + chunk).slice(-REPORT_LIMIT);
    });
    const end = (state: "done" | "failed", last: Message) => {
      running.job = { ...running.job, ...told(last), state, ended_at: this.#clock() };
    };
    running.child.once("error", (error) => end("failed", say("failed", { reason: error.message })));
    running.child.once("close", (code, signal) => {
      if (running.job.state !== "running") return;
      if (code === 0) {
        running.report = running.job.kind === "import" ? reportIn(report) : null;
        end("done", lastWords(running, said));
      } else if (signal) end("failed", say("ended", { signal }));
      else end("failed", said ?? say("failed", { reason: lastLine.replace(/^dataq: /, "") }));
    });
  }
}

/** The report of the command line; null if it was too long to keep. */
function reportIn(text: string): ImportReport | null {
  try {
    return JSON.parse(text) as ImportReport;
  } catch {
    return null;
  }
}

function lastWords({ job, report }: Running, said: Message | null): Message {
  if (job.kind === "index") return say("index_refreshed");
  if (job.kind !== "import") return said ?? say("finished");
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

function unknownTarget(operation: string): Failure {
  return invalid(
    "operation",
    "unknown",
    `${operation.slice(0, 64)} cannot be imported`,
    `send one of ${importNames.join(", ")}`,
    `可选：${importNames.join("、")}`,
  );
}
