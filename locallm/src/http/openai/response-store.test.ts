import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KeptResponse } from "./kept-response.ts";
import { ResponseFiles } from "./response-files.ts";
import { ResponseStore } from "./response-store.ts";

const idOf = (number: number) => `resp_${String(number).padStart(32, "0")}`;
const response = (number: number, length = 10, createdAt = number): KeptResponse => ({
  response: { id: idOf(number), created_at: createdAt, output: [] },
  input: [{ role: "user", content: "x".repeat(length) }],
  owner: null,
});
const administrator = { id: null };
const sizeOf = (kept: KeptResponse) => Buffer.byteLength(JSON.stringify(kept));

describe("ResponseStore", () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 0;
  });
  const limits = (bytes: number, lifetimeMs = Number.POSITIVE_INFINITY) => ({
    bytes,
    lifetimeMs,
    now: () => nowMs,
  });

  it("removes the oldest responses beyond its limit, and never exceeds it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(2000), { maxLength: 30 }),
        fc.integer({ min: 100, max: 5000 }),
        async (lengths, bytes) => {
          const store = await ResponseStore.open(limits(bytes));
          const all = lengths.map((length, index) => response(index, length));
          for (const kept of all) expect(await store.add(kept)).toBe(sizeOf(kept) <= bytes);
          const held = all.filter((kept) => store.get(kept.response.id, administrator) !== null);
          expect(held.reduce((sum, kept) => sum + sizeOf(kept), 0)).toBeLessThanOrEqual(bytes);
          // The store keeps the newest responses that are small enough, as many as fit.
          const fitting = all.filter((kept) => sizeOf(kept) <= bytes);
          expect(held).toEqual(held.length === 0 ? [] : fitting.slice(-held.length));
          const next = fitting.at(-held.length - 1);
          if (next !== undefined && held.length > 0 && held.length < fitting.length)
            expect([next, ...held].reduce((sum, kept) => sum + sizeOf(kept), 0)).toBeGreaterThan(bytes);
        },
      ),
      { seed: 5, numRuns: 100 },
    );
  });

  it("forgets a response after its lifetime", async () => {
    const store = await ResponseStore.open(limits(10_000, 60_000));
    await store.add(response(1, 10, 0));
    nowMs = 59_999;
    expect(store.get(idOf(1), administrator)).toEqual(response(1, 10, 0));
    nowMs = 60_000;
    expect(store.get(idOf(1), administrator)).toBeNull();
    expect(store.remove(idOf(1))).toBe(false);
  });

  it("keeps nothing with a limit of 0", async () => {
    const store = await ResponseStore.open(limits(0));
    expect(await store.add(response(1))).toBe(false);
    expect(store.get(idOf(1), administrator)).toBeNull();
  });

  it("gives a response to the key that made it and to the administrator", async () => {
    const store = await ResponseStore.open(limits(1000));
    await store.add({ ...response(1), owner: "a" });
    await store.add(response(2));
    const read = (number: number, id: string | null) => store.get(idOf(number), { id }) !== null;
    expect([read(1, "a"), read(1, "b"), read(1, null)]).toEqual([true, false, true]);
    expect([read(2, "a"), read(2, null)]).toEqual([false, true]);
  });

  it("removes what it is asked to remove, once", async () => {
    const store = await ResponseStore.open(limits(10_000));
    await store.add(response(1));
    expect([store.remove(idOf(1)), store.remove(idOf(1)), store.get(idOf(1), administrator)]).toEqual([
      true,
      false,
      null,
    ]);
  });

  describe.skipIf(process.platform === "win32")("with files", () => {
    let folder: string;
    let problems: string[];
    beforeEach(async () => {
      folder = join(await mkdtemp(join(tmpdir(), "locallm-responses-")), "kept");
      problems = [];
    });
    afterEach(() => rm(join(folder, ".."), { recursive: true }));
    const open = (bytes = 10_000, lifetimeMs?: number) =>
      ResponseStore.open(
        limits(bytes, lifetimeMs),
        new ResponseFiles(folder, (problem) => problems.push(problem)),
      );
    const names = async () => (await readdir(folder)).sort();

    it("survives a restart, in files that only the owner can read", async () => {
      const store = await open();
      for (const number of [1, 2]) await store.add(response(number));
      const { mode } = await stat(join(folder, `${idOf(1)}.json`));
      expect([mode & 0o777, (await stat(folder)).mode & 0o777]).toEqual([0o600, 0o700]);
      const again = await open();
      expect([again.get(idOf(1), administrator), again.get(idOf(2), administrator)]).toEqual([
        response(1),
        response(2),
      ]);
      again.remove(idOf(1));
      await again.add(response(3));
      expect(await names()).toEqual([`${idOf(2)}.json`, `${idOf(3)}.json`]);
      expect((await open()).get(idOf(1), administrator)).toBeNull();
    });

    it("drops damaged files and those of another response, and leaves foreign files alone", async () => {
      await (await open()).add(response(1));
      const whole = await readFile(join(folder, `${idOf(1)}.json`), "utf8");
      const damaged = ["", "{", "null", "[]", whole.slice(0, -9), whole.replace('"output":[]', '"output":5')];
      for (const [index, text] of [...damaged, whole].entries())
        await writeFile(join(folder, `${idOf(index + 2)}.json`), text);
      for (const name of ["notes.txt", "resp_1.json", `${idOf(1)}.json.bak`])
        await writeFile(join(folder, name), "x");
      const store = await open();
      expect(store.get(idOf(1), administrator)).toEqual(response(1));
      for (let number = 2; number <= 8; number++) expect(store.get(idOf(number), administrator)).toBeNull();
      // This removal waits for all others.
      await store.add(response(9));
      expect(await names()).toEqual(
        ["notes.txt", "resp_1.json", `${idOf(1)}.json`, `${idOf(1)}.json.bak`, `${idOf(9)}.json`].sort(),
      );
      expect(problems).toEqual(Array<string>(7).fill("removed a damaged response from disk"));
    });

    it("reads no more than its limit: the newest", async () => {
      const store = await open();
      for (const number of [1, 2, 3]) {
        await store.add(response(number, 100));
        await utimes(join(folder, `${idOf(number)}.json`), number, number);
      }
      const small = await open(sizeOf(response(1, 100)) * 2);
      expect([1, 2, 3].map((number) => small.get(idOf(number), administrator) !== null)).toEqual([
        false,
        true,
        true,
      ]);
      nowMs = 1_000_000;
      const late = await open(10_000, 997_500);
      expect([2, 3].map((number) => late.get(idOf(number), administrator) !== null)).toEqual([false, true]);
    });

    it("keeps a response in memory if it cannot be written", async () => {
      const store = await open();
      await rm(folder, { recursive: true });
      await writeFile(folder, "a file instead");
      expect(await store.add(response(1))).toBe(true);
      expect([store.get(idOf(1), administrator), problems]).toEqual([
        response(1),
        ["cannot write a response to disk"],
      ]);
    });

    it("throws if the folder cannot be used", async () => {
      await mkdir(join(folder, ".."), { recursive: true });
      await writeFile(folder, "a file instead");
      await expect(open()).rejects.toMatchObject({ code: expect.stringMatching(/EEXIST|ENOTDIR/) });
      await chmod(folder, 0o600);
    });
  });
});
