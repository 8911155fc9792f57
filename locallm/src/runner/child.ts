// The runner process. It loads one model, follows its parent's messages, and ends with its parent.
import { type BegunLoad, type Engine, loadVocabulary, loadWeights } from "../engine/engine.ts";
import { encodeEnds } from "../engine/prompt-ends.ts";
import type { SlotEvent, Slots } from "../engine/slots.ts";
import { isLongPrompt, type Vocabulary } from "../engine/vocabulary.ts";
import { LocallmError } from "../wire/errors.ts";
import type { EmbedJob } from "../wire/inference/embed.ts";
import { countedChars, promptChars } from "../wire/inference/generate.ts";
import type { WindowChoice } from "../wire/inference/load.ts";
import { Gathering } from "./gathering.ts";
import { Grants } from "./grants.ts";
import { type Connection, Outlets } from "./outlets.ts";
import { type Command, type Report, sendError } from "./protocol.ts";
import { socketRoom } from "./socket-room.ts";
import { StatePlaces } from "./state-places.ts";
import { Writer } from "./writer.ts";

/** Set while the model waits for its window. */
let begun: BegunLoad | null = null;
/** The window, once it is chosen. */
let chosen: WindowChoice | null = null;
let engine: Engine | null = null;
/** Commands that need the engine and arrived before it was ready. */
const early: EngineCommand[] = [];
/** Work that a cancel message ends: tokenizing and computing embeddings. */
const aborts = new Map<number, AbortController>();
const places = new StatePlaces(report);
const grants = new Grants(report);
let isClosing = false;
const gathering = new Gathering(reportSteps, () => performance.now());
const outlets = new Outlets({
  pass: (events, isAwaited) => gathering.add(events, isAwaited),
  send: reportSteps,
  report: reportTogether,
  hasRoom: socketRoom(),
  writer: new Writer(),
  now: () => new Date(),
});

process.on("disconnect", end);
// Ctrl-C in a terminal signals the whole process group, but the server decides when its runners end.
process.on("SIGINT", () => {});
process.on("message", (command: Command, handle: unknown) => {
  if (command.kind === "load") load(command);
  else if (command.kind === "lend") outlets.lend(command, (handle as Connection | undefined) ?? null);
  else if (command.kind === "window") {
    chosen = command.choice;
    finishIfFree();
  } else if (engine !== null) obey(engine, command);
  else if (begun !== null) obeyEarly(begun, command);
});

type EngineCommand = Exclude<Command, { kind: "load" | "window" | "lend" }>;

/** Ends the process. The system then frees all memory. */
function end(): never {
  engine?.slots?.stop();
  for (const abort of aborts.values()) abort.abort();
  process.exit(0);
}

function load({ load: request, group, awaitsWindow }: Extract<Command, { kind: "load" }>): void {
  let told = 0;
  attempt(() => {
    const isDivided = awaitsWindow && request.placement.devices.length > 0;
    begun = (isDivided ? loadVocabulary : loadWeights)(
      request,
      {
        onProgress(fraction) {
          if (fraction < 1 && fraction - told < 0.01) return;
          told = fraction;
          report({ kind: "loading", fraction });
        },
        onLog: (line) => process.stderr.write(`${line}\n`),
        onStep: (events) => outlets.add(events),
        onWant: (id, identity) => report({ kind: "want", id, identity }),
      },
      group === null ? null : { group, keeper: places },
    );
    if (awaitsWindow) report({ kind: "vocabulary", info: begun.info });
    else chosen = request;
  });
  finishIfFree();
}

/**
 * Finishes the load when its window is chosen. Waits for other threads that tokenize texts of clients that have left:
 * they use the vocabulary and allocate memory.
 */
function finishIfFree(): void {
  if (begun === null || chosen === null || aborts.size > 0) return;
  const { finish } = begun;
  const choice = chosen;
  begun = null;
  attempt(() => {
    engine = finish(choice);
    report({ kind: "ready", info: engine.info, fullBytes: engine.fullBytes() });
    // After the report, so that the server prepares the first job meanwhile.
    const spare = engine.giveBackMemory((bytes) => grants.ask(bytes));
    if (spare > 0) report({ kind: "spare", bytes: spare });
    for (const command of early.splice(0)) obey(engine, command);
  });
}

