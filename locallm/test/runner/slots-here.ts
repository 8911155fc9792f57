import type { Drafts } from "../../src/engine/answer.ts";
import { Candidates } from "../../src/engine/candidates.ts";
import { Context } from "../../src/engine/context.ts";
import { DryStages } from "../../src/engine/dry-stages.ts";
import { Grammars } from "../../src/engine/grammar.ts";
import type { KeptStates } from "../../src/engine/kept/kept-states.ts";
import { openLibrary } from "../../src/engine/libllama/library.ts";
import type { Model } from "../../src/engine/model.ts";
import { Pictures } from "../../src/engine/pictures.ts";
import { type SlotEvent, Slots } from "../../src/engine/slots.ts";

export const library = openLibrary();
/** Rows of a step, or more if there are more slots. */
const rows = 64;

/**
 * A context of this many tokens for each slot, or of `cells` for all slots together. If `outputs` are more than the
 * slots, a step has so many rows.
 */
export function newContext(
  model: Model,
  slots: number,
  window: number,
  cells?: number,
  outputs = slots,
): Context {
  const batch = outputs > slots ? outputs : Math.max(rows, slots);
  return new Context(library, model.pointer, {
    sequences: slots,
    contextPerSequence: window,
    ...(cells === undefined ? {} : { cells }),
    ...model.shape,
    batch,
    microBatch: batch,
    outputs,
    threads: 1,
    threadpool: null,
    flashAttention: "auto",
    kvCacheType: "f16",
    embeddings: false,
    pooling: 0,
    unified: cells !== undefined,
  });
}

interface SlotsHere {
  readonly model: Model;
  readonly context: Context;
  /** Those of `kept`. */
  readonly pictures?: Pictures;
  readonly kept: KeptStates | null;
  readonly slots: number;
  readonly checkpoints: number;
  readonly drafts?: Drafts | null;
  beforeStep(): void;
  /** `rows` is 0 after a step that computed tokens of an expected turn. */
  afterStep?(rows: number): void;
  onStep(events: readonly SlotEvent[]): void;
  onWant?(id: number, identity: string): void;
}

/** Real slots in this process, with one thread and seeds that are always 1. */
export function newSlots({
  model,
  pictures = new Pictures(),
  beforeStep,
  afterStep,
  drafts = null,
  ...request
}: SlotsHere): Slots {
  const { vocabulary } = model;
  return new Slots({
    onWant() {
      throw new Error("a picture has no rows");
    },
    ...request,
    threads: {
      most: 1,
      begin() {
        beforeStep();
        return 1;
      },
      end: (_: number, rows: number) => afterStep?.(rows),
      measuresPrompts: false,
      rest: () => {},
    },
    adapters: { use: () => {} },
    breathe: () => new Promise((resolve) => setImmediate(resolve)),
    makers: {
      library,
      vocabulary,
      pictures,
      grammars: new Grammars(library, vocabulary),
      candidates: new Candidates(library, vocabulary.size),
      dry: new DryStages(library, vocabulary),
      drafts,
      now: () => performance.now() * 1e6,
      randomSeed: () => 1,
    },
  });
}
