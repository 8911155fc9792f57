import type { Worker } from "node:worker_threads";
import { afterAll, describe, expect, test } from "vitest";
import { checkTemplate, createDialogue } from "./dialogue.ts";
import { TemplateThreads, templateBudget } from "./template-threads.ts";
import { plainTurn } from "./turn.ts";

const vocabulary = { addBos: false, markers: ["<|im_start|>", "<|im_end|>"] };
const say = (content: string, role = "user") => ({ role, content });
const jinja = (text: string) => ({
  template: { language: "jinja" as const, text },
  bosText: "",
  eosText: "",
});
const go = (text: string) => ({ template: { language: "go" as const, text }, bosText: "", eosText: "" });
const plain = jinja("{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}");

/** Takes forever. */
const nest = `${"{% for a in range(9999) %}".repeat(6)}x${"{% endfor %}".repeat(6)}`;

const threads = new TemplateThreads();
afterAll(() => threads.close());

test("returns the output of a template or a named error", async () => {
  const dialogue = await createDialogue(plain, threads);
  expect(await dialogue.prompt(plainTurn([say("hi")]), vocabulary)).toBe("<|im_start|>hi");
  expect(await dialogue.prompt(plainTurn([say("<|im_end|>")]), vocabulary)).toEqual({
    pieces: ["<|im_start|><", "|im_end|>"],
  });
  await expect(createDialogue(jinja("{% for %}"), threads)).rejects.toMatchObject({
    code: "template_invalid",
  });
  await expect(checkTemplate("{{ .Nope", threads)).rejects.toMatchObject({ code: "template_invalid" });
  const strict = await createDialogue(
    jinja("{% if messages | length > 1 %}{{ raise_exception('one only') }}{% endif %}"),
    threads,
  );
  await expect(strict.prompt(plainTurn([say("a"), say("b", "tool")]), vocabulary)).rejects.toMatchObject({
    code: "conversation_refused",
    message: expect.stringContaining("one only"),
  });
});

test("rejects a conversation that is nested too deeply, and renders the next one", async () => {
  const dialogue = await createDialogue(plain, threads);
  const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
  const tools = [{ type: "function", function: { name: "f", parameters: { deep } } }];
  await expect(dialogue.prompt(plainTurn([say("x")], { tools }), vocabulary)).rejects.toMatchObject({
    code: "template_failed",
  });
  expect(await dialogue.prompt(plainTurn([say("hi")]), vocabulary)).toBe("<|im_start|>hi");
});

describe("a task that spends its budget", () => {
  const small = { ...templateBudget, quickMs: 20, processorMs: 60, memoryMb: 64 };
  const lines = "\n".repeat(60_000);
  const hostile: [string, Parameters<typeof createDialogue>[0]][] = [
    ["the Jinja lexer on 60,000 lines", jinja(`${lines}{{ messages }}`)],
    ["a nest of loops", jinja(nest)],
  ];

  test.each(hostile)("fails with a named error while others are rendered: %s", async (_, source) => {
    const budgeted = new TemplateThreads(small);
    const dialogue = await createDialogue(plain, threads);
    const failing = Promise.allSettled([1, 2, 3, 4].map(() => createDialogue(source, budgeted)));
    let rendered = 0;
    for (; rendered < 20; rendered++) await dialogue.prompt(plainTurn([say("hi")]), vocabulary);
    for (const outcome of await failing)
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: expect.objectContaining({ code: expect.stringMatching(/^template_(over_budget|invalid)$/) }),
      });
    expect(await createDialogue(plain, budgeted)).toMatchObject({ marked: false });
    budgeted.close();
  });

  test("fails for a long text only: a function that is called again and again", async () => {
    const budgeted = new TemplateThreads(small);
    const dialogue = await createDialogue(go("{{ len (js .System) }}".repeat(20)), budgeted);
    const turn = plainTurn([say("<é>".repeat(1_000_000), "system"), say("x")]);
    await expect(dialogue.prompt(turn, vocabulary)).rejects.toMatchObject({ code: "template_over_budget" });
    expect(await dialogue.prompt(plainTurn([say("é", "system")]), vocabulary)).toBe("2".repeat(20));
    budgeted.close();
  });

  test("fails when it uses too much memory", async () => {
    const budgeted = new TemplateThreads({ ...small, processorMs: 60_000, quickMs: 60_000 });
    const copies = Array.from({ length: 400 }, (_, at) => `{% set x${at} = messages[0].content | upper %}`);
    const dialogue = await createDialogue(
      jinja(`x{{ messages[0].content[:0] }}${copies.join("")}`),
      budgeted,
    );
    const turn = plainTurn([say("é".repeat(900_000))]);
    await expect(dialogue.prompt(turn, vocabulary)).rejects.toMatchObject({
      code: "template_over_budget",
      message: expect.stringContaining("64 MB of memory"),
    });
    expect(await dialogue.prompt(plainTurn([say("hi")]), vocabulary)).toBe("x");
    budgeted.close();
  });
});

test("starts another thread after one without work has ended", async () => {
  const budgeted = new TemplateThreads({ ...templateBudget, idleMs: 1 });
  for (let time = 0; time < 2; time++) {
    expect(await createDialogue(plain, budgeted)).toMatchObject({ marked: false });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  budgeted.close();
});

test("replaces a thread that has ended without work; one that ends fails only its own task", async () => {
  const budgeted = new TemplateThreads({ ...templateBudget, quickThreads: 1 });
  const workers: Worker[] = [];
  const started = (worker: Worker) => workers.push(worker);
  process.on("worker", started);
  await createDialogue(plain, budgeted);
  await workers[0]!.terminate();
  expect(await createDialogue(plain, budgeted)).toMatchObject({ marked: false });
  const endless = budgeted.run("read", { source: jinja(nest) });
  const next = createDialogue(plain, budgeted);
  void workers[1]!.terminate();
  await expect(endless).rejects.toThrow("a thread of locallm templates ended unexpectedly (exit code 1)");
  expect(await next).toMatchObject({ marked: false });
  expect(workers).toHaveLength(3);
  process.off("worker", started);
  budgeted.close();
});

test("drops waiting work when the client leaves", async () => {
  const budgeted = new TemplateThreads({ ...templateBudget, quickThreads: 1, processorMs: 300 });
  const endless = jinja(`${"\n".repeat(60_000)}{{ messages }}`);
  const running = createDialogue(endless, budgeted).catch(({ code }: { code: string }) => code);
  const abort = new AbortController();
  const dialogue = await createDialogue(plain, threads);
  expect(dialogue.stop).toEqual([]);
  const waiting = budgeted.run("read", { source: plain }, abort.signal);
  abort.abort(new Error("the client left"));
  await expect(waiting).rejects.toThrow("the client left");
  expect(await running).toBe("template_over_budget");
  budgeted.close();
});
