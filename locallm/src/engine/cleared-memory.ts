import { readFileSync } from "node:fs";
import koffi from "koffi";
import "./call-stack.ts";
import type { Pointer } from "./libllama/functions.ts";

/**
 * Calls `allocate`. The returned function gives the memory that `allocate` filled with zeros back to the system, which
 * supplies zeros again when a page is used. The engine fills a new cache with zeros, so without this a cache takes all
 * of its memory before it holds a token. Nothing may use the new memory before that. The function takes how many bytes the
 * engine says it filled: if more would be given back, some of it may be another thread's, and nothing is. Where the system
 * does not tell what memory is new, as on systems other than Linux, the function does nothing. It returns how many bytes it
 * gave back.
 */
export function clearedMemory<Result>(allocate: () => Result): {
  readonly result: Result;
  readonly giveBack: (mostBytes: number) => number;
} {
  const before = anonymousRanges();
  const result = allocate();
  const after = before === null ? null : anonymousRanges();
  if (before === null || after === null) return { result, giveBack: () => 0 };
  const added = without(after, before);
  return { result, giveBack: (mostBytes) => giveBack(added, mostBytes) };
}

function giveBack(ranges: readonly Range[], mostBytes: number): number {
  const zeros = ranges.flatMap(zerosIn);
  const bytes = zeros.reduce((sum, { from, to }) => sum + to - from, 0);
  // The zeros beside a buffer belong to its run.
  if (bytes > mostBytes + ranges.length * leastBytes) return 0;
  const { madvise } = systemCalls();
  for (const { from, to } of zeros) madvise(BigInt(from), to - from, dontNeed);
  return bytes;
}

/** In pieces of at most this size, the system provides memory when it is first used. */
export function pieceBytes(): number {
  try {
    const setting = readFileSync("/sys/kernel/mm/transparent_hugepage/enabled", "latin1");
    return setting.includes("[always]") ? hugePageBytes : systemCalls().getpagesize();
  } catch {
    return hugePageBytes;
  }
}

const hugePageBytes = 2 * 2 ** 20;

/** Memory is compared in blocks of this size, which is a multiple of the size of a page. */
const blockBytes = 64 * 1024;
/**
 * Shorter runs of zeros are left alone. V8's own threads may map memory at the same time and use it, but never this
 * much in one piece.
 */
const leastBytes = 2 * 2 ** 20;

/** Addresses, which are below 2^53 on all 64-bit systems. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The mappings of this process that belong to no file and have no name, in order. Null if they are not known. */
function anonymousRanges(): Range[] | null {
  try {
    const maps = readFileSync("/proc/self/maps", "latin1");
    const found = maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *$/gm);
    return Array.from(found, ([, from, to]) => ({ from: Number(`0x${from}`), to: Number(`0x${to}`) }));
  } catch {
    return null;
  }
}

/** The long parts of `ranges` that are not in `others`. Both are in order. */
function without(ranges: readonly Range[], others: readonly Range[]): Range[] {
  return ranges
    .flatMap((range) => {
      const parts: Range[] = [];
      let { from } = range;
      for (const other of others) {
        if (other.to <= from || other.from >= range.to) continue;
        parts.push({ from, to: other.from });
        from = other.to;
      }
      return [...parts, { from, to: range.to }];
    })
    .filter(({ from, to }) => to - from >= leastBytes);
}

/** The long runs of zeros in a range. Pages without memory are not read, because the system would provide it only for that. */
function zerosIn(range: Range): Range[] {
  const { memcmp, mincore, getpagesize } = systemCalls();
  const pageBytes = getpagesize();
  const pages = new Uint8Array((range.to - range.from) / pageBytes);
  if (mincore(BigInt(range.from), range.to - range.from, pages) !== 0) return [];
  const isZero = (at: number) => {
    const page = (at - range.from) / pageBytes;
    const isTaken = pages.subarray(page, page + blockBytes / pageBytes).some((state) => state !== 0);
    return isTaken && memcmp(BigInt(at), zeros, blockBytes) === 0;
  };
  const runs: Range[] = [];
  let { from } = range;
  for (let at = from; at <= range.to; at += blockBytes) {
    if (at + blockBytes <= range.to && isZero(at)) continue;
    if (at - from >= leastBytes) runs.push({ from, to: at });
    from = at + blockBytes;
  }
  return runs;
}

const zeros = new Uint8Array(blockBytes);
/** `MADV_DONTNEED` */
const dontNeed = 4;

interface SystemCalls {
  getpagesize(): number;
  memcmp(address: Pointer, bytes: Uint8Array, length: number): number;
  mincore(address: Pointer, bytes: number, pages: Uint8Array): number;
  madvise(address: Pointer, bytes: number, advice: number): number;
}

let found: SystemCalls | null = null;

function systemCalls(): SystemCalls {
  if (found !== null) return found;
  const c = koffi.load(null);
  found = {
    getpagesize: c.func("getpagesize", "int", []),
    memcmp: c.func("memcmp", "int", ["void *", "void *", "size_t"]),
    mincore: c.func("mincore", "int", ["void *", "size_t", "void *"]),
    madvise: c.func("madvise", "int", ["void *", "size_t", "int"]),
  } as SystemCalls;
  return found;
}
