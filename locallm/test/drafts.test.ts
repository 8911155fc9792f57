import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { parseModelfile } from "../src/library/modelfile/parse.ts";
import { modelfileRequest } from "../src/library/modelfile/request.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { command, startServerHere, type TestServer } from "./server-process.ts";
import { smallAdapter, smallLlama, smallModel } from "./small-llama.ts";

let store: ModelStore;
let server: TestServer;
const digests: Record<string, string> = {};
const parameters = { num_thread: 1 };
beforeAll(async () => {
  store = await createModelStore();
  const further = Array.from({ length: 200 }, (_, at) => `<|spare${at}|>`);
  const files = {
    same: smallLlama(6),
    other: smallLlama(7),
    adapter: smallAdapter(1),
    further: smallModel("llama", 6, undefined, further),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(store.folder, `${name}.gguf`);
    await writeFile(path, bytes);
    digests[name] = await store.put(path);
  }
  await store.derive("plain", { files: { "m.gguf": digests["same"]! }, parameters });
  await store.derive("drafted", { from: "plain", draft_files: { "d.gguf": digests["same"]! } });
  await store.derive("other", { from: "drafted", draft_files: { "d.gguf": digests["other"]! } });
  server = await startServerHere({ models: store.folder, env: { LOCALLM_DRAFTS: "on" } });
});
afterAll(async () => {
  await server.stop();
  await store.remove();
});

/** What a guess costs is measured, so that answers may be guessed less on a busy machine. */
const measured = { retry: 5 };
// A retry measures anew.
beforeEach(async () => {
  const { models } = (await (await fetch(`${server.url}/api/ps`)).json()) as { models: { name: string }[] };
  for (const { name } of models) await server.ask("/api/generate", { model: name, keep_alive: 0 });
});

interface Answer {
  readonly response: string;
  readonly draft_n?: number;
  readonly draft_n_accepted?: number;
}

const ask = (model: string, prompt: string) =>
  server.ask<Answer>("/api/generate", {
    ...{ model, prompt, stream: false, raw: true },
    options: { temperature: 0, num_predict: 60 },
  });

it("a Modelfile names a draft model, which guesses answers without changing them", measured, async () => {
  const { draft } = modelfileRequest(parseModelfile(Buffer.from("FROM plain\nDRAFT ./small.gguf\n")));
  expect(draft).toBe("./small.gguf");
  const { modelfile } = await server.ask<{ modelfile: string }>("/api/show", { model: "other" });
  expect(modelfile.match(/^DRAFT .*/gm)).toEqual([expect.stringContaining(digests["other"]!.slice(7))]);
  const prompts = ["It rained in the harbour.", "x = 1; y = 2;"];
  const answers = async (model: string) => {
    const all: Answer[] = [];
    for (const prompt of prompts) all.push(await ask(model, prompt));
    return all;
  };
  const [plain, drafted, other] = [await answers("plain"), await answers("drafted"), await answers("other")];
  const texts = (all: readonly Answer[]) => all.map(({ response }) => response);
  expect(texts(drafted)).toEqual(texts(plain));
  expect(texts(other)).toEqual(texts(plain));
  const sum = (all: readonly Answer[], of: "draft_n" | "draft_n_accepted") =>
    all.reduce((so, answer) => so + (answer[of] ?? 0), 0);
  const accepted = sum(drafted, "draft_n_accepted");
  expect(accepted).toBeGreaterThan(sum(plain, "draft_n_accepted") + 5);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const told = /^locallm_accepted_draft_tokens_total\{model="drafted:latest"\} (\d+)/m.exec(metrics)?.[1];
  expect(Number(told)).toBe(accepted);
});

it("OpenAI's usage tells what was guessed ahead, for all prompts of a call together", measured, async () => {
  const prompt = ["It rained in the harbour.", "x = 1; y = 2;"];
  const details = async (body: object) => {
    const { usage } = await server.ask<{ usage: Usage }>("/v1/completions", {
      max_tokens: 60,
      temperature: 0,
      ...body,
    });
    return usage.completion_tokens_details;
  };
  const [first, both] = [
    await details({ model: "drafted", prompt: prompt[0] }),
    await details({ model: "drafted", prompt }),
  ];
  expect(first.accepted_prediction_tokens).toBeGreaterThan(5);
  expect(both.accepted_prediction_tokens).toBeGreaterThan(first.accepted_prediction_tokens! + 5);
  expect(both.rejected_prediction_tokens).toBeGreaterThanOrEqual(0);
  expect(await details({ model: "drafted", prompt: prompt[0], max_tokens: 1 })).toEqual({
    reasoning_tokens: 0,
  });
});

it("locallm run --verbose tells how many tokens were guessed ahead", measured, async () => {
  await store.derive("brief", {
    from: "drafted",
    parameters: { ...parameters, temperature: 0, num_predict: 60 },
  });
  const environment = { LOCALLM_HOST: server.url };
  const { out } = await command(["run", "brief", "--verbose", "It rained in the harbour."], environment);
  const line = /^guessed ahead: +(\d+) token\(s\), (\d+) of them right$/m;
  expect(out).toMatch(line);
  const [, guessed, right] = line.exec(out)!;
  expect(Number(right)).toBeGreaterThan(5);
  expect(Number(guessed)).toBeGreaterThanOrEqual(Number(right));
});

interface Usage {
  readonly completion_tokens_details: {
    readonly accepted_prediction_tokens?: number;
    readonly rejected_prediction_tokens?: number;
  };
}

it.each([
  ["adapter", "draft_files must be a whole model"],
  ["further", "draft_files must be a model with the same tokens"],
])("refuses as a draft model what is none for the model: %s", async (name, problem) => {
  const wrong = store.derive("wrong", { from: "plain", draft_files: { "d.gguf": digests[name]! } });
  await expect(wrong).rejects.toThrow(problem);
});
