import koffi from "koffi";
import "./call-stack.ts";
import type { Pointer } from "./libllama/functions.ts";

/**
 * Aborts a step and counts its operations. After each operation the engine calls `bool f(void *data)` from
 * its own threads, which cannot run JavaScript. A function of the C library takes that role: `sem_trywait`
 * takes 1 from a semaphore and returns 0 (continue), or an error (stop) when nothing is left. The number of
 * units taken is the number of operations.
 */
export interface Pulse {
  readonly callback: Pointer;
  readonly data: Pointer;
  /** Call it before each step. */
  arm(): void;
  abort(): void;
  /** Grows while a step makes progress. */
  readonly count: number;
}

export function newPulse(): Pulse {
  return process.platform === "linux" ? semaphorePulse() : flagPulse(() => performance.now());
}

const enough = 2 ** 31 - 1;
/** So many steps never take `enough`: one has a few thousand operations. */
const filledEverySteps = 4096;

function semaphorePulse(): Pulse {
  const c = koffi.load(null);
  const init = c.func("sem_init", "int", ["void *", "int", "uint32_t"]) as (
    address: Pointer,
    shared: number,
    value: number,
  ) => number;
  const read = c.func("sem_getvalue", "int", ["void *", koffi.out("int *")]) as (
    address: Pointer,
    value: number[],
  ) => number;
  const memory = new Uint8Array(new ArrayBuffer(64));
  const data = koffi.address(memory);
  init(data, 0, enough);
  const taken = () => {
    const value = [0];
    read(data, value);
    return enough - value[0]!;
  };
  let before = 0;
  let isAborted = false;
  let steps = 0;
  return {
    callback: c.symbol("sem_trywait") as Pointer,
    data,
    arm() {
      if (!isAborted && ++steps < filledEverySteps) return;
      steps = 0;
      if (!isAborted) before += taken();
      isAborted = false;
      init(data, 0, enough);
    },
    abort() {
      if (!isAborted) before += taken();
      isAborted = true;
      init(data, 0, 0);
    },
    get count() {
      // Using `memory` here also keeps it alive: the library has only its address.
      return memory.length > 0 && !isAborted ? before + taken() : before;
    },
  };
}

/** The maximum duration of a step whose operations cannot be counted. */
const longestStepMs = 10 * 60_000;

/** Where the functions of C are. Programs of Windows do not have them themselves. */
const cLibrary = process.platform === "win32" ? "ucrtbase.dll" : null;

/**
 * The version for systems that cannot use `sem_trywait`. It uses `strlen`, which returns 0 (continue) for ""
 * and 1 (stop) for "\x01". It cannot count operations, so each reading counts as progress until a step has
 * taken longer than `longestStepMs`. Exported for the test.
 */
export function flagPulse(nowMs: () => number): Pulse {
  const flag = new Uint8Array(new ArrayBuffer(64));
  let asked = 0;
  let beganMs = nowMs();
  return {
    callback: koffi.load(cLibrary).symbol("strlen") as Pointer,
    data: koffi.address(flag),
    arm() {
      flag[0] = 0;
      beganMs = nowMs();
    },
    abort() {
      flag[0] = 1;
    },
    get count() {
      if (nowMs() - beganMs < longestStepMs) asked++;
      return asked;
    },
  };
}