/** Runs a part of the load. The process ends if it fails. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    report({ kind: "rejected", error: sendError(error) });
    process.disconnect();
  }
}

function obeyEarly({ vocabulary }: BegunLoad, command: EngineCommand): void {
  switch (command.kind) {
    case "tokenize":
    case "detokenize":
      convert(vocabulary, command);
      break;
    case "cancel":
      aborts.get(command.id)?.abort();
      break;
    case "close":
      end();
      break;
    default:
      early.push(command);
  }
}

function convert(
  vocabulary: Vocabulary,
  command: Extract<Command, { kind: "tokenize" | "detokenize" }>,
): void {
  void abortable(command.id, async (signal) => {
    if (command.kind === "tokenize") {
      const tokens = await vocabulary.tokenizeAside(command.text, command, signal);
      report({ kind: "tokens", id: command.id, tokens });
    } else report({ kind: "text", id: command.id, text: vocabulary.detokenize(command.tokens) });
  });
}

function obey(engine: Engine, command: EngineCommand): void {
  switch (command.kind) {
    case "generate":
      if (command.lends) outlets.open(command.id);
      if (engine.slots === null) fail(command.id, new LocallmError("model_cannot", { ability: "generate" }));
      else if (isLongPrompt(command.job.prompt)) void submitLong(engine, engine.slots, command);
      else engine.slots.submit(command.id, command.job);
      break;
    case "rows":
      engine.slots?.supply(command.id, command.identity, command.rows);
      break;
    case "embed":
      void abortable(command.id, (signal) => embed(engine, command.id, command.job, signal));
      break;
    case "rank":
      void abortable(command.id, async (signal) => {
        const ranks = await engine.ranker().rank(command.job, signal);
        report({ kind: "ranked", id: command.id, ranks });
      });
      break;
    case "tokenize":
    case "detokenize":
      convert(engine.vocabulary, command);
      break;
    case "cancel":
      engine.slots?.cancel(command.id);
      outlets.cancel(command.id);
      gathering.forget(command.id);
      aborts.get(command.id)?.abort();
      break;
    case "pause":
      engine.slots?.pause(command.id);
      break;
    case "resume":
      engine.slots?.resume(command.id);
      break;
    case "ask":
      report({ kind: "progress", loops: engine.progress() });
      break;
    case "grown":
      grants.answer(command.id, command.bytes);
      break;
    case "reserved":
      places.answer(command.id, command.state);
      break;
    case "state":
      engine.kept?.place(command.id, command.entry);
      break;
    case "close":
      void close(engine);
  }
}

/**
 * Saves what the slots hold and then reports `closing`. The server receives the states and sends `close`
 * again.
 */
async function close({ slots, kept }: Engine): Promise<void> {
  if (isClosing || kept === null) end();
  isClosing = true;
  await slots?.keepAll().catch(() => {});
  report({ kind: "closing" });
}

/**
 * Tokenizes a long prompt before it is submitted. Other jobs may be submitted first, and a cancelled job is
 * dropped.
 */
async function submitLong(engine: Engine, slots: Slots, { id, job }: Generate): Promise<void> {
  await abortable(id, async (signal) => {
    const window = Math.min(job.numCtx, engine.info.contextLength);
    if (job.truncate) {
      const sizes = { head: Math.min(Math.max(job.numKeep, 1), window), tail: window + 1 };
      const ends = await encodeEnds(engine.vocabulary, job.prompt, engine.pictures, sizes, signal);
      if (ends !== null) {
        const { cells, skippedTokens } = ends;
        if (!signal.aborted) slots.submit(id, { ...job, skippedTokens }, cells);
        return;
      }
    }
    const limit = job.truncate || promptChars(job.prompt) <= countedChars ? undefined : window;
    const cells = await engine.vocabulary.encodePromptAside(job.prompt, engine.pictures, limit, signal);
    if (limit !== undefined && cells.length > limit)
      throw new LocallmError("prompt_too_long", { promptTokens: `over ${limit}`, contextLength: limit });
    if (!signal.aborted) slots.submit(id, job, cells);
  });
}

type Generate = Extract<Command, { kind: "generate" }>;

async function embed(engine: Engine, id: number, job: EmbedJob, signal: AbortSignal): Promise<void> {
  const { vectors, tokens } = await engine.embedder().embed(job, signal);
  const length = engine.info.embeddingLength;
  const all = new Float32Array(vectors.length * length);
  for (const [index, vector] of vectors.entries()) all.set(vector, index * length);
  report({ kind: "embedded", id, floats: Buffer.from(all.buffer).toString("base64"), length, tokens });
}

/** Runs the work of one command that a cancel message may end. */
async function abortable(id: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  try {
    await work(abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) fail(id, error);
  } finally {
    aborts.delete(id);
    finishIfFree();
  }
}

function reportSteps(events: readonly SlotEvent[]): void {
  const texts = events
    .filter((event) => event.text !== "")
    .map(({ id, text, tokens, prompt, logprobs, toldIn }) =>
      prompt === undefined && logprobs === undefined && toldIn === undefined
        ? ([id, text, tokens] as const)
        : ([id, text, tokens, { prompt, logprobs, toldIn }] as const),
    );
  if (texts.length > 0) reportTogether({ kind: "steps", texts });
  for (const { id, done, error } of events) {
    if (done !== null) reportTogether({ kind: "done", id, done });
    else if (error !== null) fail(id, error);
  }
}

function fail(id: number, error: unknown): void {
  outlets.drop(id);
  reportTogether({ kind: "failed", id, error: sendError(error) });
}

function report(message: Report): void {
  sendTogether();
  process.send?.([message]);
}

/** Reports of one turn of the loop that go in one message, because each message wakes the server. */
let together: Report[] = [];

function reportTogether(message: Report): void {
  if (together.push(message) === 1) queueMicrotask(sendTogether);
}

function sendTogether(): void {
  if (together.length === 0) return;
  const reports = together;
  together = [];
  process.send?.(reports);
}
