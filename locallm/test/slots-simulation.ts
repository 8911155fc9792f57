import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../../fuzz/random.ts";
import { StateFiles } from "../src/conversations/state-files.ts";
import type { Drafts } from "../src/engine/answer.ts";
import type { Context } from "../src/engine/context.ts";
import { KeptStates, type StateKeeper } from "../src/engine/kept/kept-states.ts";
import { hasSharedMemory } from "../src/engine/kept/shared-memory.ts";
import { fixedRowCost } from "../src/engine/row-cost.ts";
import { type SlotEvent, Slots } from "../src/engine/slots.ts";
import { fixedThreads } from "../src/engine/threads.ts";
import { defaultSampling, type GenerateJob } from "../src/wire/inference/generate.ts";
import { type EncodedPicture, picturesOf } from "../src/wire/inference/picture.ts";
import { aloneAnswer, EchoContext, echoMakers, marksOf, rowsOf, wordOf } from "./echo-model.ts";
import type { Simulated } from "./scheduler-simulation.ts";

type Part = readonly number[] | EncodedPicture;

interface Job {
  readonly prompt: readonly Part[];
  readonly job: GenerateJob;
  text: string;
  end: SlotEvent | undefined;
  isCancelled: boolean;
}

/** More turns of the event loop than everything that a simulation does; most of them wait a millisecond for a slow disk. */
const mostTurns = 30_000;
const quickTurns = 2_000;

/**
 * The slots of one model, over a model that echoes what it saw: prompts that share beginnings arrive, continue, leave and
 * are read slowly, pictures come late or not at all, steps are aborted and fail, and conversations are kept in memory and
 * on disk, where they are damaged. Everything follows from the seed, except how long files take.
 */
export async function simulateSlots(seed: number): Promise<Simulated> {
  const simulation = new Simulation(seed);
  try {
    await simulation.run();
    return { counts: simulation.counts, breach: undefined };
  } catch (error) {
    return { counts: simulation.counts, breach: (error as Error).message };
  } finally {
    await simulation.close();
  }
}

class Simulation {
  readonly counts: Record<string, number> = {};
  readonly #random: Random;
  readonly #jobs = new Map<number, Job>();
  readonly #wants: { readonly id: number; readonly identity: string }[] = [];
  readonly #hasState: boolean;
  readonly #window: number;
  /** How many slots there are. */
  readonly #all: number;
  readonly #slots: Slots;
  readonly #keeper: Keeper | null;
  /** How often the next steps fail or are aborted, in a hundred. */
  readonly #failing: number;
  #breach: Error | undefined;
  #timeNs = 0;

  constructor(seed: number) {
    const random = new Random(seed);
    this.#random = random;
    this.#hasState = random.below(3) === 0;
    this.#window = random.pick([96, 200, 300]);
    this.#failing = random.pick([0, 0, 3, 10]);
    const slots = 1 + random.below(4);
    this.#all = slots;
    // Numbers of its own, so that the seeds of simulations without it repeat what they always did.
    const sharing = new Random(seed + 1e6);
    const isShared = !this.#hasState && slots > 1 && sharing.below(2) === 0;
    const sharedCells = isShared ? this.#window + sharing.below(this.#window * (slots - 1)) : null;
    const growing = new Random(seed + 3e6);
    const spare =
      sharedCells === null || growing.below(2) === 0 ? 0 : growing.below(sharedCells - this.#window + 1);
    let granted = 0;
    const context = new EchoContext({
      mostCells: () => sharedCells! - spare + granted,
      sequences: slots,
      contextPerSequence: this.#window,
      sharedCells,
      capacity: random.pick([32, 48, 100]),
      hasState: this.#hasState,
      outcome: (rows) => this.#outcome(rows),
    });
    const drafting = new Random(seed + 2e6);
    const makers = {
      ...echoMakers(context, () => {
        this.#timeNs += 1e6;
        return this.#timeNs;
      }),
      drafts: this.#hasState || drafting.below(2) === 0 ? null : this.#draftsOf(drafting),
    };
    const isKept = hasSharedMemory() && random.below(3) > 0;
    const asking = new Random(seed + 4e6);
    this.#keeper = isKept
      ? new Keeper(random, asking, random.below(3) === 0, (what) => this.#count(what))
      : null;
    const kept =
      this.#keeper &&
      new KeptStates({
        context: context as unknown as Context,
        pictures: makers.pictures,
        keeper: this.#keeper,
        group: "ab".repeat(32),
        window: 0,
      });
    if (kept) this.#keeper!.states = kept;
    this.#slots = new Slots({
      makers,
      context: context as unknown as Context,
      slots,
      checkpoints: this.#hasState ? 1 + random.below(4) : 0,
      threads: fixedThreads(1),
      adapters: { use: () => {} },
      kept,
      onStep: (events) => {
        for (const event of events) this.#receive(event);
      },
      onWant: (id, identity) => this.#wants.push({ id, identity }),
      breathe: () => new Promise((resolve) => setImmediate(resolve)),
    });
    // The server answers later, grants all, some or nothing, and another model may need the rest for ever.
    const isStingy = growing.below(3) === 0;
    const grant = async (cells: number) => {
      for (let turns = growing.below(3); turns > 0; turns--) await turn();
      const given = isStingy ? 0 : growing.pick([0, growing.below(cells + 1), cells]);
      this.#count(given === 0 ? "cells refused" : "cells granted");
      granted += given;
      return given;
    };
    const pace = { leastCells: 1 + growing.below(40), pauseNs: growing.below(30) * 1e6 };
    if (spare > 0) this.#slots.spare(spare, grant, pace);
  }

