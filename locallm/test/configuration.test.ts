import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Explained } from "./crowd.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { rawRequest } from "./raw-http.ts";
import {
  command,
  launch,
  metricsOf,
  type ServerProcess,
  startServer,
  startServerHere,
  type TestServer,
  until,
} from "./server-process.ts";
import { hasTerminal, terminal } from "./terminal.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-configuration-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Starts a server in this process, runs the check, and stops it. */
async function withServer(
  env: Record<string, string>,
  look: (server: TestServer) => Promise<void>,
): Promise<void> {
  await stopped(await startServerHere({ env, models: join(folder, "models") }), look);
}

/** The same with a process of its own. */
async function withProcess(
  env: Record<string, string>,
  look: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  await stopped(await startServer({ env, models: join(folder, "models") }), look);
}

async function stopped<Server extends TestServer>(
  server: Server,
  look: (server: Server) => Promise<void>,
): Promise<void> {
  try {
    await look(server);
  } finally {
    await server.stop();
  }
}

describe("an invalid value stops the start and names its variable", () => {
  it.each([
    // What each variable accepts is tested in config.test.ts.
    ["LOCALLM_HOST", "127.0.0.1:notaport"],
    ["LOCALLM_KV_CACHE_TYPE", "q2_k"],
    ["LOCALLM_CA_FILE", "/nowhere/ca.pem"],
    ["HTTPS_PROXY", "socks5://127.0.0.1"],
  ])("%s=%s", { concurrent: true }, async (variable, value) => {
    const { code, err } = await command(["serve"], {
      LOCALLM_HOST: "127.0.0.1:0",
      LOCALLM_MODELS: join(folder, "models"),
      [variable]: value,
    });
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^Error: ${variable}=`));
    expect(err).not.toContain("    at ");
  });
});

describe("LOCALLM_HOST", () => {
  it.each([
    ["localhost:0", "localhost"],
    ["0.0.0.0:0", "127.0.0.1"],
    [":0", "127.0.0.1"],
    ["[::1]:0", "[::1]"],
    ["http://127.0.0.1:0/", "127.0.0.1"],
  ])("%s listens where a client can use %s", { concurrent: true }, async (host, shown) => {
    await withServer({ LOCALLM_HOST: host }, async (server) => {
      expect(new URL(server.url).hostname).toBe(shown);
      expect((await fetch(`${server.url}/api/version`)).status).toBe(200);
    });
  });

  // These addresses are not available here, so a hook reports where the server would listen.
  it.each([
    ["192.0.2.1", "192.0.2.1, port 11434"],
    ["https://192.0.2.1/behind/a/proxy/", "192.0.2.1, port 443"],
    ["[2001:db8::1]:8080", "2001:db8::1, port 8080"],
  ])("%s means %s", { concurrent: true }, async (host, where) => {
    const env = { LOCALLM_HOST: host, LOCALLM_MODELS: join(folder, "models") };
    const { code, err } = await command(["serve"], env);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^Error: cannot listen on ${where}: E[A-Z]+$`, "m"));
  });

  it("reports a models folder that cannot be created with its variable", async () => {
    const file = join(folder, "a-file");
    await writeFile(file, "");
    for (const models of [join(file, "models"), file, "/proc/nowhere/models"]) {
      const { code, err } = await command(["serve"], { LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: models });
      expect(code).toBe(1);
      expect(err).toMatch(
        /^Error: LOCALLM_MODELS=.*: the folder cannot be created \((ENOTDIR|EEXIST|ENOENT)\)\n$/,
      );
    }
  });

  it("on the network drops the Host check and warns that anyone can connect", async () => {
    await withProcess({ LOCALLM_HOST: "0.0.0.0:0" }, async (server) => {
      expect(server.stdout()).toContain(`listening on ${server.url}`);
      const answer = await rawRequest(server.url, {
        path: "/api/version",
        headers: { host: "evil.example" },
      });
      expect(answer.status).toBe(200);
      await until("it is said", () => server.stdout().includes("LOCALLM_API_KEY"));
    });
  });

  it.skipIf(!hasTerminal)(
    "on a terminal is logged as text, or as JSON on request (needs script)",
    async () => {
      for (const [args, called] of [
        [[], /\nPOST \/api\/show → 404 in \d+ ms\r\n/],
        [["--log-format", "json"], /\n\{"level":"info",.*"route":"\/api\/show","status":404/],
      ] as const) {
        const { keys, shown, exited } = terminal(["serve", ...args], {
          LOCALLM_HOST: "127.0.0.1:0",
          LOCALLM_MODELS: join(folder, "models"),
        });
        await keys("", /listening on \S+; [\s\S]*Models run on /);
        const [, url = ""] = /listening on ([^;]+);/.exec(shown()) ?? [];
        await fetch(`${url}/api/show`, { method: "POST", body: '{"model":"none"}' });
        await until("the call is logged", () => called.test(shown()));
        expect(shown().includes('{"level"')).toBe(args.length > 0);
        await keys("\u0003", /stopping/);
        expect(await exited).toBe(0);
      }
    },
  );

  it("in use by another program is reported in one line", async () => {
    const other: Server = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const started = launch(["serve"], {
      LOCALLM_HOST: `127.0.0.1:${port}`,
      LOCALLM_MODELS: join(folder, "models"),
    });
    expect((await started.exited).code).toBe(1);
    expect(started.stderr()).toBe(
      `Error: 127.0.0.1, port ${port} is already in use; stop the other server or set LOCALLM_HOST to another address\n`,
    );
    other.close();
  });
});

