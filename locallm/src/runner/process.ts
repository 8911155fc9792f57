import type { ChildProcess, SendHandle } from "node:child_process";
import { createInterface } from "node:readline";
import { anonymousBytes } from "../engine/anonymous-bytes.ts";
import { withoutPaths } from "../engine/libllama/without-paths.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import {
  type GenerateEvent,
  type GenerateJob,
  type PromptPart,
  type PromptText,
  promptChars,
  surelyTooLong,
} from "../wire/inference/generate.ts";
import type { LoadRequest, ModelInfo, VocabularyInfo } from "../wire/inference/load.ts";
import { type EncodedPicture, isPicture, picturesOf } from "../wire/inference/picture.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import type { Outlet, Runner, RunnerExit, RunnerStart, Shelf } from "./handle.ts";
import { Heartbeat, heartbeatLimits } from "./heartbeat.ts";
import { JobStream } from "./job-stream.ts";
import { Loans } from "./loans.ts";
import { type Command, type Report, receiveError } from "./protocol.ts";

const keptLogLines = 40;
/** If a runner has not ended this long after a request to end, it is killed. */
const closeMs = 2_000;

interface Call {
  answer(report: Report): void;
  fail(error: unknown): void;
}

/**
 * The server's side of a runner process. It matches reports to calls, and detects when the process ends or
 * hangs.
 */
export class RunnerProcess implements Runner {
  readonly pid: number;
  readonly exited: Promise<RunnerExit>;
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, Call>();
  readonly #streams = new Map<number, JobStream>();
  readonly #loans = new Loans((lend, handle) => this.#send(lend, handle));
  /** The pictures of running jobs. */
  readonly #pictures = new Map<number, readonly EncodedPicture[]>();
  readonly #log: string[] = [];
  readonly #onProgress: ((fraction: number) => void) | undefined;
  readonly #heartbeat: Heartbeat;
  readonly #everyMs: number;
  readonly #conversations: RunnerStart["conversations"];
  readonly #chooseWindow: RunnerStart["chooseWindow"];
  readonly #onGrow: RunnerStart["onGrow"];
  #shelf: Shelf | null = null;
  #killing: NodeJS.Timeout | null = null;
  #asking: NodeJS.Timeout | null = null;
  #info: ModelInfo | null = null;
  #isLoaded = false;
  /** The anonymous memory that the process has once all of it is in use. Null if unknown. */
  #fullBytes: number | null = null;
  #spareBytes = 0;
  #loading: Call | null = null;
  #nextId = 1;
  #asked = false;
  #closing = false;
  #isStalled = false;
  #gone: LocallmError | null = null;

  constructor(child: ChildProcess, start: Omit<RunnerStart, "env" | "signal">) {
    const limits = start.heartbeat ?? heartbeatLimits;
    this.#heartbeat = new Heartbeat(limits);
    this.#everyMs = limits.everyMs;
    this.#child = child;
    this.#onProgress = start.onProgress;
    this.#conversations = start.conversations;
    this.#chooseWindow = start.chooseWindow;
    this.#onGrow = start.onGrow;
    this.pid = child.pid ?? -1;
    this.exited = new Promise((resolve) => {
      const settle = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#end(code, signal);
        resolve({ code, signal, asked: this.#asked, stalled: this.#isStalled, log: this.#log });
      };
      // Wait for "close" instead of "exit", because the last log lines may give the reason.
      child.once("close", settle);
      // The process could not be started, so no "close" event follows.
      child.once("error", () => settle(null, null));
    });
    child.on("message", (reports: readonly Report[]) => {
      for (const report of reports) this.#receive(report);
    });
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (this.#isLoaded && isRoutine(line)) return;
        this.#log.push(line);
        if (this.#log.length > keptLogLines) this.#log.shift();
        start.onLog?.(line);
      });
    }
  }

