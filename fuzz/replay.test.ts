import { expect, test } from "vitest";
import { lineOf, readCorpus } from "./corpus.ts";
import { loadTarget, targetFiles } from "./target.ts";
import { trial } from "./trial.ts";

// The search itself: npm run proof -- search.
test.each(targetFiles())("$name reads its seeds and its corpus", async (file) => {
  const target = await loadTarget(file);
  const inputs = [
    ...target.seeds.map((seed) => Buffer.from(seed)),
    ...readCorpus(file.corpus).map(({ input }) => input),
  ];
  const faults: string[] = [];
  for (const input of inputs) {
    const fault = await trial(target, input);
    // Other tests run in this process, so that memory is judged by the search only.
    if (fault !== undefined && fault.key !== "memory")
      faults.push(`${fault.text}: ${lineOf(input).slice(0, 500)}`);
  }
  expect(faults).toEqual([]);
});

test("an input that throws, takes too long or takes too much memory is a fault", async () => {
  // Wide, because a busy machine slows a quick input, too.
  const bounds = { ms: 100, msPerKib: 0, mib: 4, mibPerKib: 0 };
  const kept: unknown[] = [];
  const target = {
    ...{ covers: [], seeds: [], bounds },
    refuses: (error: unknown) => error instanceof SyntaxError,
    read(input: Buffer) {
      const text = input.toString();
      if (text === "slow") for (const begun = processorTime(); processorTime() - begun < 150_000; );
      else if (text === "large") kept.push(Buffer.alloc(8 << 20, 1));
      else if (text === "wrong") throw new TypeError("x is not a function");
      else JSON.parse(text);
    },
  };
  const keyOf = async (text: string) => (await trial(target, Buffer.from(text)))?.key;
  expect(await keyOf("1")).toBeUndefined();
  expect(await keyOf("{")).toBeUndefined();
  expect(await keyOf("slow")).toBe("time");
  expect(await keyOf("large")).toBe("memory");
  expect(await keyOf("wrong")).toMatch(/^TypeError {2}replay\.test\.ts:\d+$/);
});

function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
