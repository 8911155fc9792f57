import { expect, test } from "vitest";
import { Sweeper } from "./sweeper.ts";

test("a step that fails is named, and the steps after it run", async () => {
  const done: string[] = [];
  const failed: string[] = [];
  const sweeper = new Sweeper(
    {
      first: async () => done.push("first"),
      second: async () => {
        throw new Error("no database");
      },
      third: () => {
        throw new Error("not even a promise");
      },
      seal: async () => done.push("seal"),
    },
    (step, error) => failed.push(`${step}: ${error.message}`),
  );
  await sweeper.sweep();
  await sweeper.sweep();
  expect(done).toEqual(["first", "seal", "first", "seal"]);
  expect(failed.slice(0, 2)).toEqual(["second: no database", "third: not even a promise"]);
});

test("sweeps do not queue while one is running", async () => {
  let runs = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const sweeper = new Sweeper(
    {
      slow: () => {
        runs += 1;
        return promise;
      },
    },
    () => {},
  );
  const all = Array.from({ length: 100 }, () => sweeper.sweep());
  resolve();
  await Promise.all(all);
  expect(runs).toBe(1);
  await sweeper.sweep();
  expect(runs).toBe(2);
});

test("close waits for the running step and begins no other", async () => {
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const sweeper = new Sweeper(
    {
      slow: async () => {
        await promise;
        done.push("slow");
      },
      next: async () => done.push("next"),
    },
    () => {},
  );
  void sweeper.sweep();
  const closed = sweeper.close().then(() => done.push("closed"));
  resolve();
  await closed;
  await sweeper.sweep();
  expect(done).toEqual(["slow", "closed"]);
});
