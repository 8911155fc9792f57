import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyTurns } from "./body-turns.ts";

/** Time that moves only while bodies are parsed and while nothing else is left to do. */
function scriptedClock() {
  let nowMs = 0;
  const later: { atMs: number; callback: () => void }[] = [];
  return {
    now: () => nowMs,
    work: (ms: number) => {
      nowMs += ms;
    },
    afterWork: (callback: () => void) => void setImmediate(callback),
    after: (ms: number, callback: () => void) => void later.push({ atMs: nowMs + ms, callback }),
    async run() {
      for (;;) {
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        const next = later.sort((a, b) => a.atMs - b.atMs).shift();
        if (next === undefined) return;
        nowMs = Math.max(nowMs, next.atMs);
        next.callback();
      }
    },
  };
}

test("parses large bodies one at a time in order, and pauses after each for as long as it took", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(700), { minLength: 1, maxLength: 30 }),
      fc.nat(5),
      async (costs, failing) => {
        const clock = scriptedClock();
        const turns = new BodyTurns(clock);
        const parsed: { index: number; fromMs: number; toMs: number }[] = [];
        const requests = costs.map(async (cost, index) => {
          await turns.take(100_000 + index);
          const fromMs = clock.now();
          clock.work(cost);
          parsed.push({ index, fromMs, toMs: clock.now() });
          if (index === failing) throw new Error("invalid JSON");
        });
        const ended = Promise.allSettled(requests);
        await clock.run();
        await ended;
        expect(parsed.map(({ index }) => index)).toEqual(costs.map((_, index) => index));
        for (const [place, { fromMs }] of parsed.entries()) {
          const before = parsed[place - 1];
          if (before !== undefined) expect(fromMs - before.toMs).toBe(before.toMs - before.fromMs);
        }
      },
    ),
    { seed: 11, numRuns: 60 },
  );
});

test("a small body never waits", async () => {
  const turns = new BodyTurns({ now: () => 0, afterWork: () => {}, after: () => {} });
  await turns.take(65_537);
  const isWaiting = turns.take(65_537).then(() => false);
  await turns.take(65_536);
  expect(await Promise.race([isWaiting, Promise.resolve(true)])).toBe(true);
});