describe("LOCALLM_API_KEY", () => {
  it("protects only /api and /v1", async () => {
    await withServer({ LOCALLM_API_KEY: "s3cret" }, async ({ url }) => {
      const ask = (path: string, authorization?: string) =>
        rawRequest(url, { path, ...(authorization === undefined ? {} : { headers: { authorization } }) });
      for (const path of ["/", "/health", "/metrics"]) expect((await ask(path)).status).toBe(200);
      for (const path of ["/api/version", "/api/tags", "/api/nope", "/%61pi/tags", "/api/%74ags"]) {
        const refused = await ask(path);
        expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
        expect(refused.json()["error"]).toMatch(/^a valid API key is required/);
      }
      for (const [method, path] of [
        ["POST", "/api/create"],
        ["POST", "/api/copy"],
        ["DELETE", "/api/delete"],
        ["POST", "/api/pull"],
        ["POST", "/api/push"],
        ["POST", `/api/blobs/sha256:${"0".repeat(64)}`],
      ] as const)
        expect((await fetch(url + path, { method, body: "{}" })).status).toBe(401);
      const key = async (headers: Record<string, string>) =>
        (await rawRequest(url, { path: "/v1/models", headers })).status;
      expect(await key({ "x-api-key": "s3cret" })).toBe(200);
      expect(await key({ "x-api-key": "s3cret2" })).toBe(401);
      expect(await key({ "x-api-key": "s3cret", authorization: "Bearer wrong" })).toBe(401);
      for (const wrong of ["Bearer wrong!", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cret2"]) {
        const refused = await ask("/v1/models", wrong);
        expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
        expect(refused.json()["error"]).toMatchObject({
          type: "authentication_error",
          code: "invalid_api_key",
        });
      }
      // Without models, the list must be empty, not null.
      const models = await ask("/v1/models", "Bearer s3cret");
      expect([models.status, models.json()]).toEqual([200, { object: "list", data: [] }]);
      expect((await ask("/api/tags", "bearer s3cret")).status).toBe(200);
    });
  });
});

describe("other settings", () => {
  it("LOCALLM_ORIGINS adds origins, LOCALLM_MODELS creates its folder", async () => {
    const models = join(folder, "made", "here");
    const env = { LOCALLM_ORIGINS: "https://*.app.example,null", LOCALLM_MODELS: models };
    await withServer(env, async ({ url }) => {
      for (const [origin, status] of [
        ["https://my.app.example", 200],
        ["null", 200],
        ["https://app.example", 403],
        ["http://my.app.example", 403],
        ["https://my.app.example.evil.example", 403],
      ] as const) {
        const answer = await rawRequest(url, { path: "/api/version", headers: { origin } });
        expect([origin, answer.status]).toEqual([origin, status]);
      }
      expect((await stat(models)).isDirectory()).toBe(true);
    });
  });
});

describe("with a model", () => {
  const model = "small:a";
  const body = { model, prompt: "hi", stream: false, options: { temperature: 0, num_predict: 2 } };
  let store: ModelStore;
  beforeAll(async () => {
    store = await createSmallStore();
  });
  afterAll(() => store.remove());
  const remainingMs = async (server: TestServer) => {
    const { models } = await server.ask<{ models: { expires_at: string }[] }>("/api/ps");
    return Date.parse(models[0]!.expires_at) - Date.now();
  };

  it("has the documented defaults for address, folders, slots, models, window, keep-alive, prompts and log", async () => {
    const home = join(folder, "home");
    await mkdir(join(home, ".locallm"), { recursive: true });
    await symlink(store.folder, join(home, ".locallm", "models"));
    const noProxy = Object.fromEntries(
      ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [
        [name, ""],
        [name.toLowerCase(), ""],
      ]),
    );
    const unset = { LOCALLM_HOST: "", LOCALLM_MODELS: "", LOCALLM_KEYS: "", HOME: home, ...noProxy };
    await withProcess({ ...unset, NODE_OPTIONS: `--import=${onAnotherPort}` }, async (server) => {
      expect(server.stdout()).toContain("asks for 127.0.0.1, port 11434\n");
      expect(await server.ask("/api/generate", body)).toMatchObject({ prompt_eval_count: 2 });
      await server.ask("/api/generate", { ...body, model: "small:b" });
      const { explain } = await server.ask<Explained>("/api/ps?explain");
      expect(explain.loaded).toMatchObject([{ model: "small:b", context_length: 2048, slots: 1 }]);
      expect(await remainingMs(server)).toBeLessThanOrEqual(300_000);
      expect(await remainingMs(server)).toBeGreaterThan(240_000);
      expect(server.log.map((line) => line["level"])).not.toContain("debug");
      const inHome = (...path: string[]) => join(home, ".locallm", ...path);
      expect(settingsOf(server)).toEqual({
        ...{ host: { scheme: "http", hostname: "127.0.0.1", port: 11_434, path: "" }, origins: [] },
        // The server of a test has it off.
        ...{ derived: false, modelsFolder: inHome("models"), enginesFolder: inHome("engines") },
        ...{ numParallel: 1, maxLoadedModels: 1, maxQueue: 512, keepAliveMs: 300_000 },
        ...{
          loadTimeoutMs: 300_000,
          contextLength: 2048,
          generate: "auto",
          ollamaVersion: "0.33.0",
          specialTokens: "template",
          stopTimeoutMs: null,
          debug: false,
        },
        ...{
          flashAttention: "auto",
          kvCacheType: "f16",
          sharedCache: "auto",
          drafts: "auto",
          intelGpu: false,
        },
        ...{ marginBytes: 2 ** 30, tensorSplit: null, cpuExperts: null },
        ...{ cacheRamBytes: null, cacheDiskBytes: 0, cacheFolder: inHome("conversations") },
        ...{ responsesBytes: 2 ** 26, responsesLifetimeMs: 86_400_000, responsesFolder: null },
        ...{ cudaVisibleDevices: null, vulkanVisibleDevices: null },
        ...{ registries: null, credentialsFile: inHome("credentials.json"), caFile: null },
        releases: { from: null, key: null, isChecked: false },
        ...{ remotes: [], imageHosts: [], remoteTimeoutMs: 300_000, remoteHostsFile: inHome("remotes.json") },
        drainedHostsFile: inHome("drained.json"),
        ...{ keysFolder: inHome("keys"), launchFolder: inHome("launch") },
        ...{ apiKey: "not set", proxy: { http: "not set", https: "not set", except: null } },
      });
    });
  });

  it("LOCALLM_CACHE_DISK keeps conversations over an unload, a kill and a restart, within its limits", async () => {
    const files = join(folder, "conversations");
    const env = {
      LOCALLM_MODELS: store.folder,
      LOCALLM_CACHE_RAM: "8MiB",
      LOCALLM_CACHE_DISK: "20MiB",
      LOCALLM_CACHE_FOLDER: files,
    };
    const ask = (server: TestServer, prompt: string) =>
      server.ask<{ response: string; prompt_cached_count?: number }>("/api/generate", { ...body, prompt });
    const long = (topic: string) => `${topic}: ${"the quick brown fox. ".repeat(8)}`;
    const topics = ["tea", "sea", "pea"];
    const kept = async (server: TestServer) => {
      const { explain } = await server.ask<{ explain: { conversations: unknown } }>("/api/ps?explain");
      return explain.conversations;
    };
    const answers = new Map<string, string>();
    const again = async (server: TestServer) => {
      for (const topic of topics) {
        const { response, prompt_cached_count } = await ask(server, long(topic));
        expect([topic, response, Number(prompt_cached_count ?? 0) > 150]).toEqual([
          topic,
          answers.get(topic),
          true,
        ]);
      }
    };
    await withProcess(env, async (server) => {
      for (const topic of topics) answers.set(topic, (await ask(server, long(topic))).response);
      await server.ask("/api/generate", { model, keep_alive: 0 });
      await until(
        "it is unloaded",
        async () => (await server.ask<{ models: unknown[] }>("/api/ps")).models.length === 0,
      );
      expect(await kept(server)).toMatchObject({
        memory: { count: 3, limit_bytes: 8 * 2 ** 20 },
        disk: { limit_bytes: 20 * 2 ** 20 },
      });
      expect((await stat(files)).mode & 0o777).toBe(0o700);
      await again(server);
      await until("all are written", async () => {
        return (await readdir(files)).filter((name) => name.endsWith(".state")).length === 3;
      });
      await until("they are counted", async () => {
        return (await metricsOf(server))("conversation_bytes", 'where="disk"') > 100_000;
      });
      expect((await metricsOf(server))("conversation_limit_bytes", 'where="disk"')).toBe(20 * 2 ** 20);
      server.signal("SIGKILL");
      await server.exited;
    });
    await withServer(env, async (server) => {
      expect(await kept(server)).toMatchObject({ memory: { count: 0 }, disk: { count: 3 } });
      await again(server);
    });
    await withServer({ ...env, LOCALLM_CACHE_RAM: "0", LOCALLM_CACHE_DISK: "0" }, async (server) => {
      for (const topic of ["tea", "sea", "tea"])
        expect((await ask(server, long(topic))).prompt_cached_count ?? 0).toBeLessThan(10);
      expect(await kept(server)).toMatchObject({
        memory: { count: 0, bytes: 0, limit_bytes: 0 },
        disk: null,
      });
    });
  });

  it("every non-default value takes effect", async () => {
    const env = {
      LOCALLM_MODELS: store.folder,
      LOCALLM_NUM_PARALLEL: "3",
      LOCALLM_MAX_LOADED_MODELS: "2",
      LOCALLM_KEEP_ALIVE: "1h",
      LOCALLM_CONTEXT_LENGTH: "1024",
      LOCALLM_GENERATE: "template",
      LOCALLM_KV_CACHE_TYPE: "q8_0",
      LOCALLM_FLASH_ATTENTION: "on",
      LOCALLM_LOAD_TIMEOUT: "1m",
      LOCALLM_STOP_TIMEOUT: "0",
      LOCALLM_MAX_QUEUE: "7",
      LOCALLM_DEBUG: "1",
      LOCALLM_INTEL_GPU: "1",
      // The runner receives the parsed value, not the text.
      CUDA_VISIBLE_DEVICES: " 1 ",
      GGML_VK_VISIBLE_DEVICES: "2 ",
      LOCALLM_ENGINES: join(store.folder, "no-engines"),
      LOCALLM_ORIGINS: "https://a.example",
      LOCALLM_REGISTRIES: "models.example",
      LOCALLM_REMOTES: "GPU1.example:8000, [::1]",
      LOCALLM_CREDENTIALS: join(store.folder, "credentials.json"),
      LOCALLM_RESPONSES: "1MiB",
      LOCALLM_RESPONSES_LIFETIME: "1h",
      LOCALLM_RESPONSES_FOLDER: join(store.folder, "responses"),
      HTTP_PROXY: "me:secret@proxy.example:3128",
      NO_PROXY: ".example",
    };
    await withServer(env, async (server) => {
      expect(settingsOf(server)).toMatchObject({
        ...{ numParallel: 3, maxLoadedModels: 2, maxQueue: 7, keepAliveMs: 3_600_000 },
        ...{
          loadTimeoutMs: 60_000,
          stopTimeoutMs: 0,
          contextLength: 1024,
          generate: "template",
          debug: true,
        },
        ...{ flashAttention: "on", kvCacheType: "q8_0", intelGpu: true },
        ...{ cudaVisibleDevices: "1", vulkanVisibleDevices: "2", enginesFolder: env.LOCALLM_ENGINES },
        ...{ origins: ["https://a.example"], registries: ["models.example"] },
        ...{ responsesBytes: 2 ** 20, responsesLifetimeMs: 3_600_000 },
        remotes: [
          { hostname: "gpu1.example", port: "8000" },
          { hostname: "::1", port: null },
        ],
        ...{ credentialsFile: env.LOCALLM_CREDENTIALS, proxy: { http: "set", except: ".example" } },
      });
      const templated = await server.ask("/api/generate", body);
      expect(Number(templated["prompt_eval_count"])).toBeGreaterThan(10);
      expect(await server.ask("/api/generate", { ...body, raw: true })).toMatchObject({
        prompt_eval_count: 2,
      });
      const { id } = await server.ask("/v1/responses", { model, input: "x", max_output_tokens: 1 });
      expect(await readdir(env.LOCALLM_RESPONSES_FOLDER)).toEqual([`${id}.json`]);
      await server.ask("/api/generate", { ...body, model: "small:b" });
      const { explain } = await server.ask<Explained>("/api/ps?explain");
      expect(explain.loaded).toMatchObject([
        { model, context_length: 1024, slots: 3 },
        { model: "small:b", context_length: 1024, slots: 3 },
      ]);
      expect(await remainingMs(server)).toBeGreaterThan(3_000_000);
      const environment = await readFile(`/proc/${explain.loaded[0]!.pid}/environ`, "utf8");
      expect(environment.split("\0")).toEqual(
        expect.arrayContaining([
          "CUDA_VISIBLE_DEVICES=1",
          "GGML_VK_VISIBLE_DEVICES=2",
          "LOCALLM_INTEL_GPU=1",
        ]),
      );
      const isLogged = (what: string, fits: (line: Record<string, unknown>) => boolean) =>
        until(`the log has ${what}`, () => server.log.some(fits));
      const engineSays = (pattern: RegExp) =>
        isLogged(String(pattern), (line) => line["msg"] === "engine" && pattern.test(String(line["line"])));
      await engineSays(/K \(q8_0\)/);
      await engineSays(/flash_attn *= enabled/);
      await isLogged("the load", (line) => {
        return line["level"] === "debug" && line["what"] === "load" && line["model"] === model;
      });
      // Even the debug log contains no prompts and no secrets.
      await server.ask("/api/generate", { ...body, prompt: "the hidden word", system: "never told" });
      await until("it is in the log", () => {
        const requests = server.log.filter((line) => line["route"] === "/api/generate");
        return requests.length === 4;
      });
      expect(JSON.stringify(server.log)).not.toMatch(/hidden word|never told|secret/);
    });
  });
});

/**
 * A module that reports which address the process requests, and gives it a free port there, because the requested port
 * may be in use on this machine.
 */
const onAnotherPort = `data:text/javascript,${encodeURIComponent(`
  import { Server } from "node:net";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (address, ...rest) {
    console.log("asks for " + address.host + ", port " + address.port);
    return listen.call(this, { ...address, port: 0 }, ...rest);
  };
`)}`;

/** The settings that the server logged at startup. */
function settingsOf(server: TestServer): unknown {
  return server.log.find((line) => line["msg"] === "settings")?.["settings"];
}
