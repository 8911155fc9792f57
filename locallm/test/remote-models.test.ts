import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseModelfile } from "../src/library/modelfile/parse.ts";
import { modelfileRequest } from "../src/library/modelfile/request.ts";
import { done, eventStream, type ScriptedEngine, startScriptedEngine } from "./scripted-engine.ts";
import { command, metricsOf, startServerHere, type TestServer, until } from "./server-process.ts";

let folder: string;
let front: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-remote-models-"));
  front = await startServerHere({ models: join(folder, "models"), env: environment() });
});
afterAll(async () => {
  await front?.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  LOCALLM_CREDENTIALS: join(folder, "credentials.json"),
  LOCALLM_MODELS: join(folder, "models"),
});

/** Runs a command as the owner of the machine of the front server. */
async function cli(args: readonly string[], input?: string) {
  const { host } = new URL(front.url);
  const { code, out, err } = await command(args, { ...environment(), LOCALLM_HOST: host }, input);
  return { code, stdout: out, stderr: err };
}

async function createFrom(name: string, modelfile: string) {
  const path = join(folder, "Modelfile");
  await writeFile(path, modelfile);
  return await cli(["create", name, "-f", path]);
}

async function refusal(path: string, body: unknown) {
  const response = await front.post(path, body);
  return { status: response.status, ...((await response.json()) as { error: string }) };
}

const gpu1 = "https://gpu1.example:8000/v1#Qwen/Qwen3-32B";

