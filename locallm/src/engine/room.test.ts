import fc from "fast-check";
import { expect, it } from "vitest";
import { Room } from "./room.ts";

const slots = 4;
const slot = fc.nat(slots - 1);
const count = fc.nat(12);
const change = fc.oneof(
  fc.record({ kind: fc.constant("grow" as const), slot, count }),
  fc.record({ kind: fc.constant("cut" as const), slot, count }),
  fc.record({ kind: fc.constant("remove" as const), slot, from: count, count }),
  fc.record({ kind: fc.constant("share" as const), slot, from: slot, count }),
);

it("counts each cell once, however many slots hold it", () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 40 }),
      fc.array(count, { minLength: slots }),
      (changes, needs) => {
        const room = new Room(1000, slots);
        const held: object[][] = Array.from({ length: slots }, () => []);
        for (const one of changes) {
          const own = held[one.slot]!;
          if (one.kind === "grow") {
            own.push(...Array.from({ length: one.count }, () => ({})));
            room.grow(one.slot, one.count);
          } else if (one.kind === "cut") {
            own.splice(one.count);
            room.cut(one.slot, one.count);
          } else if (one.kind === "remove") {
            if (one.from + one.count > own.length) continue;
            own.splice(one.from, one.count);
            room.remove(one.slot, one.from, one.count);
          } else {
            if (one.from === one.slot) continue;
            held[one.slot] = held[one.from]!.slice(0, one.count);
            room.share(one.from, one.slot, one.count);
          }
        }
        expect(room.free).toBe(1000 - new Set(held.flat()).size);
        for (const [index, cells] of held.entries())
          expect(room.isShared(index, 3)).toBe(
            cells.slice(3).some((cell) => held.some((other, at) => at !== index && other.includes(cell))),
          );
        const small = new Room(30, slots);
        for (const [index, cells] of held.entries()) small.grow(index, cells.length);
        const asked = held.map((_, index) => ({ index, needs: needs[index]! }));
        const sizes = held.map((cells, index) => cells.length + needs[index]!);
        const fits = (first: number) => sizes.slice(0, first).reduce((sum, size) => sum + size, 0) <= 30;
        expect(small.fitting(asked)).toBe([4, 3, 2].find(fits) ?? 1);
      },
    ),
  );
});
