import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { type Loaded, loadedVariable } from "./mutant-plan.ts";

// Imported first by the process that runs tests and by its threads. Sources that have mutants are loaded with all of
// them, and memory that all threads share says which one is on.
const { count, texts } = JSON.parse(readFileSync(process.env[loadedVariable]!, "utf8")) as Loaded;
const key = "fuzz/mutant-switch";
const shared = getEnvironmentData(key) as SharedArrayBuffer | undefined;
const memory = shared ?? new SharedArrayBuffer(20 + count + 1);

/** Which mutant is on, how many places may still be reached, how many might be, milliseconds of processor time, turns. */
const numbers = new Int32Array(memory, 0, 5) as Int32Array & Record<0 | 1 | 2 | 3 | 4, number>;
/** For each mutant, whether its place was reached. */
export const reached = new Uint8Array(memory, 20);

const most = 2 ** 31 - 1;

/**
 * Turns a mutant on, or all off with 0. After so many places on its way, each one throws: most mutants that loop for
 * ever come to a place in each round. The others take more processor time than they may.
 */
export function turnOn(mutant: number, places = most, cpuMs = most): void {
  numbers[0] = mutant;
  numbers[1] = numbers[2] = places;
  numbers[3] = cpuMs;
  numbers[4]++;
}

if (shared === undefined) {
  turnOn(0);
  setEnvironmentData(key, memory);
}

/** How many places were reached since the last turn. */
export function placesPassed(): number {
  return numbers[2] - numbers[1];
}

/** Calls back, with the mutant, when a turn has taken more processor time than it may. For a thread of its own. */
export function watch(tell: (mutant: number) => void): void {
  let turn = -1;
  let from = 0;
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    const now = (user + system) / 1_000;
    if (turn !== numbers[4]) from = now;
    turn = numbers[4];
    if (now - from > numbers[3]) tell(numbers[0]);
  }, 250);
}

Object.assign(globalThis, {
  isMutant$: (number: number): boolean => {
    reached[number] = 1;
    if (--numbers[1] < 0) throw new Error("it does not end");
    return number === numbers[0];
  },
});

registerHooks({
  load(url, context, nextLoad) {
    const source = texts[url];
    return source === undefined ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
  },
});
