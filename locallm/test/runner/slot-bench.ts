import { closeSync, openSync } from "node:fs";
import type { Drafts } from "../../src/engine/answer.ts";
import type { Context } from "../../src/engine/context.ts";
import { KeptStates, type StateKeeper } from "../../src/engine/kept/kept-states.ts";
import { hearLog } from "../../src/engine/libllama/log.ts";
import type { Model } from "../../src/engine/model.ts";
import { Pictures } from "../../src/engine/pictures.ts";
import type { SlotEvent, Slots } from "../../src/engine/slots.ts";
import type { GenerateDone, GenerateJob, Prompt, PromptPart } from "../../src/wire/inference/generate.ts";
import { defaultSampling } from "../../src/wire/inference/generate.ts";
import { type EncodedPicture, isPicture } from "../../src/wire/inference/picture.ts";
import { newJob } from "./jobs.ts";
import { library, newContext, newSlots } from "./slots-here.ts";

/** Drops what the engine logs. */
export const silently = <Result>(work: () => Result) => hearLog(library, () => {}, work);
const sampling = { ...defaultSampling, temperature: 1.2, topK: 0, topP: 1, seed: 3 };

export interface Asked {
  readonly done: GenerateDone;
  /** For each token of the answer: the log probabilities of the likeliest tokens. */
  readonly logprobs: readonly ReadonlyMap<string, number>[];
}

/** Slots with a context of their own. */
export class Bench {
  readonly context: Context;
  readonly slots: Slots;
  readonly kept: KeptStates | null;
  readonly #ends = new Map<number, (event: SlotEvent) => void>();
  readonly #logprobs = new Map<number, Map<string, number>[]>();
  #ids = 0;
  /** Called before each step. */
  beforeStep = () => {};
  /** Called for each event of a job. */
  onEvent = (_: SlotEvent) => {};
  /** Sends jobs without the rows of their pictures, which come later. */
  isLate = false;
  /** How often rows were asked for. */
  wanted = 0;
  readonly #pictures = new Map<string, EncodedPicture>();

  /** `cells` is the size of a cache that all slots share. With `drafts`, even null, every row of a step may have an output. */
  constructor(
    model: Model,
    slots = 1,
    window = 1024,
    keeper: StateKeeper | null = null,
    cells?: number,
    drafts?: Drafts | null,
  ) {
    // Fewer rows than those from which on attention is computed differently.
    const outputs = drafts === undefined ? slots : 63;
    this.context = silently(() => newContext(model, slots, window, cells, outputs));
    const pictures = new Pictures();
    const keeping = { context: this.context, pictures, group: "0".repeat(64), window: 0 };
    this.kept = keeper === null ? null : new KeptStates({ ...keeping, keeper });
    opened.push(this);
    this.slots = newSlots({
      model,
      context: this.context,
      kept: this.kept,
      pictures,
      slots,
      checkpoints: 3,
      ...(drafts === undefined ? {} : { drafts }),
      beforeStep: () => this.beforeStep(),
      onWant: (id, identity) => {
        this.wanted++;
        const { rows } = this.#pictures.get(identity)!;
        setTimeout(() => this.slots.supply(id, identity, rows), 1);
      },
      onStep: (events) => {
        for (const event of events) this.#hear(event);
      },
    });
  }

  #hear(event: SlotEvent): void {
    this.onEvent(event);
    for (const { top_logprobs } of event.logprobs ?? []) {
      const all = top_logprobs.map(({ token, logprob }): [string, number] => [token, logprob]);
      this.#logprobs.get(event.id)!.push(new Map(all));
    }
    if (event.done !== null || event.error !== null) this.#ends.get(event.id)?.(event);
  }

  get nextId(): number {
    return this.#ids + 1;
  }

  /** Makes the job with this number read slowly, or quickly again. */
  pause(id: number, isSlow: boolean): void {
    if (isSlow) this.slots.pause(id);
    else this.slots.resume(id);
  }

  ask(prompt: Prompt, changes: Partial<GenerateJob> = {}): Promise<Asked> {
    const id = ++this.#ids;
    const logprobs: Map<string, number>[] = [];
    this.#logprobs.set(id, logprobs);
    return new Promise((resolve, reject) => {
      this.#ends.set(id, ({ done, error }) => {
        if (done === null) reject(error);
        else resolve({ done, logprobs });
      });
      const asked = { sampling, numPredict: 4, wantContext: true, logprobs: { top: 30 }, ...changes };
      this.slots.submit(id, newJob(this.isLate ? this.#withoutRows(prompt) : prompt, asked));
    });
  }

  #withoutRows(prompt: Prompt): Prompt {
    if (typeof prompt === "string" || "pieces" in prompt) return prompt;
    const parts = prompt as readonly PromptPart[];
    return parts.map((part) => {
      if (!isPicture(part)) return part;
      this.#pictures.set(part.identity, part);
      return { ...part, rows: new Float32Array(0) };
    });
  }
}

/** Random printable ASCII, one token each, the same for the same seed. */
export function text(length: number, seed: number): number[] {
  let state = seed * 2_654_435_761 + 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 48_271) ^ (state >>> 7)) >>> 0;
    return 4 + 0x20 + (state % 95);
  });
}

const opened: Bench[] = [];
const keepers: Map<number, number>[] = [];
/** The largest number of a state. */
let most = 0;

/** Closes the memory of all states. Waits for slots that still keep what they hold. */
export async function closeKept(): Promise<void> {
  for (const { slots, kept } of opened.splice(0)) {
    await slots.keepAll();
    for (let id = 1; id <= most; id++) kept?.place(id, null);
  }
  for (const fds of keepers.splice(0)) for (const fd of fds.values()) closeSync(fd);
}

/** A keeper without a limit. Like the server, it has descriptors of its own. */
export function newKeeper() {
  const fds = new Map<number, number>();
  const drop = (id: number) => {
    const fd = fds.get(id);
    if (fd !== undefined) closeSync(fd);
    fds.delete(id);
  };
  keepers.push(fds);
  let ids = 0;
  const keeper: StateKeeper = {
    async reserve() {
      most = Math.max(most, ++ids);
      return ids;
    },
    kept(id, fd, replaced) {
      fds.set(id, openSync(`/proc/self/fd/${fd}`, "r"));
      for (const older of replaced) drop(older);
    },
    used: () => {},
    release: drop,
    damaged: drop,
  };
  return { keeper, fds };
}
