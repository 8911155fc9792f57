import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { eachSimilarity } from "./vector.ts";
import { blockDocuments } from "./vector-blocks.ts";

/** Messages to the thread: `begin` starts a question, its segments follow, and `end` requests the answer. */
export type ToNearest =
  | { readonly keep: number; readonly block: number; readonly vectors: Uint8Array }
  | { readonly drop: number }
  | { readonly begin: number; readonly vector: Float32Array; readonly most: number }
  /** Compares a segment that is kept, or a block that is not. */
  | (Part & { readonly kept: number })
  | (Part & { readonly block: number; readonly vectors: Uint8Array })
  | { readonly end: number }
  | { readonly cancel: number };

interface Part {
  readonly ask: number;
  readonly segment: number;
  /** A bit for each ordinal; undefined allows all. */
  readonly allowed: Uint8Array | undefined;
}

/** The answer to a question; without `found` if a segment was dropped before it was compared. */
export interface FromNearest {
  readonly question: number;
  readonly found?: Compared;
}

export interface Compared {
  /** Most similar first. */
  readonly near: readonly Near[];
  /** Of all documents that were compared. */
  readonly mean: number;
  readonly deviation: number;
}

export interface Near {
  readonly segment: number;
  readonly ordinal: number;
  readonly similarity: number;
}

interface Asked {
  readonly vector: Float32Array;
  readonly most: number;
  readonly near: Near[];
  least: number;
  count: number;
  sum: number;
  squares: number;
}

/** The thread that compares vectors, so that calls do not wait for it. */
const kept = new Map<number, Uint8Array[]>();
const questions = new Map<number, Asked>();

try {
  // On Linux this lowers the priority of this thread only.
  setPriority(1);
} catch {
  // Not permitted here.
}

parentPort?.on("message", (told: ToNearest) => {
  if ("keep" in told) {
    const blocks = kept.get(told.keep) ?? [];
    blocks[told.block] = told.vectors;
    kept.set(told.keep, blocks);
  } else if ("drop" in told) kept.delete(told.drop);
  else if ("begin" in told) {
    const { vector, most } = told;
    questions.set(told.begin, { vector, most, near: [], least: -2, count: 0, sum: 0, squares: 0 });
  } else if ("cancel" in told) questions.delete(told.cancel);
  else if ("end" in told) answer(told.end);
  else {
    const asked = questions.get(told.ask);
    if (asked === undefined) return;
    const { segment, allowed } = told;
    if ("vectors" in told) compare(asked, segment, told.block, told.vectors, allowed);
    else {
      const blocks = kept.get(told.kept);
      if (blocks === undefined) {
        questions.delete(told.ask);
        reply({ question: told.ask });
        return;
      }
      for (const [block, vectors] of blocks.entries()) compare(asked, segment, block, vectors, allowed);
    }
  }
});

function compare(
  asked: Asked,
  segment: number,
  block: number,
  vectors: Uint8Array,
  allowed: Uint8Array | undefined,
): void {
  const first = block * blockDocuments;
  eachSimilarity(vectors, asked.vector, (place, similarity) => {
    asked.count++;
    asked.sum += similarity;
    asked.squares += similarity * similarity;
    if (similarity <= asked.least) return;
    const ordinal = first + place;
    if (allowed !== undefined && ((allowed[ordinal >> 3] ?? 0) & (1 << (ordinal & 7))) === 0) return;
    asked.near.push({ segment, ordinal, similarity });
    if (asked.near.length >= 2 * asked.most) cut(asked);
  });
}

function cut(asked: Asked): void {
  asked.near.sort((a, b) => b.similarity - a.similarity || a.segment - b.segment || a.ordinal - b.ordinal);
  asked.near.length = Math.min(asked.near.length, asked.most);
  if (asked.near.length === asked.most) asked.least = asked.near.at(-1)?.similarity ?? -2;
}

function answer(question: number): void {
  const asked = questions.get(question);
  if (asked === undefined) return;
  questions.delete(question);
  cut(asked);
  const count = Math.max(1, asked.count);
  const mean = asked.sum / count;
  const deviation = Math.sqrt(Math.max(0, asked.squares / count - mean * mean));
  reply({ question, found: { near: asked.near, mean, deviation } });
}

function reply(message: FromNearest): void {
  parentPort?.postMessage(message);
}
