import fc from "fast-check";
import { expect, test } from "vitest";
import { Recent } from "./recent.ts";

test("removes what was not used for long when the bytes exceed the limit", () => {
  const steps = fc.array(fc.record({ key: fc.integer({ min: 0, max: 9 }), isRead: fc.boolean() }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(steps, (list) => {
      const recent = new Recent<number, string>(35);
      // A simple model: a queue of at most three entries, because each has 10 bytes. An entry that was used moves to
      // the end once.
      const queue: number[] = [];
      const used = new Set<number>();
      for (const { key, isRead } of list) {
        const isKept = queue.includes(key);
        if (isRead) {
          expect(recent.get(key)).toBe(isKept ? `${key}` : undefined);
          if (isKept) used.add(key);
          continue;
        }
        recent.put(key, `${key}`, 10);
        if (isKept) continue;
        queue.push(key);
        used.add(key);
        while (queue.length > 3) {
          const oldest = queue.shift() as number;
          if (used.delete(oldest)) queue.push(oldest);
        }
      }
      for (const key of Array(10).keys()) expect(recent.get(key) !== undefined).toBe(queue.includes(key));
    }),
    { seed: 7 },
  );
});