describe("a remote model", () => {
  test("cannot be created over HTTP if its host is not allowed", async () => {
    const requests = [
      { from: gpu1 },
      { remotes: [{ url: "http://127.0.0.1:9/v1", model: "m" }] },
      { from: "m", remote_host: "169.254.169.254" },
      { from: "m", remote_host: front.url },
    ];
    for (const request of requests)
      expect(await refusal("/api/create", { model: "remote", stream: false, ...request })).toEqual({
        status: 403,
        error: expect.stringContaining("run `locallm remote allow") as string,
      });
    expect(await front.ask("/api/tags")).toEqual({ models: [] });
  });

  test.each([
    [{ from: "https://user:secret@gpu1.example#m" }, "from must not contain a username or password"],
    [{ from: "https://gpu1.example/v1" }, "from must end with #"],
    [{ from: gpu1, files: { "a.gguf": `sha256:${"0".repeat(64)}` } }, "files cannot be combined"],
    [{ from: gpu1, remote_host: "gpu1.example" }, "remote_host cannot be combined"],
    [{ from: "llama3", remotes: [{ url: "http://a", model: "m" }] }, "remotes cannot be combined"],
    [{ remote_host: "http://a" }, "from must be the name of the model at remote_host"],
    [{ remotes: [{ url: "file:///etc/passwd", model: "m" }] }, "remotes[0].url must be an http or https URL"],
    [{ remotes: [{ url: "http://a", model: "" }] }, "remotes[0].model must not be empty"],
    [{ remotes: [{ url: "http://a", model: "m", weight: 0 }] }, "remotes[0].weight must be at least 1"],
    [{ remotes: [{ url: "http://a", model: "m", key: "a b" }] }, "remotes[0].key must be the name of a key"],
    [
      {
        remotes: [
          { url: "http://a", model: "m" },
          { url: "http://A:80/", model: "m" },
        ],
      },
      "remotes[1] repeats an address",
    ],
  ])("is rejected with the field's name: %j", async (request, error) => {
    expect(await refusal("/api/create", { model: "remote", stream: false, ...request })).toEqual({
      status: 400,
      error: expect.stringContaining(error) as string,
    });
  });

  test("is created, shown, listed, copied and removed like every model", async () => {
    const modelfile = [
      `FROM ${gpu1}`,
      "REMOTE key gpu",
      "REMOTE weight 3",
      "FROM http://10.0.0.7:8000/v1#qwen3",
      "FROM http://[fd00::7]:8000/v1#qwen3",
      "REMOTE requests 8",
      "REMOTE context 40960",
      "REMOTE capabilities completion, tools, thinking",
      "SYSTEM Be brief.",
      "PARAMETER temperature 0.25",
      "MESSAGE user Hi",
      "MESSAGE assistant Hello",
    ].join("\n");
    const created = await createFrom("big", modelfile);
    expect(created).toMatchObject({ code: 0 });
    expect(created.stderr).toContain("allowing remote models to use gpu1.example:8000");

    const shown = await front.ask<Record<string, unknown> & { modelfile: string }>("/api/show", {
      model: "big",
    });
    expect(shown).toMatchObject({
      remote_host: "https://gpu1.example:8000/v1",
      remote_model: "Qwen/Qwen3-32B",
      remotes: [
        { protocol: "openai", key: "gpu", weight: 3, requests: null },
        { url: "http://10.0.0.7:8000/v1", key: null, requests: 8 },
        { url: "http://[fd00::7]:8000/v1", key: null, requests: 8 },
      ],
      system: "Be brief.",
      details: { context_length: 40_960 },
      capabilities: ["completion", "tools", "thinking"],
    });

    // The printed Modelfile creates an equal model.
    const { fields } = modelfileRequest(parseModelfile(Buffer.from(shown.modelfile)));
    await front.ask("/api/create", { model: "again", ...fields, stream: false });
    expect((await front.post("/api/copy", { source: "big", destination: "copy" })).status).toBe(200);
    expect(
      await front.ask("/api/create", { model: "child", from: "big", system: "No.", stream: false }),
    ).toEqual({ status: "success" });
    const { models } = await front.ask<{ models: Record<string, unknown>[] }>("/api/tags");
    const digests = new Map(models.map(({ name, digest }) => [name, digest]));
    expect(digests.get("again:latest")).toBe(digests.get("big:latest"));
    expect(digests.get("copy:latest")).toBe(digests.get("big:latest"));
    for (const model of models)
      expect(model).toMatchObject({
        remote_host: "https://gpu1.example:8000/v1",
        remote_model: "Qwen/Qwen3-32B",
      });
    expect((await front.ask<{ data: unknown[] }>("/v1/models")).data).toHaveLength(4);
    expect((await cli(["list", "big"])).stdout).toMatch(/^big:latest +[0-9a-f]{12} +- /m);
    expect((await cli(["show", "big"])).stdout).toContain(
      "https://gpu1.example:8000/v1#Qwen/Qwen3-32B    openai, key gpu, weight 3",
    );
    expect(await front.ask("/api/ps")).toEqual({ models: [] });
    for (const model of ["again", "copy", "child"])
      await front.post("/api/delete", { model }, { method: "DELETE" });
    expect((await front.ask<{ models: unknown[] }>("/api/tags")).models).toHaveLength(1);
  });

  test("needs no template, adapter or renderer, because the engine has them", async () => {
    for (const [field, value] of Object.entries({ template: "{{ .Prompt }}", renderer: "r", parser: "p" }))
      expect(
        await refusal("/api/create", { model: "wrong", from: "big", stream: false, [field]: value }),
      ).toEqual({
        status: 400,
        error: expect.stringContaining(`${field} cannot be set for a remote model`) as string,
      });
  });

  test("in Ollama's form has the configuration that Ollama writes", async () => {
    expect(await cli(["remote", "allow", "ollama.example:443"])).toMatchObject({ code: 0 });
    await front.ask("/api/create", {
      model: "cloudy",
      from: "gpt-oss:120b",
      remote_host: "https://ollama.example:443",
      info: { capabilities: ["completion"], context_length: 131_072 },
      stream: false,
    });
    const shown = await front.ask<{ modelfile: string }>("/api/show", { model: "cloudy" });
    expect(shown).toMatchObject({
      remotes: [{ url: "https://ollama.example", model: "gpt-oss:120b", protocol: "ollama" }],
      capabilities: ["completion"],
    });
    expect(shown.modelfile).toContain(
      "FROM https://ollama.example#gpt-oss:120b\nREMOTE protocol ollama\nREMOTE context 131072\n",
    );
    expect((await cli(["remote", "hosts"])).stdout).toBe(
      "10.0.0.7:8000\n[fd00::7]:8000\ngpu1.example:8000\nollama.example:443\n",
    );
  });

  test("has its key in the credentials file, and nowhere else", async () => {
    const stored = await cli(["remote", "key", "gpu", "--host", "https://gpu1.example:8000/v1"], "s3cret\n");
    expect(stored).toEqual({ code: 0, stdout: "Stored the key gpu for gpu1.example:8000.\n", stderr: "" });
    expect(JSON.parse(await readFile(environment().LOCALLM_CREDENTIALS, "utf8"))).toEqual({
      "remote/gpu": { token: "s3cret", hosts: ["gpu1.example:8000"] },
    });
  });
});