  async run(): Promise<void> {
    const random = this.#random;
    const length = 20 + random.below(60);
    for (let at = 0; at < length; at++) {
      this.#act();
      for (let turns = random.below(6); turns > 0; turns--) await turn();
      if (random.below(4) === 0) await this.#keeper?.written();
    }
    // Nobody reads on for a client that has left.
    for (const [id, job] of this.#jobs) if (!job.isCancelled) this.#slots.resume(id);
    await this.#settle();
    await this.#holdAll();
    // Whatever happened, every slot still answers.
    for (let again = 0; again < 5; again++) this.#arrive();
    await this.#settle();
    await this.#slots.keepAll();
    for (const [id, job] of this.#jobs) this.#check(id, job);
  }

  async close(): Promise<void> {
    await this.#keeper?.close();
  }

  /** Guesses of which most are right, unless a picture was seen or the window has moved. */
  #draftsOf(random: Random): Drafts {
    return {
      rowCost: fixedRowCost(0.1),
      model: null,
      guess: (prompt) => {
        const marks = marksOf([prompt]);
        const { tokens } = aloneAnswer(marks, { hasState: false, most: this.#window });
        let at = 0;
        return {
          add: () => at++,
          next: (most) => {
            const length = Math.min(most, random.below(12));
            if (length > 0) this.#count("drafts");
            // The token 0 ends an answer.
            return Array.from({ length }, (_, ahead) =>
              random.below(8) === 0 ? 3 + random.below(61) : (tokens[at + ahead] ?? 0),
            );
          },
        };
      },
    };
  }

  /** As many jobs as there are slots wait for their pictures at once, so that none of the slots is still taken. */
  async #holdAll(): Promise<void> {
    const held = Array.from({ length: this.#all }, (_, at) => this.#arrive(picture(`4${at}`, "line", 12)));
    const isHeld = (id: number) => this.#jobs.get(id)!.end || this.#wants.some((want) => want.id === id);
    for (let turns = 0; !held.every(isHeld); turns++) {
      if (this.#breach) throw this.#breach;
      if (turns > mostTurns) throw new Error(`${held.filter((id) => !isHeld(id)).length} slots stay taken`);
      await (turns < quickTurns ? turn() : sleep(1));
    }
    await this.#settle();
  }

  async #settle(): Promise<void> {
    for (let turns = 0; [...this.#jobs.values()].some((job) => !job.isCancelled && !job.end); turns++) {
      if (this.#breach) throw this.#breach;
      if (turns > mostTurns) {
        const open = [...this.#jobs].filter(([, job]) => !job.isCancelled && !job.end).map(([id]) => id);
        throw new Error(`the jobs ${open.join(", ")} never end`);
      }
      while (this.#wants.length > 0) this.#supply();
      await (turns < quickTurns ? turn() : sleep(1));
    }
    if (this.#breach) throw this.#breach;
  }

  #act(): void {
    const random = this.#random;
    const running = [...this.#jobs].filter(([, job]) => !job.isCancelled && !job.end);
    const one = running.length > 0 ? random.pick(running) : undefined;
    switch (random.pick(["arrive", "arrive", "arrive", "leave", "pause", "resume", "supply", "ask"])) {
      case "arrive":
        this.#arrive();
        break;
      case "leave":
        if (!one) return;
        this.#count("left");
        one[1].isCancelled = true;
        this.#slots.cancel(one[0]);
        break;
      case "pause":
        if (!one) return;
        this.#count("read slowly");
        this.#slots.pause(one[0]);
        break;
      case "resume":
        if (one) this.#slots.resume(one[0]);
        break;
      case "supply":
        this.#supply();
        break;
      case "ask":
        this.#slots.progress();
    }
  }

  #arrive(only?: EncodedPicture): number {
    const random = this.#random;
    const id = this.#jobs.size + 1;
    const prompt = only ? [only] : this.#prompt();
    const job: GenerateJob = {
      prompt: prompt as GenerateJob["prompt"],
      numCtx: this.#window,
      sampling: { ...defaultSampling, temperature: 0 },
      stop: [],
      numPredict: random.pick([0, 1, 5, 30, 300]),
      numKeep: 0,
      truncate: false,
      shift: random.below(3) === 0,
      // Such a job has a shared cache to itself.
      deterministic: only === undefined && random.below(10) === 0,
      grammar: null,
      wantContext: false,
      renderSpecial: false,
    };
    this.#count("arrived");
    if (picturesOf(prompt).length > 0) this.#count("arrived with pictures");
    this.#jobs.set(id, { prompt, job, text: "", end: undefined, isCancelled: false });
    this.#slots.submit(id, job);
    return id;
  }

  /** A new conversation, or the next turn of one that was answered. */
  #prompt(): readonly Part[] {
    const random = this.#random;
    const answered = [...this.#jobs.values()].filter(({ end }) => end?.done);
    const parts: Part[] = [];
    if (answered.length > 0 && random.below(2) === 0) {
      const { prompt, text } = random.pick(answered);
      parts.push(...prompt, tokensOf(text));
    }
    for (let left = 1 + random.below(3); left > 0; left--)
      parts.push(
        random.below(4) === 0
          ? withRows(random.pick(drawn), random.below(2) === 0)
          : pieces[random.below(pieces.length)]!,
      );
    return parts;
  }

  #supply(): void {
    const want = this.#wants.shift();
    if (!want) return;
    const { prompt } = this.#jobs.get(want.id)!;
    const picture = picturesOf(prompt).find(({ identity }) => identity === want.identity)!;
    const isLost = this.#random.below(12) === 0;
    this.#count(isLost ? "pictures that did not come" : "pictures that came late");
    this.#slots.supply(want.id, want.identity, isLost ? new Float32Array(0) : rowsOf(picture));
  }

  #outcome(rows: number): ReturnType<ConstructorParameters<typeof EchoContext>[0]["outcome"]> {
    if (this.#random.below(100) >= this.#failing) return "done";
    const outcome = this.#random.pick(["throws", "no_room", "aborted"] as const);
    this.#count(`steps: ${outcome}`);
    return outcome === "aborted" ? { abortedAfter: this.#random.below(rows + 1) } : outcome;
  }

  #receive(event: SlotEvent): void {
    const job = this.#jobs.get(event.id)!;
    if (job.isCancelled) this.#breach ??= new Error(`job ${event.id} sends after its client left`);
    if (job.end) this.#breach ??= new Error(`job ${event.id} sends after its end`);
    job.text += event.text;
    if (event.done || event.error) job.end = event;
  }

  #check(id: number, { prompt, job, text, end, isCancelled }: Job): void {
    if (isCancelled) return;
    const marks = marksOf(prompt);
    if (end!.error) {
      const { code, message } = end!.error;
      this.#count("failed");
      const isTooLong = marks.length > this.#window && code === "prompt_too_long";
      const isInjected = /the step failed|no room left|no rows came|a picture is wrong/.test(message);
      if (!isTooLong && !(isInjected && (this.#failing > 0 || /rows/.test(message))))
        throw new Error(`job ${id} failed: ${message}`);
      return;
    }
    this.#count("answered");
    if ((end!.done!.promptTokens ?? 0) !== marks.length)
      throw new Error(`job ${id} has ${end!.done!.promptTokens} prompt tokens instead of ${marks.length}`);
    // What a shifted window leaves has no answer of its own to compare with.
    if (end!.done!.shiftedTokens > 0) {
      this.#count("answered with a shifted window");
      return;
    }
    const room = job.shift ? Number.POSITIVE_INFINITY : this.#window - marks.length + 1;
    const most = Math.min(job.numPredict, room);
    const expected = aloneAnswer(marks, { hasState: this.#hasState, most });
    const words = expected.tokens.map(wordOf).join("");
    if (text !== words) throw new Error(`job ${id} answers ${text} instead of ${words}`);
    const reason = expected.hasEnded ? "stop" : "length";
    if (end!.done!.reason !== reason)
      throw new Error(`job ${id} ends with ${end!.done!.reason} instead of ${reason}`);
    if (end!.done!.drafts) this.#count("answered with drafts");
    for (let left = end!.done!.drafts?.accepted ?? 0; left > 0; left--) this.#count("drafted tokens taken");
    if (end!.done!.cachedTokens > 0) this.#count("answered from what was computed before");
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

/** A file system in memory, where there is one: nobody waits for it. */
const quickDisk = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** The server's side of kept states: in memory, then perhaps in a file, which somebody may damage. */
class Keeper implements StateKeeper {
  states!: KeptStates;
  readonly #random: Random;
  /** How long the server takes to answer. */
  readonly #asking: Random;
  readonly #count: (what: string) => void;
  readonly #folder: string | null;
  #files: Promise<StateFiles> | undefined;
  readonly #held = new Map<number, { fd: number; bytes: number }>();
  readonly #bytes = new Map<number, number>();
  #last = 0;
  #isClosed = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(random: Random, asking: Random, isOnDisk: boolean, count: (what: string) => void) {
    this.#random = random;
    this.#asking = asking;
    this.#count = count;
    this.#folder = isOnDisk ? mkdtempSync(join(quickDisk, "slots-")) : null;
  }

  async reserve(bytes: number): Promise<number | null> {
    // Meanwhile clients leave.
    for (let turns = this.#asking.below(4); turns > 0; turns--) await turn();
    if (this.#random.below(8) === 0) return null;
    this.#bytes.set(++this.#last, bytes);
    return this.#last;
  }

  kept(id: number, fd: number, replaced: readonly number[]): void {
    this.#count("conversations kept");
    for (const one of replaced) this.#drop(one);
    // A descriptor of our own, as another process would have.
    const own = openSync(`/proc/self/fd/${fd}`, "r");
    this.#held.set(id, { fd: own, bytes: this.#bytes.get(id)! });
    setImmediate(() => {
      if (!this.#held.has(id) || this.#isClosed) return;
      // A descriptor that was closed may lead to another conversation by now.
      const others = [...this.#held.values()];
      const isElsewhere = this.#random.below(10) === 0;
      if (isElsewhere) this.#count("paths that lead elsewhere");
      const fd = isElsewhere ? this.#random.pick(others).fd : own;
      this.states.place(id, { id, path: `/proc/self/fd/${fd}`, isOnDisk: false });
      const next = this.#random.below(6);
      if (next === 0) {
        this.#count("kept conversations forgotten");
        this.states.place(id, null);
        this.#drop(id);
      } else if (next < 4 && this.#folder !== null)
        this.#writing = this.#writing.then(() => this.#toDisk(id));
    });
  }

  /** Resolves once the files that are being written are there. */
  written(): Promise<void> {
    return this.#writing;
  }

  async #toDisk(id: number): Promise<void> {
    const held = this.#held.get(id);
    if (!held || this.#folder === null || this.#isClosed) return;
    this.#files ??= StateFiles.open({
      folder: this.#folder,
      limitBytes: 1e9,
      now: () => new Date(0),
      onProblem: () => {},
    });
    const files = await this.#files;
    if (!this.#held.has(id)) return;
    const own = openSync(`/proc/self/fd/${held.fd}`, "r");
    const file = await files.write(own, held.bytes, () => this.#held.has(id)).catch(() => null);
    closeSync(own);
    if (file === null || !this.#held.has(id) || this.#isClosed) return;
    if (this.#random.below(2) === 0) this.#damage(file.path);
    this.#count("conversations on disk");
    this.states.place(id, { id, path: file.path, isOnDisk: true });
  }

  #damage(path: string): void {
    this.#count("files damaged");
    const bytes = readFileSync(path);
    const way = this.#random.below(4);
    if (way === 0) rmSync(path);
    else if (way === 1) truncateSync(path, this.#random.below(bytes.length));
    else {
      const at = this.#random.below(bytes.length);
      bytes[at] = bytes[at]! ^ (1 << this.#random.below(8));
      writeFileSync(path, bytes);
    }
  }

  used(): void {
    this.#count("kept conversations used");
  }

  release(id: number): void {
    this.#count("kept conversations released");
    this.#drop(id);
  }

  damaged(id: number): void {
    this.#count("damage found");
    this.#drop(id);
  }

  #drop(id: number): void {
    const held = this.#held.get(id);
    if (held) closeSync(held.fd);
    this.#held.delete(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    for (const id of [...this.#held.keys()]) {
      this.states.place(id, null);
      this.#drop(id);
    }
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const tokensOf = (text: string) => Array.from(text, (word) => word.charCodeAt(0) - 0x4e00);

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, at) => 3 + ((from + at * 7) % 61));
}

/** Few, so that prompts share beginnings, and long enough to be worth keeping. */
const pieces = [range(0, 40), range(11, 3), range(30, 70), range(5, 1), range(40, 20)];

const drawn = [
  picture("11", "line", 12),
  picture("22", { width: 5, height: 4 }),
  picture("33", "line", 30, false),
];

function picture(name: string, layout: EncodedPicture["layout"], cells = 0, causal = true): EncodedPicture {
  const all = layout === "line" ? cells : layout.width * layout.height;
  const positions = layout === "line" ? cells : Math.max(layout.width, layout.height);
  const identity = name.repeat(32);
  return { identity, cells: all, positions, rows: new Float32Array(0), layout, causal };
}

function withRows(one: EncodedPicture, isThere: boolean): EncodedPicture {
  return isThere ? { ...one, rows: rowsOf(one) } : one;
}
