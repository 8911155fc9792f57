import { describe, expect, it } from "vitest";
import type { GenerateDone, GenerateEvent } from "../wire/inference/generate.ts";
import { JobStream } from "./job-stream.ts";

const text = (index: number): GenerateEvent => ({ kind: "text", text: String(index), tokens: 1 });
const done = { kind: "done", reason: "stop" } as GenerateDone;

describe("JobStream", () => {
  it("pauses its slot when nobody reads, and resumes it when most is read", () => {
    const told: string[] = [];
    const stream = new JobStream((kind) => told.push(kind));
    for (let index = 0; index < 63; index++) stream.push(text(index));
    expect(told).toEqual([]);
    for (let index = 63; index < 70; index++) stream.push(text(index));
    expect(told).toEqual(["pause"]);
    for (let index = 0; index < 61; index++) expect(stream.take()).toEqual(text(index));
    expect(told).toEqual(["pause"]);
    stream.take();
    expect(told).toEqual(["pause", "resume"]);
    for (let index = 62; index < 70; index++) expect(stream.take()).toEqual(text(index));
    expect(stream.take()).toBeNull();
  });

  it("passes an event to a waiting reader", async () => {
    const stream = new JobStream(() => {});
    const next = stream.next();
    stream.push(done);
    expect(await next).toBe(done);
    expect(stream.ended).toBe(true);
  });

  it("delivers the events before the runner's error", () => {
    const stream = new JobStream(() => {});
    stream.push(text(1));
    stream.refuse(new Error("died"));
    expect(stream.take()).toEqual(text(1));
    expect(() => stream.take()).toThrow("died");
    expect(stream.ended).toBe(true);
  });

  it("fails at once when the reader aborts, though the runner has not ended the job", async () => {
    const stream = new JobStream(() => {});
    stream.push(text(1));
    stream.fail(new Error("gone"));
    expect(() => stream.take()).toThrow("gone");
    expect(stream.ended).toBe(false);
    const waiting = new JobStream(() => {});
    const next = waiting.next();
    waiting.fail(new Error("gone"));
    await expect(next).rejects.toThrow("gone");
  });
});