describe("replicas", () => {
  let engines: ScriptedEngine[];
  const dead = "http://127.0.0.1:1/v1";
  const hosts = () => engines.map(({ upstream }) => new URL(upstream.url).host);
  const asked = ({ received }: ScriptedEngine) => received.filter(({ method }) => method === "POST").length;
  const ask = (content: string, init?: RequestInit) =>
    front.post("/api/chat", { model: "pair", messages: [{ role: "user", content }], stream: false }, init);

  beforeAll(async () => {
    engines = await Promise.all([startScriptedEngine(), startScriptedEngine()]);
    for (const engine of engines)
      engine.answers(({ method, path, body }) => {
        if (method === "GET")
          return path === "/v1/models"
            ? { headers: json, chunks: ['{"data": [{"id": "m"}]}'] }
            : { status: 404, headers: json, chunks: ["{}"] };
        const hello = { choices: [{ index: 0, delta: { content: "Hello" } }] };
        const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
        if (JSON.stringify(body).includes("forever")) return { chunks: [eventStream(hello)], end: "hang" };
        return { chunks: [eventStream(hello, end, done)] };
      });
    const from = [...engines.map(({ upstream }) => upstream.url), dead].map((url) => `FROM ${url}#m`);
    expect(await createFrom("pair", from.join("\n"))).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
  });

  test("that are down cost no request, and are shown with their error", async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(`question ${index}`)));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(engines.map(asked).reduce((sum, each) => sum + each)).toBe(12);
    interface Remotes {
      models: { model: string; replicas: Record<string, unknown>[] }[];
    }
    const replicas = async () => {
      const { models } = await front.ask<Remotes>("/api/remotes");
      return models.find(({ model }) => model === "pair:latest")!.replicas;
    };
    await until("the replica is found to be down", async () => (await replicas())[2]?.["state"] !== "ready");
    expect(await replicas()).toMatchObject([
      { host: hosts()[0], state: "ready", open: 0, has_model: true, last_error: null },
      { host: hosts()[1], state: "ready", open: 0, has_model: true },
      {
        host: "127.0.0.1:1",
        answered: 0,
        last_error: { message: expect.stringContaining("ECONNREFUSED") as string },
      },
    ]);
    const { explain } = await front.ask<{ explain: { remotes: unknown[] } }>("/api/ps?explain");
    expect(explain.remotes).toMatchObject([{ model: "pair:latest", waiting: 0 }]);
    const metric = await metricsOf(front);
    const labels = (host: string) => `model="pair:latest",host="${host}"`;
    const answered = hosts().map((host) =>
      metric("remote_requests_total", `${labels(host)},outcome="answered"`),
    );
    expect(answered).toEqual(engines.map(asked));
    expect(metric("remote_breaker", labels("127.0.0.1:1"))).toBeGreaterThan(0);
    expect(metric("remote_first_token_seconds_count", labels(hosts()[0]!))).toBe(answered[0]);
  });

  test("stop computing when a client leaves", async () => {
    const leaving = new AbortController();
    const left = ask("forever", { signal: leaving.signal });
    const open = async () => {
      const metric = await metricsOf(front);
      return hosts().reduce(
        (sum, host) => sum + metric("remote_open", `model="pair:latest",host="${host}"`),
        0,
      );
    };
    await until("the request runs", async () => (await open()) === 1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until("its place is free", async () => (await open()) === 0);
  });

  test("that lead back to the server are asked only once", async () => {
    expect(await createFrom("loop", `FROM ${front.url}/v1#loop`)).toMatchObject({ code: 0 });
    const body = { model: "loop", messages: [{ role: "user", content: "x" }] };
    const { status, error } = await refusal("/api/chat", body);
    expect({ status, error }).toEqual({
      status: 502,
      error: expect.stringContaining("leads back to this server") as string,
    });
    await fetch(`${front.url}/api/delete`, { method: "DELETE", body: '{"model": "loop"}' });
  });

  test("are told which servers passed the request on", async () => {
    for (const { received } of engines) received.length = 0;
    expect((await ask("hello", { headers: { via: "1.1 other" } })).status).toBe(200);
    const posts = engines.flatMap(({ received }) => received.filter(({ method }) => method === "POST"));
    expect(posts.map(({ headers }) => headers.via)).toEqual([
      expect.stringMatching(/^1\.1 other, 1\.1 locallm-/),
    ]);
  });

  test("that are drained get no new requests until they are resumed", async () => {
    const [first = ""] = hosts();
    const drained = await cli(["remote", "drain", `http://${first}`, "--wait"]);
    expect(drained).toEqual({
      code: 0,
      stdout: `${first} gets no new requests; no answer is running.\n`,
      stderr: "",
    });
    const before = engines.map(asked);
    for (let count = 0; count < 6; count++) expect((await ask(`drained ${count}`)).status).toBe(200);
    expect(engines.map(asked)).toEqual([before[0], before[1]! + 6]);
    expect((await cli(["remote"])).stdout).toMatch(new RegExp(`pair:latest +${first} +m +drained +0 `));
    expect((await cli(["remote", "drain", "gpu9.example:1"])).stderr).toContain(
      "no remote model uses host gpu9.example:1; remote models use",
    );
    await front.ask("/api/remotes/drain", { host: "127.0.0.1" });
    expect(await refusal("/api/chat", { model: "pair", messages: [] })).toMatchObject({ status: 200 });
    expect(await refusal("/api/chat", { model: "pair", messages: [{ role: "user", content: "x" }] })).toEqual(
      {
        status: 503,
        error: expect.stringContaining("all replicas of pair:latest are drained") as string,
      },
    );
    expect(await front.ask("/api/remotes/resume", { host: "127.0.0.1" })).toEqual({
      host: "127.0.0.1",
      open: 0,
    });
    expect((await ask("resumed")).status).toBe(200);
    expect(await refusal("/api/remotes/drain", { host: "a b" })).toEqual({
      status: 400,
      error: "host must be a host, with or without a port, such as gpu1.example:8000",
    });
  });

  test("are checked by locallm doctor", async () => {
    // Its replicas do not exist, so the doctor would wait for them.
    await fetch(`${front.url}/api/delete`, { method: "DELETE", body: '{"model": "big"}' });
    const { code, stdout } = await cli(["doctor", "--quick"]);
    expect(code).toBe(1);
    for (const host of hosts())
      expect(stdout).toContain(`remote     http://${host}/v1#m (pair:latest): reachable, has the model`);
    expect(stdout).toContain(`problem    ${dead}#m (pair:latest): cannot reach the engine at 127.0.0.1:1`);
  });
});

const json = { "content-type": "application/json" };
