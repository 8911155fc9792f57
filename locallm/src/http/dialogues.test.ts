import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createModelStore, type ModelStore } from "../../test/model-store.ts";
import { ggufBytes, loadableModel, text, withEntry } from "../../test/tiny-gguf.ts";
import { TemplateThreads, templateBudget } from "../dialogue/template-threads.ts";
import type { Templates } from "../dialogue/template-work.ts";
import type { Model } from "../library/model.ts";
import { Store } from "../library/store.ts";
import { requireModelName } from "../wire/model-name.ts";
import { Dialogues } from "./dialogues.ts";

const threads = new TemplateThreads({ ...templateBudget, quickMs: 20, processorMs: 40 });
let folder: ModelStore;
let store: Store;
let hostile: Model;
beforeAll(async () => {
  folder = await createModelStore();
  store = new Store(folder.folder);
  const template = text(`${"\n".repeat(60_000)}{{ messages }}`);
  const bytes = ggufBytes(withEntry(loadableModel(), "tokenizer.chat_template", template));
  const path = `${folder.folder}/hostile.gguf`;
  await writeFile(path, bytes);
  await folder.add("hostile", path);
  hostile = await store.require(requireModelName("hostile"), "hostile");
});
afterAll(async () => {
  threads.close();
  await folder.remove();
});

test("does not run a template again soon after it spent its budget", async () => {
  let nowMs = 0;
  let readings = 0;
  const counted: Templates = {
    run(kind, work, signal) {
      if (kind === "read") readings += 1;
      return threads.run(kind, work, signal);
    },
  };
  const clock = { now: () => nowMs, after: () => () => {} };
  const dialogues = new Dialogues(store, counted, clock);
  const overBudget = { code: "template_over_budget", details: { limit: "40 ms of processor time" } };
  for (let request = 0; request < 5; request++)
    await expect(dialogues.of(hostile)).rejects.toMatchObject(overBudget);
  expect(readings).toBe(1);
  // The failure may have come from a busy machine, so the template is tried again after longer and longer
  // pauses.
  for (const [pauseMs, expected] of [
    [1_001, 2],
    [1_001, 2],
    [1_001, 3],
    [30_000, 4],
    [7_900, 4],
    [101, 5],
  ] as const) {
    nowMs += pauseMs;
    await expect(dialogues.of(hostile)).rejects.toMatchObject(overBudget);
    expect([pauseMs, readings]).toEqual([pauseMs, expected]);
  }
});
