import { parentPort } from "node:worker_threads";
import { BitSet } from "../../snapshots/bitset.ts";
import type { OpenSegment } from "../../snapshots/open-snapshot.ts";
import { blockFields, decode, type Postings, postingsAt } from "../blocks/codec.ts";
import {
  allow,
  lateAfter,
  type RankAnswer,
  RankLate,
  type RankTask,
  type ReadSegment,
  rank,
} from "./rank.ts";
import { Scratch } from "./scratch.ts";

/** A snapshot as threads exchange it: shared memory, so nothing is copied. */
export interface SnapshotMessage {
  readonly id: number;
  readonly segments: readonly (Omit<OpenSegment, "dead"> & { readonly dead: Uint8Array | null })[];
}

export type ToRank =
  /** Shared memory that later questions name. */
  | { readonly snapshot: SnapshotMessage }
  | { readonly close: number }
  | { readonly chunk: number; readonly memory: SharedArrayBuffer }
  | RankMessage;

export interface RankMessage {
  readonly ask: number;
  /** `allow`: only which documents the question allows. */
  readonly what: "rank" | "allow";
  readonly task: RankTask;
  readonly snapshot: number;
  /** Positions in the snapshot of the segments that are read. */
  readonly parts: readonly number[];
  readonly terms: readonly string[];
  /** Blocks in shared memory, `blockFields` numbers each. */
  readonly blocks: Int32Array;
  /** The stored form of the blocks that this thread decodes. */
  readonly stored: Uint8Array;
  readonly places: readonly ReadonlyMap<string, Uint8Array>[];
  readonly limitMs: number;
}

export interface FromRank {
  readonly ask: number;
  readonly answer?: RankAnswer | (Uint8Array | undefined)[];
  readonly failed?: { readonly isLate: boolean; readonly why: string };
}

/** The thread that ranks. It answers one question after the other. */
const snapshots = new Map<number, readonly OpenSegment[]>();
const chunks = new Map<number, SharedArrayBuffer>();
const scratch = new Scratch();

parentPort?.on("message", (told: ToRank) => {
  if ("ask" in told) parentPort?.postMessage(answerTo(told));
  else if ("close" in told) snapshots.delete(told.close);
  else if ("chunk" in told) chunks.set(told.chunk, told.memory);
  else
    snapshots.set(
      told.snapshot.id,
      told.snapshot.segments.map((segment) => ({
        ...segment,
        dead: segment.dead === null ? null : new BitSet(segment.dead),
      })),
    );
});

function answerTo(asked: RankMessage): FromRank {
  const { ask, what, task } = asked;
  try {
    const isLate = lateAfter(asked.limitMs);
    const segments = read(asked);
    const run = what === "rank" ? rank : allow;
    return { ask, answer: run(task, segments, scratch, isLate) };
  } catch (error) {
    return { ask, failed: { isLate: error instanceof RankLate, why: (error as Error).message } };
  }
}

function read({ snapshot, parts, terms, blocks, stored, places }: RankMessage): ReadSegment[] {
  const open = snapshots.get(snapshot) as readonly OpenSegment[];
  const postings = parts.map(() => new Map<string, Postings>());
  for (let at = 0; at < blocks.length; at += blockFields) {
    const field = (index: number) => blocks[at + index] as number;
    const part = field(0);
    const segment = open[parts[part] as number] as OpenSegment;
    const memory = chunks.get(field(2)) as SharedArrayBuffer;
    const block = postingsAt(memory, field(3), field(4), segment.documents);
    if (field(5) !== -1) decode(stored.subarray(field(5), field(5) + field(6)), block, segment);
    postings[part]?.set(terms[field(1)] as string, block);
  }
  return parts.map((place, part) => ({
    segment: open[place] as OpenSegment,
    terms: {
      postings: postings[part] as Map<string, Postings>,
      places: places[part] as ReadonlyMap<string, Uint8Array>,
    },
  }));
}
