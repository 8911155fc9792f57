import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Explained } from "./crowd.ts";
import { createSmallStore, embeddingModelPath, type ModelStore } from "./model-store.ts";
import { rawRequest } from "./raw-http.ts";
import { lines, metricsOf, startServerHere, type TestServer, until } from "./server-process.ts";
import { smallLlama } from "./small-llama.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

type Answer = Record<string, unknown>;

const model = "small:a";
const hi = [{ role: "user", content: "hi" }];
const greedy = { temperature: 0, num_predict: 4 };

describe("the native API", () => {
  let store: ModelStore;
  let server: TestServer;
  beforeAll(async () => {
    store = await createSmallStore();
    const letters = [..."abcdefghijklmnopqrstuvwxyz"];
    await store.derive("stops:1", { from: model, parameters: { stop: letters, num_predict: 200 } });
    await store.derive("pirate:1", { from: model, system: "Talk like a pirate." });
    await store.derive("thinks:1", {
      from: model,
      template:
        "{{ range .Messages }}{{ .Content }}{{ end }}{{ if .Think }}<think>{{ end }}{{ if false }}</think>{{ end }}",
    });
    const wide = join(store.folder, "wide.gguf");
    await writeFile(wide, smallLlama(3, 2 ** 31 - 1));
    await store.add("wide:1", wide);
    const broken = join(store.folder, "broken.gguf");
    await writeFile(broken, ggufBytes(tinyModel()));
    await store.add("broken:1", broken);
    if (embeddingModelPath !== null) await store.add("all-minilm:22m", embeddingModelPath);
    server = await startServerHere({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  const status = async (route: string, body: unknown) => {
    const response = await server.post(route, body);
    return [response.status, ((await response.json()) as Answer)["error"]];
  };
  const generate = (body: Answer) =>
    server.ask("/api/generate", { model, stream: false, options: greedy, ...body });
  const collect = async (response: Response) => {
    const all: Answer[] = [];
    for await (const line of lines(response)) all.push(line);
    return all;
  };

  describe("errors before a model is loaded", () => {
    it.each<[string, Answer, number, unknown]>([
      ["/api/generate", { model: "", prompt: "x" }, 400, "model is required"],
      ["/api/generate", { model: "bad name!", prompt: "x" }, 400, "invalid model name"],
      ["/api/generate", { model: "absent", prompt: "x" }, 404, "model 'absent' not found"],
      ["/api/chat", { model: "absent", messages: hi }, 404, "model 'absent' not found"],
      ["/api/embed", { model: "absent", input: "x" }, 404, "model 'absent' not found"],
      ["/api/embeddings", { model: "absent", prompt: "x" }, 404, "model 'absent' not found"],
      ["/api/tokenize", { model: "absent", content: "x" }, 404, "model 'absent' not found"],
      ["/api/generate", { model, prompt: ["x"] }, 400, "prompt must be a string"],
      ["/api/generate", { model, prompt: "x", stream: "yes" }, 400, "stream must be a boolean"],
      [
        "/api/generate",
        { model, prompt: "x", options: { temperature: "hot" } },
        400,
        'option "temperature" must be of type number',
      ],
      [
        "/api/generate",
        { model, prompt: "x", options: { stop: 1 } },
        400,
        'option "stop" must be of type array of strings',
      ],
      [
        "/api/generate",
        { model, prompt: "x", options: { temperature: 2.5 } },
        400,
        'option "temperature" must be between 0 and 2',
      ],
      [
        "/api/generate",
        { model, prompt: "x", options: { top_p: -1 } },
        400,
        'option "top_p" must be between 0 and 1',
      ],
      [
        "/api/generate",
        { model, prompt: "x", options: { num_ctx: 0 } },
        400,
        'option "num_ctx" must be between 1 and 2147483647',
      ],
      [
        "/api/generate",
        { model, prompt: "x", options: { num_ctx: 2 ** 31 } },
        400,
        'option "num_ctx" must be between 1 and 2147483647',
      ],
      [
        "/api/generate",
        { model, prompt: "x", options: { num_predict: -3 } },
        400,
        'option "num_predict" must be between -2 and 2147483647',
      ],
      ["/api/generate", { model, prompt: "x", keep_alive: "soon" }, 400, 'invalid keep_alive "soon"'],
      ["/api/generate", { model, prompt: "x", keep_alive: true }, 400, 'invalid keep_alive "true"'],
      ["/api/chat", { model, messages: hi, keep_alive: "5 m" }, 400, 'invalid keep_alive "5 m"'],
      ["/api/embed", { model, input: "x", keep_alive: [] }, 400, 'invalid keep_alive "[]"'],
      ["/api/tokenize", { model, content: "x", keep_alive: "" }, 400, 'invalid keep_alive ""'],
      [
        "/api/generate",
        { model, prompt: "x", raw: true, system: "s" },
        400,
        "raw mode does not support template, system, or context",
      ],
      [
        "/api/generate",
        { model, prompt: "x", raw: true, context: [1] },
        400,
        "raw mode does not support template, system, or context",
      ],
      [
        "/api/generate",
        { model, prompt: "x", raw: true, template: "{{ .Prompt }}" },
        400,
        "raw mode does not support template, system, or context",
      ],
      ["/api/generate", { model, prompt: "x", suffix: "y" }, 400, `"${model}" does not support insert`],
      ["/api/generate", { model, prompt: "x", think: true }, 400, `"${model}" does not support thinking`],
      [
        "/api/generate",
        { model, prompt: "x", format: "xml" },
        400,
        'invalid format: expected "json" or a JSON schema',
      ],
      [
        "/api/generate",
        { model, prompt: "x", format: { type: "array", minItems: 2, maxItems: 1 } },
        400,
        expect.stringMatching(/^invalid format: .*allows nothing/),
      ],
      ["/api/generate", { model, prompt: "x", images: ["%%%"] }, 400, "invalid image data: images[0]"],
      ["/api/generate", { model, prompt: "x", images: ["aGk="] }, 400, `"${model}" does not support vision`],
      ["/api/chat", { model, messages: hi, logprobs: "yes" }, 400, "logprobs must be a boolean"],
      ["/api/chat", { model, messages: hi, top_logprobs: -1 }, 400, "top_logprobs must be between 0 and 20"],
      ["/api/generate", { model, prompt: "x", top_logprobs: 1.5 }, 400, "top_logprobs must be an integer"],
      [
        "/api/generate",
        { model, prompt: "x", top_logprobs: 99 },
        400,
        "top_logprobs must be between 0 and 20",
      ],
      ["/api/chat", { model, messages: "x" }, 400, "messages must be an array"],
      ["/api/chat", { model, messages: hi, think: "high" }, 400, `"${model}" does not support thinking`],
      [
        "/api/chat",
        { model, messages: hi, tools: [{ function: { name: "f" } }] },
        400,
        `"${model}" does not support tools`,
      ],
      [
        "/api/chat",
        { model, messages: hi, format: 5 },
        400,
        'invalid format: expected "json" or a JSON schema',
      ],
      [
        "/api/chat",
        { model, messages: [{ role: "user", content: "x", images: ["%"] }] },
        400,
        "invalid image data: messages[0].images[0]",
      ],
      [
        "/api/embed",
        { model, input: "x" },
        400,
        `"${model}" does not support embeddings; use a model that was made for them, such as all-minilm (locallm pull all-minilm)`,
      ],
      ["/api/embed", { model, input: 5 }, 400, "input must be a string or an array"],
      ["/api/tokenize", { model }, 400, "content is required"],
      ["/api/detokenize", { model, tokens: ["x"] }, 400, "tokens[0] must be a number"],
    ])("%s %j", async (route, body, expectedStatus, message) => {
      expect(await status(route, body)).toEqual([expectedStatus, message]);
      expect(await server.ask("/api/ps")).toEqual({ models: [] });
    });
  });

  describe("ollama.com's accounts", () => {
    it.each([
      ["GET", "/api/me", /^locallm has no accounts; this server needs none: .*locallm keys create/],
      ["POST", "/api/me", /^locallm has no accounts; .*LOCALLM_CREDENTIALS/],
      ["POST", "/api/signin", /^locallm has no accounts; /],
      ["POST", "/api/signout", /^locallm has no accounts; /],
      ["DELETE", "/api/user/keys/c3NoLWVkMjU1MTk", /^locallm has no accounts; /],
      ["POST", "/api/experimental/web_search", /runs at ollama\.com, .*a tool of your own that searches$/],
      ["POST", "/api/experimental/web_fetch", /a tool of your own that searches$/],
    ])("%s %s says what to do instead, in Ollama's form", async (method, path, sentence) => {
      const answer = await fetch(server.url + path, { method });
      expect([answer.status, await answer.json()]).toEqual([404, { error: expect.stringMatching(sentence) }]);
    });
  });

  describe("loading", () => {
    it("loads on an empty prompt, obeys keep_alive, unloads on keep_alive 0", async () => {
      expect(await server.ask("/api/generate", { model, keep_alive: "10m" })).toEqual({
        model,
        created_at: expect.any(String),
        response: "",
        done: true,
        done_reason: "load",
      });
      const { models } = await server.ask<{ models: Answer[] }>("/api/ps");
      expect(models).toMatchObject([{ name: model, model, context_length: 2048, size_vram: 0 }]);
      expect(models[0]).toMatchObject({
        details: { format: "gguf", family: "llama" },
        size: expect.any(Number),
      });
      const remaining = Date.parse(String(models[0]!["expires_at"])) - Date.now();
      expect(remaining).toBeGreaterThan(500_000);

      expect(await server.ask("/api/chat", { model, messages: [], keep_alive: 0 })).toMatchObject({
        message: { role: "assistant", content: "" },
        done_reason: "unload",
      });
      await until(
        "it is unloaded",
        async () => (await server.ask<{ models: [] }>("/api/ps")).models.length === 0,
      );
      await server.ask("/api/chat", { model, messages: [], keep_alive: -1 });
      const pinned = await server.ask<{ models: Answer[] }>("/api/ps");
      expect(String(pinned.models[0]!["expires_at"])).toMatch(/^2300-/);
    });

    it.each([
      [300, 300],
      ["300", 300],
      [1.5, 1.5],
      ["10m", 600],
      ["1h30m", 5400],
      [-1, -1],
      ["-1", -1],
      ["-1s", -1],
      [-0.5, -1],
      [null, 300],
      [undefined, 300],
    ])("keep_alive %j of the latest request keeps it for %d s", async (keepAlive, seconds) => {
      await server.ask("/api/generate", { model, keep_alive: keepAlive });
      const { models, explain } = await server.ask<Explained & { models: Answer[] }>("/api/ps?explain");
      expect(explain.loaded).toMatchObject([{ keep_alive_seconds: seconds }]);
      const remainingMs = Date.parse(String(models[0]!["expires_at"])) - Date.now();
      if (seconds < 0) expect(remainingMs).toBeGreaterThan(100 * 365 * 86_400_000);
      else expect(remainingMs).toBeLessThanOrEqual(seconds * 1000);
    });

    it.each([0, "0", "0s"])("keep_alive %j unloads it", async (keepAlive) => {
      await server.ask("/api/generate", { model });
      const gone = await server.ask("/api/generate", { model, keep_alive: keepAlive });
      expect(gone).toMatchObject({ done: true, done_reason: "unload" });
      const isEmpty = async () => (await server.ask<{ models: [] }>("/api/ps")).models.length === 0;
      await until("it is unloaded", isEmpty);
      // The value must also apply after an answer.
      await generate({ prompt: "x", keep_alive: keepAlive });
      await until("it is unloaded again", isEmpty);
    });

    it("reloads only for other load options", async () => {
      const loads = async () => {
        const { explain } = await server.ask<Explained>("/api/ps?explain");
        return explain.decisions.filter(({ what }) => what === "load").length;
      };
      const load = (options: Answer) => server.ask("/api/generate", { model, options });
      await load({});
      for (const way of [
        { num_batch: 64 },
        { num_thread: 2 },
        { num_gpu: 0 },
        { main_gpu: 1 },
        { use_mmap: false },
      ]) {
        const before = await loads();
        await load(way);
        expect([way, await loads()]).toEqual([way, before + 1]);
        await load({ ...way, temperature: 0.1, num_keep: 9, seed: 1 });
        expect([way, await loads()]).toEqual([way, before + 1]);
      }
    });

    it("serves a smaller context without reloading, and caps a larger one at the training context", async () => {
      const loads = async () => {
        const view = await server.ask<{ explain: { decisions: Answer[] } }>("/api/ps?explain");
        return view.explain.decisions.filter((decision) => decision["what"] === "load").length;
      };
      await generate({ prompt: "x", options: { ...greedy, num_ctx: 1024 } });
      const before = await loads();
      await generate({ prompt: "x", options: { ...greedy, num_ctx: 512 } });
      expect(await loads()).toBe(before);
      await generate({ prompt: "x", options: { ...greedy, num_ctx: 100_000 } });
      expect(await loads()).toBe(before + 1);
      const { models } = await server.ask<{ models: Answer[] }>("/api/ps");
      expect(models[0]!["context_length"]).toBe(4096);
    });
  });

  describe("generate", () => {
    it("passes the exact prompt to the model", async () => {
      const prompt = "The capital of France is";
      const { tokens } = await server.ask<{ tokens: number[] }>("/api/tokenize", { model, content: prompt });
      const answer = await generate({ prompt });
      expect(answer["prompt_eval_count"]).toBe(tokens.length);
      const raw = await generate({ prompt, raw: true });
      expect(raw["response"]).toBe(answer["response"]);
      // Like Ollama, these answers have no context to continue from.
      expect([answer["context"], raw["context"]]).toEqual([expect.any(Array), undefined]);
      // Ollama's own client always sends all fields.
      const empty = { suffix: "", system: "", template: "", context: [], format: "", images: [] };
      for (const raw of [false, true])
        expect(await generate({ prompt, raw, ...empty })).toMatchObject({
          response: answer["response"],
          prompt_eval_count: tokens.length,
        });
    });

    it("streams lines, the last one with all counters and durations in integer nanoseconds", async () => {
      const response = await server.post("/api/generate", { model, prompt: "Once upon", options: greedy });
      expect(response.headers.get("content-type")).toBe("application/x-ndjson");
      const all = await collect(response);
      const last = all.pop()!;
      expect(all.map((line) => line["done"])).toEqual(all.map(() => false));
      const whole = await generate({ prompt: "Once upon" });
      expect(all.map((line) => line["response"]).join("")).toBe(whole["response"]);
      expect(last).toMatchObject({ model, response: "", done: true, done_reason: "length", eval_count: 4 });
      for (const name of ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"])
        expect([name, Number.isInteger(last[name]) && Number(last[name]) > 0]).toEqual([name, true]);
      expect(last["context"]).toHaveLength(Number(last["prompt_eval_count"]) + 4);
    });

    it("applies the template if the request has a system text", async () => {
      const plain = await generate({ prompt: "hi" });
      const templated = await generate({ prompt: "hi", system: "Be brief." });
      const rendered =
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";
      const { tokens } = await server.ask<{ tokens: number[] }>("/api/tokenize", {
        model,
        content: rendered,
      });
      expect(templated["prompt_eval_count"]).toBe(tokens.length);
      expect(plain["prompt_eval_count"]).not.toBe(tokens.length);
    });

    it("applies the template for Ollama's command line, and for none of Ollama's libraries", async () => {
      const count = async (userAgent: string, fields: object = {}) => {
        const answer = await server.post(
          "/api/generate",
          { model, prompt: "hi", stream: false, options: greedy, ...fields },
          { headers: { "user-agent": userAgent } },
        );
        return Number(((await answer.json()) as Answer)["prompt_eval_count"]);
      };
      const raw = (await generate({ prompt: "hi" }))["prompt_eval_count"];
      const cli = "ollama/0.33.0 (amd64 linux) Go/go1.26.0";
      expect(await count(cli)).toBeGreaterThan(Number(raw) + 5);
      expect(await count("ollama/0.0.0 (arm64 darwin) Go/devel")).toBe(await count(cli));
      expect(await count(cli, { raw: true })).toBe(raw);
      for (const other of ["ollama-python/0.6.3 (x86_64 linux) Python/3.11.7", "ollama-js/0.6.0 (x64 linux)"])
        expect([other, await count(other)]).toEqual([other, raw]);
      for (const other of ["curl/8.0 ollama/0.33.0 (amd64 linux) Go/go1.26.0", "ollama/", "ollama/1 ((((("])
        expect([other, await count(other)]).toEqual([other, raw]);
    });

    it("prepends the context of an earlier answer", async () => {
      const first = await generate({ prompt: "One, two," });
      const second = await generate({ prompt: " three", context: first["context"] });
      expect(second["prompt_eval_count"]).toBeGreaterThan((first["context"] as []).length);
    });

    it("generates nothing with num_predict 0, and obeys stop", async () => {
      const nothing = await generate({ prompt: "x", options: { num_predict: 0 } });
      expect(nothing).toMatchObject({ response: "", done_reason: "length", eval_count: 0 });
      // All counters are present, including zeros.
      for (const name of [
        ...["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"],
        ...["prompt_eval_count", "eval_count"],
      ])
        expect([name, Number.isInteger(nothing[name])]).toEqual([name, true]);
      const options = { temperature: 0, num_predict: 30 };
      const free = String((await generate({ prompt: "x", options }))["response"]);
      const stop = free.slice(10, 13);
      const stopped = await generate({ prompt: "x", options: { ...options, stop: ["not there", stop] } });
      expect(stopped).toMatchObject({ done_reason: "stop", stop_string: stop });
      expect(stopped["response"]).toBe(free.slice(0, free.indexOf(stop)));
    });

    it("uses the model's options unless the request overrides them", async () => {
      const prompt = "The capital of France is";
      const own = await server.ask("/api/generate", {
        model: "stops:1",
        prompt,
        stream: false,
        options: { temperature: 0 },
      });
      expect(own).toMatchObject({ model: "stops:1", done_reason: "stop" });
      expect(own["response"]).not.toMatch(/[a-z]/);
      const given = await server.ask("/api/generate", {
        model: "stops:1",
        prompt,
        stream: false,
        options: { temperature: 0, stop: ["not there"], num_predict: 3 },
      });
      expect(given).toMatchObject({ done_reason: "length", eval_count: 3 });
    });

    it("answers in JSON, also by schema, on request", async () => {
      const options = { temperature: 0, seed: 1, num_predict: 200 };
      const schema = {
        type: "object",
        properties: { age: { type: "integer", minimum: 10, maximum: 99 } },
        required: ["age"],
        additionalProperties: false,
      };
      const shaped = await generate({ prompt: "x", format: schema, options });
      expect(JSON.parse(String(shaped["response"]))).toEqual({ age: expect.any(Number) });
      const templated = await generate({ prompt: "x", system: "s", format: schema, options });
      expect(JSON.parse(String(templated["response"]))).toEqual({ age: expect.any(Number) });
      expect(await status("/api/generate", { model, prompt: "x", format: { type: "nope" } })).toEqual([
        400,
        expect.stringMatching(/^invalid format: /),
      ]);
    });

    it("accepts a template in the request, and a suffix if the template supports it", async () => {
      const options = { temperature: 0, num_predict: 3 };
      const template = "{{ .Prompt }}<gap>{{ .Suffix }}";
      const filled = await generate({ prompt: "ab", suffix: "cd", template, options });
      expect(filled["prompt_eval_count"]).toBe("ab<gap>cd".length);
      expect(await status("/api/generate", { model, prompt: "x", template: "{{ .Prompt" })).toEqual([
        400,
        expect.stringMatching(/^template error: /),
      ]);
      const failing = "{{ range .Messages }}{{ .Messages }}{{ end }}";
      expect(await status("/api/generate", { model, prompt: "x", template: failing })).toEqual([
        400,
        expect.stringMatching(/^template error: it can't evaluate field Messages/),
      ]);
    });

    it("every sampling option takes effect", async () => {
      const answer = async (options: Answer) => {
        const { response } = await generate({
          prompt: "To be, or",
          options: { num_predict: 32, ...options },
        });
        return response;
      };
      /** Nearly uniform sampling over all tokens makes the effect of each option visible. */
      const drawn = { temperature: 2, top_k: 0, top_p: 1, seed: 7 };
      const plain = await answer(drawn);
      const likeliest = await answer({ temperature: 0 });
      expect(await answer(drawn)).toBe(plain);
      expect(likeliest).not.toBe(plain);
      expect(await answer({ ...drawn, seed: -1 })).not.toBe(await answer({ ...drawn, seed: -1 }));
      for (const only of [
        { top_k: 1 },
        { top_p: 0 },
        { min_p: 1 },
        { mirostat: 1, mirostat_tau: 0, mirostat_eta: 0 },
        { mirostat: 2, mirostat_tau: 0, mirostat_eta: 0 },
      ])
        expect([only, await answer({ ...drawn, ...only })]).toEqual([only, likeliest]);
      for (const other of [
        { seed: 8 },
        { temperature: 0.5 },
        { top_k: 5 },
        { top_p: 0.5 },
        { min_p: 0.2 },
        { typical_p: 0.2 },
        { repeat_penalty: 3 },
        { presence_penalty: 2 },
        { frequency_penalty: 2 },
        { xtc_probability: 1, xtc_threshold: 0.001 },
        { dry_multiplier: 100, dry_allowed_length: 0 },
        { top_p: 0.01, min_keep: 50 },
        { mirostat: 1, mirostat_tau: 3 },
        { mirostat: 2, mirostat_tau: 3 },
      ])
        expect([other, (await answer({ ...drawn, ...other })) !== plain]).toEqual([other, true]);
      const unseen = { ...drawn, repeat_penalty: 3, frequency_penalty: 2, repeat_last_n: 0 };
      expect(await answer(unseen)).toBe(plain);
      const mirostat = { ...drawn, mirostat: 2, mirostat_tau: 3 };
      expect(await answer({ ...mirostat, mirostat_eta: 1 })).not.toBe(
        await answer({ ...mirostat, mirostat_eta: 0 }),
      );
      const [token] = (await server.ask<{ tokens: number[] }>("/api/tokenize", { model, content: "z" }))
        .tokens;
      expect(await answer({ ...drawn, logit_bias: { [token!]: 100 } })).toBe("z".repeat(32));
    });

    it("computes a deterministic request without the cache", async () => {
      const prompt = "The same words once more, and again.";
      const cached = async (options: Answer) =>
        (await generate({ prompt, options: { ...greedy, ...options } }))["prompt_cached_count"];
      await cached({});
      expect(await cached({})).toBeGreaterThan(0);
      expect(await cached({ deterministic: true })).toBeUndefined();
    });

    it("answers and lists ignored options in a header", async () => {
      const response = await server.post("/api/generate", {
        model,
        prompt: "x",
        stream: false,
        odd: 1,
        options: { ...greedy, nonsense: 1, low_vram: true },
      });
      expect([response.status, response.headers.get("x-ignored-fields")]).toEqual([
        200,
        "odd, options.nonsense, options.low_vram",
      ]);
      const ignored = "odd, options.nonsense, options.low_vram";
      await until("the log names them too", () => server.log.some((line) => line["ignored"] === ignored));
    });

    it("rejects a prompt longer than the context, or truncates it on request and reports that", async () => {
      const prompt = "The lazy dog the quick brown fox. ".repeat(60);
      const options = { ...greedy, num_ctx: 128 };
      const [code, message] = await status("/api/generate", { model, prompt, options });
      expect([code, message]).toEqual([
        400,
        expect.stringMatching(
          /^prompt is too long: \d+ tokens exceed the context length of 128; shorten it, or use a larger context, such as \d+: num_ctx in the request/,
        ),
      ]);
      const tokens = Number(/\d+/.exec(String(message))?.[0]);
      const response = await server.post("/api/generate", {
        model,
        prompt,
        truncate: true,
        stream: false,
        options,
      });
      const cut = (await response.json()) as Answer;
      const { truncated } = cut as { truncated: { messages: number; tokens: number } };
      expect(truncated.messages).toBe(0);
      expect(response.headers.get("x-truncated")).toBe(`messages=0, tokens=${truncated.tokens}`);
      expect(Number(cut["prompt_eval_count"]) + truncated.tokens).toBe(tokens);
      const streamed = await server.post("/api/generate", { model, prompt, truncate: true, options });
      expect(streamed.headers.get("x-truncated")).toBe(response.headers.get("x-truncated"));
      expect((await collect(streamed)).at(-1)).toMatchObject({ truncated });
      // The first num_keep tokens must stay.
      const { tokens: ids } = await server.ask<{ tokens: number[] }>("/api/tokenize", {
        model,
        content: prompt,
      });
      const kept = await generate({ prompt, truncate: true, options: { ...options, num_keep: 20 } });
      const context = kept["context"] as number[];
      const room = Number(kept["prompt_eval_count"]);
      expect(context.slice(0, room)).toEqual([...ids.slice(0, 20), ...ids.slice(20 - room)]);
    });

    it("ends with length if the context is full, or shifts it on request", async () => {
      const options = { temperature: 0, num_ctx: 64, num_predict: 120 };
      const full = await generate({ prompt: "Count: 1, 2, 3, 4,", options });
      expect(full).toMatchObject({ done_reason: "length" });
      // The last token is never fed to the model, so it takes no space in the window.
      expect(Number(full["prompt_eval_count"]) + Number(full["eval_count"])).toBeLessThanOrEqual(65);
      const shifted = await generate({ prompt: "Count: 1, 2, 3, 4,", shift: true, options });
      expect(shifted).toMatchObject({ eval_count: 120, shifted_count: expect.any(Number) });
    });
  });

  describe("chat", () => {
    const chat = (body: Answer) =>
      server.ask("/api/chat", { model, stream: false, options: greedy, ...body });

    it("returns the same text as one object or as a stream", async () => {
      const whole = await chat({ messages: hi });
      expect(whole).toMatchObject({
        message: { role: "assistant" },
        done: true,
        done_reason: "length",
        eval_count: 4,
      });
      const all = await collect(await server.post("/api/chat", { model, messages: hi, options: greedy }));
      const text = all.map((line) => (line["message"] as { content: string }).content).join("");
      expect(text).toBe((whole["message"] as { content: string }).content);
      expect(all.at(-1)).toMatchObject({ done: true, message: { role: "assistant", content: "" } });
    });

    it("keeps no history between requests", async () => {
      const alone = await chat({ messages: hi });
      await chat({ messages: [{ role: "user", content: "My name is Ada." }] });
      expect((await chat({ messages: hi }))["prompt_eval_count"]).toBe(alone["prompt_eval_count"]);
      const longer = await chat({ messages: [...hi, { role: "assistant", content: "Hello." }, ...hi] });
      expect(Number(longer["prompt_eval_count"])).toBeGreaterThan(Number(alone["prompt_eval_count"]));
    });

    it("starts with the model's system text unless the client sends one", async () => {
      const own = await server.ask("/api/chat", {
        model: "pirate:1",
        messages: hi,
        stream: false,
        options: greedy,
      });
      const same = await chat({ messages: [{ role: "system", content: "Talk like a pirate." }, ...hi] });
      expect(own["prompt_eval_count"]).toBe(same["prompt_eval_count"]);
    });

    it("drops the oldest messages that exceed the context and reports how many in the last line and a header", async () => {
      const long = Array.from({ length: 9 }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: `Message ${index}: ${"word ".repeat(20)}`,
      }));
      const options = { ...greedy, num_ctx: 512 };
      const response = await server.post("/api/chat", { model, messages: long, stream: false, options });
      const answer = (await response.json()) as { truncated: { messages: number; tokens: number } };
      expect(answer.truncated.messages).toBeGreaterThan(3);
      expect(response.headers.get("x-truncated")).toBe(
        `messages=${answer.truncated.messages}, tokens=${answer.truncated.tokens}`,
      );
      const streamed = await server.post("/api/chat", { model, messages: long, options });
      expect(streamed.headers.get("x-truncated")).toBe(response.headers.get("x-truncated"));
      expect((await collect(streamed)).at(-1)).toMatchObject({ truncated: answer.truncated });
      const refused = await status("/api/chat", { model, messages: long, truncate: false, options });
      expect(refused).toEqual([
        400,
        expect.stringMatching(
          /^prompt is too long: \d+ tokens exceed the context length of 512; shorten it, or use a larger context, such as \d+: num_ctx in the request/,
        ),
      ]);
      const last = [{ role: "user", content: "word ".repeat(300) }];
      expect(await status("/api/chat", { model, messages: last, options })).toEqual([
        400,
        expect.stringMatching(
          /^prompt is too long: \d+ tokens exceed the context length of 512; shorten it, or use a larger context, such as \d+: num_ctx in the request/,
        ),
      ]);
    });
  });

  describe("log probabilities", () => {
    interface Logprob {
      token: string;
      logprob: number;
      bytes: number[];
      top_logprobs?: Logprob[];
    }
    const of = (answer: Answer) => answer["logprobs"] as Logprob[] | undefined;
    // Cached and computed prompts differ in the last digits.
    const exact = { ...greedy, num_predict: 12, deterministic: true };
    const requests: [route: string, body: Answer][] = [
      ["/api/generate", { prompt: "x" }],
      ["/api/generate", { prompt: "x", format: "json" }],
      ["/api/chat", { messages: hi }],
    ];
    const ask = (route: string, body: Answer) =>
      server.ask(route, { model, stream: false, options: exact, ...body });
    const textOf = (answer: Answer) =>
      String(answer["response"] ?? (answer["message"] as { content: string }).content);

    it.each(requests)("%s: are those of the text's tokens, streamed too", async (route, body) => {
      const plain = await ask(route, body);
      const whole = await ask(route, { ...body, logprobs: true, top_logprobs: 3 });
      expect([of(plain), textOf(whole)]).toEqual([undefined, textOf(plain)]);
      const all = of(whole)!;
      expect(all.map(({ token }) => token).join("")).toBe(textOf(whole));
      for (const { token, bytes, logprob, top_logprobs: top = [] } of all) {
        expect(Buffer.from(bytes).toString()).toBe(token);
        expect(top).toHaveLength(3);
        expect(top.map((each) => each.logprob)).toEqual(
          top.map((each) => each.logprob).sort((a, b) => b - a),
        );
        expect(top.reduce((sum, each) => sum + Math.exp(each.logprob), 0)).toBeLessThanOrEqual(1 + 1e-6);
        expect(logprob).toBeLessThanOrEqual(top[0]!.logprob);
        if (body["format"] === undefined) expect(top[0]).toEqual({ token, bytes, logprob });
      }
      const stream = await server.post(route, {
        ...{ model, options: exact, logprobs: true, top_logprobs: 3 },
        ...body,
      });
      expect((await collect(stream)).flatMap((line) => of(line) ?? [])).toEqual(all);
      const bare = of(await ask(route, { ...body, logprobs: true }))!;
      expect(bare).toEqual(all.map(({ top_logprobs: _, ...rest }) => rest));
      expect(of(await ask(route, { ...body, top_logprobs: 3 }))).toBeUndefined();
    });

    it("are the model's own, whatever the sampling", async () => {
      const first = async (options: Answer) =>
        of(await ask("/api/generate", { prompt: "x", logprobs: true, top_logprobs: 20, options }))![0]!;
      const cold = await first({ ...exact, num_predict: 1 });
      const hot = await first({
        ...exact,
        temperature: 2,
        seed: 5,
        top_k: 3,
        repeat_penalty: 1.5,
        num_predict: 1,
      });
      expect(hot.top_logprobs).toEqual(cold.top_logprobs);
    });

    it("end before a stop string, wherever it begins and ends within tokens", async () => {
      const text = textOf(await ask("/api/generate", { prompt: "x" }));
      for (const [begin, end] of [
        [0, 2],
        [3, 5],
        [4, 12],
      ] as const) {
        const stop = text.slice(begin, end);
        const options = { ...exact, stop: [stop] };
        const stopped = await ask("/api/generate", { prompt: "x", logprobs: true, options });
        const tokens = (of(stopped) ?? []).map(({ token }) => token).join("");
        expect([stopped["response"], tokens.startsWith(textOf(stopped))]).toEqual([
          text.slice(0, text.indexOf(stop)),
          true,
        ]);
        expect(tokens.length - text.indexOf(stop)).toBeLessThan(2);
      }
    });

    it("have no marks of thinking", async () => {
      const body = { model: "thinks:1", messages: hi, think: true, logprobs: true };
      const answer = await ask("/api/chat", body);
      const { thinking } = answer["message"] as { thinking: string };
      expect(
        of(answer)!
          .map(({ token }) => token)
          .join("")
          .trimStart(),
      ).toBe(thinking);
    });
  });

  describe("tokens", () => {
    it("are encoded and decoded", async () => {
      const content = "Ünïcode 🙂 and <|im_start|> words";
      const { tokens, count } = await server.ask<{ tokens: number[]; count: number }>("/api/tokenize", {
        model,
        content,
      });
      expect(tokens).toHaveLength(count);
      expect(await server.ask("/api/detokenize", { model, tokens })).toEqual({ model, content });
      const plain = await server.ask<{ count: number }>("/api/tokenize", {
        model,
        content,
        parse_special: false,
      });
      expect(plain.count).toBeGreaterThan(count);
      expect(await status("/api/detokenize", { model, tokens: [10 ** 6] })).toEqual([
        400,
        expect.stringContaining("not in the vocabulary"),
      ]);
    });
  });

  describe.skipIf(embeddingModelPath === null)("embeddings (needs TEST_MODELS)", () => {
    const embedder = "all-minilm:22m";
    const embed = (body: Answer) =>
      server.ask<{ embeddings: number[][] }>("/api/embed", { model: embedder, ...body });
    const length = (vector: number[]) => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
    const cosine = (a: number[], b: number[]) => a.reduce((sum, x, index) => sum + x * b[index]!, 0);

    it("have length 1, one for each input, in order", async () => {
      const one = await embed({ input: "a cat on a mat" });
      expect(one).toMatchObject({
        model: embedder,
        prompt_eval_count: expect.any(Number),
        load_duration: expect.any(Number),
      });
      expect(one.embeddings[0]).toHaveLength(384);
      expect(length(one.embeddings[0]!)).toBeCloseTo(1, 5);
      const many = await embed({ input: ["stock prices fell", "a cat on a mat", ""], stream: true });
      expect(many.embeddings).toHaveLength(3);
      expect(cosine(many.embeddings[1]!, one.embeddings[0]!)).toBeGreaterThan(0.9999);
      expect(cosine(many.embeddings[0]!, one.embeddings[0]!)).toBeLessThan(0.5);
    });

    it("are counted on both routes", async () => {
      const counted = async () => (await metricsOf(server))("prompt_tokens_total", `model="${embedder}"`);
      const before = await counted();
      await embed({ input: "a cat on a mat" });
      await server.ask("/api/embeddings", { model: embedder, prompt: "a cat on a mat" });
      expect((await counted()) - before).toBe(14);
    });

    it("of empty input are empty", async () => {
      expect((await embed({ input: [] })).embeddings).toEqual([]);
      expect((await embed({ input: "" })).embeddings).toEqual([]);
      expect((await embed({})).embeddings).toEqual([]);
      expect(await status("/api/embed", { model: embedder, input: new Array(50_000).fill("") })).toEqual([
        400,
        expect.stringMatching(/^input must have at most 43690 texts for this model/),
      ]);
      expect(await server.ask("/api/embeddings", { model: embedder, prompt: "" })).toEqual({ embedding: [] });
    });

    it("can be shortened and still have length 1; the older route does not normalise", async () => {
      const { embeddings } = await embed({ input: "hello", dimensions: 100 });
      expect(embeddings[0]).toHaveLength(100);
      expect(length(embeddings[0]!)).toBeCloseTo(1, 5);
      const older = await server.ask<{ embedding: number[] }>("/api/embeddings", {
        model: embedder,
        prompt: "hello",
      });
      expect(older.embedding).toHaveLength(384);
    });

    it("truncate too long inputs, or reject them with their index", async () => {
      const input = ["short", "word ".repeat(900)];
      expect((await embed({ input })).embeddings).toHaveLength(2);
      expect(await status("/api/embed", { model: embedder, input, truncate: false })).toEqual([
        400,
        expect.stringMatching(/^the input length exceeds the context length: input 1 has \d+ tokens/),
      ]);
    });

    it.each([1, 2])("reject texts of which nothing fits in a context of %d tokens", async (num_ctx) => {
      const body = { model: embedder, input: ["stock prices fell", ""], options: { num_ctx } };
      expect(await status("/api/embed", body)).toEqual([
        400,
        expect.stringMatching(/^input after truncation exceeds maximum context length: .* input 0;/),
      ]);
      expect((await embed({ input: "stock prices", options: { num_ctx: 3 } })).embeddings).toHaveLength(1);
    });

    it.each([
      ["/api/generate", { prompt: "x" }, "generate"],
      ["/api/chat", { messages: hi }, "chat"],
    ])("are the only ability of an embedding model: %s", async (route, body, what) => {
      expect(await status(route, { model: embedder, ...body })).toEqual([
        400,
        `"${embedder}" does not support ${what}`,
      ]);
    });
  });

  describe("a client that disconnects", () => {
    it("frees its slot for the next request", async () => {
      const gone = new AbortController();
      const options = { num_predict: -1, temperature: 0, num_ctx: 4096, stop: [] };
      const response = await server.post(
        "/api/generate",
        { model, prompt: "1 2 3", options, shift: true },
        { signal: gone.signal },
      );
      await lines(response).next();
      gone.abort();
      await until("the slot is free", async () => {
        const { explain } = await server.ask<{ explain: { loaded: { active: number }[] } }>(
          "/api/ps?explain",
        );
        return explain.loaded.every(({ active }) => active === 0);
      });
      await until("the log has it", () => server.log.some((line) => line["status"] === 499));
    });

    it("or never reads does not block other clients", async () => {
      const { hostname, port } = new URL(server.url);
      const { connect } = await import("node:net");
      const body = JSON.stringify({ model, prompt: "1 2 3", options: { num_predict: 2000, num_ctx: 4096 } });
      const socket = connect(Number(port), hostname);
      socket.pause();
      socket.write(
        `POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await until("it runs", async () => {
        const { explain } = await server.ask<{ explain: { loaded: { active: number }[] } }>(
          "/api/ps?explain",
        );
        return explain.loaded.some(({ active }) => active > 0);
      });
      expect((await rawRequest(server.url, { path: "/api/version" })).status).toBe(200);
      socket.destroy();
      expect(await generate({ prompt: "x" })).toMatchObject({ done: true });
    });
  });

  describe("metrics and logs", () => {
    const labels = `model="${model}"`;

    it("have metrics with a line for each model", async () => {
      await generate({ prompt: "warm this up" });
      const before = await metricsOf(server);
      const answer = await generate({ prompt: "warm this up" });
      const after = await metricsOf(server);
      const grown = (name: string) => after(name, labels) - before(name, labels);
      expect(grown("generated_tokens_total")).toBe(answer["eval_count"]);
      expect(grown("prompt_tokens_total")).toBe(answer["prompt_eval_count"]);
      expect(grown("cached_prompt_tokens_total")).toBe(answer["prompt_cached_count"]);
      expect(grown("queue_seconds_count")).toBe(1);
      expect(after("load_seconds_count", labels)).toBeGreaterThan(0);
      expect([after("slots", labels), after("slots_active", labels)]).toEqual([1, 0]);
    });

    it("count loads and evictions and list the loaded models", async () => {
      await server.ask("/api/generate", { model });
      const before = await metricsOf(server);
      await server.ask("/api/generate", { model: "small:b" });
      const after = await metricsOf(server);
      const loaded = `model="small:b"`;
      expect(after("evictions_total", labels) - before("evictions_total", labels)).toBe(1);
      expect(after("load_seconds_count", loaded) - before("load_seconds_count", loaded)).toBe(1);
      expect(after("load_seconds_sum", loaded)).toBeGreaterThan(0);
      expect([after("slots", labels), after("slots", loaded)]).toEqual([0, 1]);
      expect(after("model_bytes", `${loaded},device="CPU"`)).toBeGreaterThan(100_000);
      // Other unloads do not count as evictions.
      await server.ask("/api/generate", { model: "small:b", keep_alive: 0 });
      await until("it is gone", async () => (await metricsOf(server))("slots", loaded) === 0);
      const [then, now] = [after, await metricsOf(server)];
      expect(now("evictions_total", loaded)).toBe(then("evictions_total", loaded));
    });

    it("show waiting requests and waiting times", async () => {
      const gone = new AbortController();
      const options = { num_predict: -1, temperature: 0 };
      const holding = await server.post(
        "/api/generate",
        { model, prompt: "1 2 3", options, shift: true },
        { signal: gone.signal },
      );
      await lines(holding).next();
      const before = await metricsOf(server);
      const waiting = [1, 2].map((index) => generate({ prompt: `${index}` }));
      await until("two wait", async () => (await metricsOf(server))("queue_depth", labels) === 2);
      expect((await metricsOf(server))("slots_active", labels)).toBe(1);
      const health = await fetch(`${server.url}/health`);
      expect([health.status, await health.json()]).toMatchObject([200, { ready: true, queued: 2 }]);
      gone.abort();
      await Promise.all(waiting);
      const after = await metricsOf(server);
      const grown = (name: string) => after(name, labels) - before(name, labels);
      expect([after("queue_depth", labels), after("slots_active", labels)]).toEqual([0, 0]);
      expect(grown("queue_seconds_count")).toBe(2);
      expect(grown("queue_seconds_sum")).toBeGreaterThan(0);
    });

    it("log counts and times of every request, but no content", async () => {
      const line = () =>
        server.log.find((entry) => entry["route"] === "/api/chat" && entry["status"] === 200);
      await until("the line is there", () => line() !== undefined);
      expect(line()).toMatchObject({ model, requestId: expect.any(String), ms: expect.any(Number) });
      expect(JSON.stringify(server.log)).not.toMatch(/Ada|Talk like|lazy dog/);
    });
  });

  it("rejects a model that does not fit into memory before loading it, with the sizes", async () => {
    const [code, message] = await status("/api/generate", {
      model: "wide:1",
      prompt: "x",
      options: { num_ctx: 2 ** 31 - 1 },
    });
    expect(code).toBe(500);
    const text = /^model requires more memory \((\S+) GiB\) than is available \((\S+) GiB\)$/;
    const [, needed, available] = text.exec(String(message)) ?? [];
    // Each token of the window takes 128 bytes of keys and values in two layers, and 2 bytes per row of a batch of 512.
    expect(Number(needed)).toBeGreaterThanOrEqual(2560);
    expect(Number(needed)).toBeLessThan(2560 * 1.05);
    expect(Number(available)).toBeLessThan(Number(needed));
    const { explain } = await server.ask<Explained>("/api/ps?explain");
    expect(explain.decisions.filter((one) => one.model === "wide:1")).toMatchObject([{ what: "fail" }]);
  });

  it("fails all requests for a model that the engine rejects, without a path, and pauses before a retry", async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => status("/api/generate", { model: "broken:1", prompt: "x" })),
    );
    for (const answer of answers)
      expect(answer).toEqual([500, expect.stringMatching(/^model failed to load: /)]);
    expect(JSON.stringify(answers)).not.toContain(store.folder);
    expect(await status("/api/generate", { model: "broken:1", prompt: "x" })).toEqual(answers[0]);
    const { explain } = await server.ask<{ explain: { decisions: Answer[] } }>("/api/ps?explain");
    const tries = explain.decisions.filter((one) => one["model"] === "broken:1" && one["what"] === "load");
    expect(tries).toHaveLength(1);
  });
});
