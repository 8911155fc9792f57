import fc from "fast-check";
import { expect, it } from "vitest";
import { Growth } from "./growth.ts";
import { Room } from "./room.ts";

it("uses of a cache what is granted, and never asks for more than it lacks or for what it has", async () => {
  const step = fc.record({ free: fc.nat(9_000), share: fc.constantFrom(0, 0.4, 1, 1), passes: fc.nat(3) });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6_000 }),
      fc.integer({ min: 0, max: 20_000 }),
      fc.array(step, { maxLength: 12 }),
      async (window, spare, steps) => {
        const room = new Room(window + spare, 2);
        let nowNs = 0;
        let share = 1;
        let granted = 0;
        let refusedNs = Number.NEGATIVE_INFINITY;
        const asked: number[] = [];
        const growth = new Growth({
          ...{ room, spare },
          now: () => nowNs,
          ask: async (cells) => {
            expect(nowNs - refusedNs).toBeGreaterThanOrEqual(1e9);
            asked.push(cells);
            const given = Math.floor(cells * share);
            if (given < cells) refusedNs = nowNs;
            granted += given;
            return given;
          },
        });
        expect(room.cells).toBe(window);
        for (const { free, share: next, passes } of steps) {
          share = next;
          nowNs += passes * 6e8;
          const before = room.cells;
          const times = asked.length;
          const left = spare - granted;
          await growth.reach(free);
          expect(room.cells).toBe(window + granted);
          if (free <= before || left === 0) expect(asked).toHaveLength(times);
          for (const cells of asked.slice(times)) {
            expect(cells).toBeGreaterThanOrEqual(Math.min(left, free - before));
            expect(cells).toBeLessThanOrEqual(left);
          }
        }
        // What was refused is asked for again later.
        [share, nowNs] = [1, nowNs + 1e9];
        await growth.reach(window + spare);
        expect(room.free).toBe(window + spare);
      },
    ),
    { numRuns: 300 },
  );
});

it("asks for a sixteenth of what was spare, so that few steps wait for an answer", async () => {
  const room = new Room(40_000, 1);
  let times = 0;
  const ask = async (cells: number) => {
    times++;
    return cells;
  };
  const growth = new Growth({ room, spare: 32_000, now: () => 0, ask });
  for (let free = 1; free <= 40_000; free += 7) await growth.reach(free);
  expect(times).toBe(16);
});