  get info(): ModelInfo {
    if (this.#info === null) throw new Error("a runner has no info before it has loaded a model");
    return this.#info;
  }

  get slots(): number {
    return this.info.slots;
  }

  get responds(): boolean {
    return !this.#heartbeat.isLate;
  }

  get unusedBytes(): number {
    if (this.#fullBytes === null) return 0;
    const takenBytes = anonymousBytes(this.pid);
    return takenBytes === null ? 0 : Math.max(0, this.#fullBytes - this.#spareBytes - takenBytes);
  }

  get spareBytes(): number {
    return this.#spareBytes;
  }

  /** Loads the model. Call it once, before anything else. If it fails, the process is ended. */
  async load(load: LoadRequest, signal?: AbortSignal): Promise<void> {
    const abort = () => {
      this.#loading?.fail(signal?.reason);
      void this.kill();
    };
    signal?.addEventListener("abort", abort, { once: true });
    const shelf = this.#conversations?.open(load, (id, entry) => this.#send({ kind: "state", id, entry }));
    this.#shelf = shelf ?? null;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#loading = { answer: () => resolve(), fail: reject };
        if (this.#gone !== null) reject(this.#gone);
        else {
          const awaitsWindow = this.#chooseWindow !== undefined;
          this.#send({ kind: "load", load, group: shelf?.group ?? null, awaitsWindow });
        }
        for (const entry of shelf?.entries() ?? []) this.#send({ kind: "state", id: entry.id, entry });
      });
      // Start the heartbeat after the load, because a load blocks the runner and has its own limit.
      this.#asking = setInterval(() => this.#ask(), this.#everyMs).unref();
    } catch (error) {
      shelf?.close();
      void this.kill();
      throw error;
    } finally {
      this.#loading = null;
      signal?.removeEventListener("abort", abort);
    }
  }

  async *generate(
    job: GenerateJob,
    signal?: AbortSignal,
    outlet: Outlet | null = null,
  ): AsyncGenerator<GenerateEvent, void> {
    signal?.throwIfAborted();
    if (this.#gone !== null) throw this.#gone;
    this.#refuseEndless(job);
    const id = this.#nextId++;
    const stream = new JobStream((kind) => this.#send({ kind, id }));
    this.#streams.set(id, stream);
    const abort = () => stream.fail(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const pictures = picturesOf(job.prompt);
    if (pictures.length > 0) this.#pictures.set(id, pictures);
    this.#send({ kind: "generate", id, job: withoutRows(job), lends: outlet !== null });
    if (outlet !== null) this.#loans.open(id, outlet);
    try {
      for (;;) {
        let event = stream.take();
        if (event === null) {
          this.#loans.proposeSoon(id, stream);
          event = await stream.next();
        }
        yield event;
        if (event.kind === "done") return;
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#streams.delete(id);
      this.#pictures.delete(id);
      this.#loans.close(id);
      if (!stream.ended) this.#send({ kind: "cancel", id });
    }
  }

  /** Rejects a prompt that cannot fit, before megabytes are sent to the runner. */
  #refuseEndless({ prompt, numCtx, truncate }: GenerateJob): void {
    const { contextLength, longestToken } = this.info;
    const window = Math.min(numCtx, contextLength);
    if (truncate || !surelyTooLong(promptChars(prompt), window, longestToken)) return;
    throw new LocallmError("prompt_too_long", { promptTokens: `over ${window}`, contextLength: window });
  }

  async embed(job: EmbedJob, signal?: AbortSignal): Promise<Embeddings> {
    const report = await this.#call((id) => ({ kind: "embed", id, job }), signal);
    if (report.kind !== "embedded") throw unexpected(report);
    const bytes = Buffer.from(report.floats, "base64");
    const floats = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const vectors = report.tokens.map((_, index) =>
      floats.subarray(index * report.length, (index + 1) * report.length),
    );
    return { vectors, tokens: report.tokens };
  }

  async rank(job: RankJob, signal?: AbortSignal): Promise<Ranks> {
    const report = await this.#call((id) => ({ kind: "rank", id, job }), signal);
    if (report.kind !== "ranked") throw unexpected(report);
    return report.ranks;
  }

  async tokenize(
    text: PromptText,
    options: { addSpecial: boolean; parseSpecial: boolean; limit?: number },
    signal?: AbortSignal,
  ): Promise<number[]> {
    const report = await this.#call((id) => ({ kind: "tokenize", id, text, ...options }), signal);
    if (report.kind !== "tokens") throw unexpected(report);
    return [...report.tokens];
  }

  async detokenize(tokens: readonly number[]): Promise<string> {
    const report = await this.#call((id) => ({ kind: "detokenize", id, tokens }));
    if (report.kind !== "text") throw unexpected(report);
    return report.text;
  }

  close(): Promise<RunnerExit> {
    this.#asked = true;
    this.#closing = true;
    this.#send({ kind: "close" });
    this.#killing = setTimeout(() => this.#child.kill("SIGKILL"), closeMs);
    return this.exited;
  }

  kill(): Promise<RunnerExit> {
    this.#asked = true;
    this.#child.kill("SIGKILL");
    return this.exited;
  }

  async #call(command: (id: number) => Command, signal?: AbortSignal): Promise<Report> {
    signal?.throwIfAborted();
    if (this.#gone !== null) throw this.#gone;
    const id = this.#nextId++;
    const abort = () => {
      this.#send({ kind: "cancel", id });
      this.#calls.get(id)?.fail(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await new Promise<Report>((answer, fail) => {
        this.#calls.set(id, { answer, fail });
        this.#send(command(id));
      });
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#calls.delete(id);
    }
  }

  #grow(asked: number): number {
    const bytes = Math.min(asked, this.#spareBytes);
    const granted = this.#onGrow === undefined ? bytes : this.#onGrow(bytes);
    this.#spareBytes -= granted;
    return granted;
  }

  async #sendWindow(info: VocabularyInfo): Promise<void> {
    try {
      const choice = await this.#chooseWindow?.({ runner: this, info });
      if (choice !== undefined) this.#send({ kind: "window", choice });
    } catch (error) {
      this.#loading?.fail(error);
    }
  }

  #ask(): void {
    this.#heartbeat.ask();
    if (this.#heartbeat.isStalled) this.#stall();
    else this.#send({ kind: "ask" });
  }

  /**
   * Kills the process with SIGKILL, which also ends a stopped process. Its requests fail when the process has
   * ended, so that a client that retries at once does not reach it. If the system cannot end the process, its
   * requests fail anyway.
   */
  #stall(): void {
    if (this.#isStalled) return;
    this.#isStalled = true;
    this.#child.kill("SIGKILL");
    setTimeout(() => {
      this.#loans.cut();
      this.#fail(this.#stalled());
    }, closeMs).unref();
  }

  #stalled(): LocallmError {
    return new LocallmError("runner_stalled", { seconds: this.#heartbeat.seconds });
  }

  #receive(report: Report): void {
    switch (report.kind) {
      case "progress":
        this.#heartbeat.hear(report.loops);
        break;
      case "steps":
        for (const [id, text, tokens, details] of report.texts) {
          if (details?.toldIn === undefined) this.#loans.refused(id);
          else if (!this.#streams.has(id)) this.#loans.late(id, tokens);
          const event = { kind: "text", text, tokens } as const;
          this.#streams.get(id)?.push(details === undefined ? event : { ...event, ...details });
        }
        break;
      case "want": {
        const { id, identity } = report;
        const picture = this.#pictures.get(id)?.find((one) => one.identity === identity);
        if (picture !== undefined) this.#send({ kind: "rows", id, identity, rows: picture.rows });
        break;
      }
      case "holds":
        this.#loans.holds(report.id);
        break;
      case "back":
        this.#loans.back(report);
        break;
      case "done":
        this.#loans.refused(report.id);
        this.#streams.get(report.id)?.push(report.done);
        break;
      case "failed": {
        const error = receiveError(report.error);
        this.#loans.refused(report.id);
        this.#streams.get(report.id)?.refuse(error);
        this.#calls.get(report.id)?.fail(error);
        break;
      }
      case "spare":
        this.#spareBytes = report.bytes;
        break;
      case "grow":
        this.#send({ kind: "grown", id: report.id, bytes: this.#grow(report.bytes) });
        break;
      case "reserve":
        this.#killing?.refresh();
        this.#send({
          kind: "reserved",
          id: report.id,
          state: this.#shelf?.reserve(report.bytes) ?? null,
        });
        break;
      case "kept":
        this.#killing?.refresh();
        this.#shelf?.keep(report.state, `/proc/${this.pid}/fd/${report.fd}`, report.replaced);
        break;
      case "used":
        this.#shelf?.used(report.state);
        break;
      case "released":
        this.#shelf?.release(report.state);
        break;
      case "damaged":
        this.#shelf?.damaged(report.state);
        break;
      case "closing":
        this.#send({ kind: "close" });
        break;
      case "loading":
        this.#onProgress?.(report.fraction);
        break;
      case "vocabulary":
        void this.#sendWindow(report.info);
        break;
      case "ready":
        this.#info = report.info;
        this.#fullBytes = report.fullBytes;
        // Later, because the last lines of the load may not have been read yet.
        setImmediate(() => {
          this.#isLoaded = true;
        });
        this.#loading?.answer(report);
        break;
      case "rejected":
        this.#loading?.fail(receiveError(report.error));
        break;
      default:
        this.#calls.get(report.id)?.answer(report);
    }
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#killing !== null) clearTimeout(this.#killing);
    this.#shelf?.close();
    this.#loans.end();
    if (this.#closing) this.#fail(new LocallmError("shutting_down", {}));
    if (this.#isStalled) this.#fail(this.#stalled());
    const status = signal ?? (code === null ? "it could not be started" : `exit code ${code}`);
    const said = this.#asked ? undefined : this.#cause(signal);
    const reason = said === undefined ? status : `${status}: ${said}`;
    this.#fail(new LocallmError("runner_died", { reason }));
  }

  /** Why the process ended, as far as it is known. */
  #cause(signal: NodeJS.Signals | null): string | undefined {
    // This signal leaves no time to log anything, so the last error is an older one.
    if (signal === "SIGKILL") return "the system may have run out of memory";
    const said = this.#log.findLast((line) => /assert|error|terminate|exception|fatal/i.test(line));
    return said === undefined ? undefined : withoutPaths(said);
  }

  /** Fails every open call and all later calls. The first error is kept. */
  #fail(error: LocallmError): void {
    if (this.#asking !== null) clearInterval(this.#asking);
    this.#gone ??= error;
    this.#loading?.fail(this.#gone);
    for (const call of this.#calls.values()) call.fail(this.#gone);
    for (const stream of this.#streams.values()) stream.refuse(this.#gone);
  }

  /** Sends a command. A process that has ended reads nothing, but its exit fails every open call. */
  #send(command: Command, handle?: SendHandle): void {
    if (this.#child.connected) this.#child.send(command, handle, () => {});
  }
}

/**
 * Whether a line of the engine only tells of its normal work. After a load, it writes lines of all levels without
 * naming the level; each begins with the name of a function. A callback would be told the level, but the engine's own
 * threads must not call JavaScript.
 */
function isRoutine(line: string): boolean {
  return /^\w+: /.test(line) && (aborted.test(line) || !trouble.test(line));
}

/** A step that ended because its client has left. */
const aborted = /^(graph_compute: .* error 1|process_ubatch: .* status: 1|llama_decode: .* ret = 2)$/;

const trouble =
  /abort|assert|cannot|could not|error|exceed|exception|fail|fatal|invalid|mismatch|missing|not |out of|terminate|too |unable|unexpected|unknown|unsupported|warn/i;

/** The job as a runner gets it: it asks for the rows that it needs. */
function withoutRows(job: GenerateJob): GenerateJob {
  if (picturesOf(job.prompt).length === 0) return job;
  const parts = job.prompt as readonly PromptPart[];
  return { ...job, prompt: parts.map((part) => (isPicture(part) ? { ...part, rows: noRows } : part)) };
}

const noRows = new Float32Array(0);

function unexpected(report: Report): Error {
  return new Error(`unexpected answer from the runner: ${report.kind}`);
}
