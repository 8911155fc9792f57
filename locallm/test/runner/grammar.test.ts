import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "../../src/runner/handle.ts";
import type { Grammar } from "../../src/wire/inference/generate.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, endless, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

describe.skipIf(modelPath === null)("a grammar", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(modelPath!);
  });
  afterAll(() => runner.kill());

  const answer = (prompt: string, grammar: Grammar, changes = {}) =>
    collect(runner.generate(newJob(prompt, { grammar, numPredict: 40, ...changes })));

  it("applies to the whole answer, which ends where the grammar ends", async () => {
    const { text, done } = await answer("The answer, as JSON:", {
      gbnf: `root ::= "{\\"colour\\": \\"" ("red" | "green") "\\"}"`,
    });
    expect(JSON.parse(text)).toEqual({ colour: expect.stringMatching(/^(red|green)$/) });
    expect(done.reason).toBe("stop");
  });

  it("applies to a sampled answer, and to characters of several bytes", async () => {
    const sampling = { ...newJob("").sampling, temperature: 2, topK: 0, topP: 1, seed: 3 };
    const { text } = await answer("x", { gbnf: `root ::= [一-十]{3} "é" [0-9]+ "."` }, { sampling });
    expect(text).toMatch(/^[一-十]{3}é[0-9]+\.?$/);
  });

  it("starts at another root on request", async () => {
    const gbnf = `root ::= "no"\nother ::= "yes"`;
    expect((await answer("x", { gbnf, root: "other" })).text).toBe("yes");
  });

  it("is rejected if it cannot be parsed, lazy or not", async () => {
    for (const grammar of [
      { gbnf: "root ::= (" },
      { gbnf: `thing ::= "a"` },
      { gbnf: "root ::= (", lazy: { words: ["a"] } },
    ]) {
      await expect(answer("x", grammar)).rejects.toMatchObject({ code: "invalid_grammar" });
    }
    expect((await answer("x", { gbnf: `root ::= "ok"` })).text).toBe("ok");
  });

  describe("that is lazy", () => {
    const call = `root ::= "<call>" [0-9] [0-9] "</call>"`;

    it("leaves the text before its trigger free and applies afterwards", async () => {
      // A bias makes the model write "<call>" soon; the text before it is free.
      const prompt = 'Repeat exactly: "ok <call>11</call>"\nRepeated: "ok';
      const { text, done } = await answer(prompt, { gbnf: call, lazy: { words: ["<call>"] } });
      expect(text).toMatch(/^ <call>[0-9][0-9]<\/call>$/);
      expect(done.reason).toBe("stop");
    });

    it("applies from the start of the answer", async () => {
      const gbnf = `root ::= "{\\"name\\": \\"" [0-9] "\\"}"`;
      const prompt = 'Repeat exactly: {"name": "get_weather"}\nRepeated:';
      const { text } = await answer(prompt, { gbnf, lazy: { start: '{"name":' } });
      expect(text.trim()).toMatch(/^\{\s*"name"\s*: "[0-9]"\}$/);
    });

    it("does not apply without a trigger", async () => {
      const lazy = { words: ["<never>"] };
      const bound = await answer("The capital of France is", { gbnf: call, lazy }, { sampling: endless });
      const loose = await collect(
        runner.generate(newJob("The capital of France is", { numPredict: 40, sampling: endless })),
      );
      expect(bound.text).toBe(loose.text);
    });

    it("rejects a trigger that violates the grammar, and the process survives", async () => {
      const pid = runner.pid;
      const lazy = { words: ["<call>"] };
      const prompt = 'Repeat exactly: "ok <call>11</call>"\nRepeated: "ok';
      const { text } = await answer(prompt, { gbnf: `root ::= "[" [0-9] "]"`, lazy });
      expect(text).not.toContain("<call>");
      expect((await answer("x", { gbnf: `root ::= "ok"` })).text).toBe("ok");
      expect(runner.pid).toBe(pid);
    });
  });
});
