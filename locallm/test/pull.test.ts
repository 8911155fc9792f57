import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeRegistry, fakeRegistry, layerType } from "./fake-registry.ts";
import { lines, startServerHere, type TestServer, until } from "./server-process.ts";
import { splitGguf } from "./split-gguf.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

let server: TestServer;
let models = "";
let registry: FakeRegistry;
beforeAll(async () => {
  models = await mkdtemp(join(tmpdir(), "locallm-pull-"));
  server = await startServerHere({ models });
});
afterAll(async () => {
  await server?.stop();
  await rm(models, { recursive: true, force: true });
});
beforeEach(async () => {
  registry = await fakeRegistry();
});
afterEach(async () => {
  await registry.close();
  for (const { name } of (await server.ask<{ models: { name: string }[] }>("/api/tags")).models) {
    await server.post("/api/delete", { model: name }, { method: "DELETE" });
  }
});

const tiny = ggufBytes(tinyModel());
const name = (reference = "ns/m:v") => `${registry.host}/${reference}`;

async function pull(body: Record<string, unknown> = {}, from = server) {
  const response = await from.post("/api/pull", { model: name(), ...body });
  const got = [];
  for await (const line of linesOf(response)) got.push(line);
  return { status: response.status, lines: got, last: got.at(-1) ?? {} };
}

/** A single JSON answer counts as one line. */
async function* linesOf(response: Response) {
  if (response.headers.get("content-type")?.includes("ndjson")) yield* lines(response);
  else yield (await response.json()) as Record<string, unknown>;
}

const left = async (folder: string) => await readdir(join(models, folder)).catch(() => []);

/** Expects the error with and without streaming, no leftover files, and a server that is still running. */
async function refused(status: number, error: string | RegExp, body: Record<string, unknown> = {}) {
  const streamed = await pull(body);
  expect(streamed.last["error"]).toMatch(error);
  const whole = await pull({ ...body, stream: false });
  expect(whole).toMatchObject({ status, lines: [{ error: expect.stringMatching(error) }] });
  expect(await left("partial")).toEqual([]);
  expect(await left("blobs")).toEqual([]);
  expect(await left("manifests")).toEqual([]);
  expect(JSON.stringify([streamed, whole])).not.toContain(models);
}

describe("pull", () => {
  test("reports progress like Ollama and keeps the manifest's exact bytes", async () => {
    const { manifest, digest } = registry.publish("ns/m:v", tiny);
    const { lines: got } = await pull();
    const statuses = got.map(({ status }) => status);
    expect(statuses.filter((status, index) => statuses.indexOf(status) === index)).toEqual([
      `first pull from ${registry.host}`,
      "pulling manifest",
      `pulling ${digest.slice(7, 19)}`,
      expect.stringMatching(/^pulling [0-9a-f]{12}$/),
      "verifying sha256 digest",
      "writing manifest",
      "success",
    ]);
    expect(got).toContainEqual({
      status: `pulling ${digest.slice(7, 19)}`,
      digest,
      total: tiny.length,
      completed: tiny.length,
    });
    const file = await readFile(join(models, "manifests", registry.host, "ns/m/v"), "utf8");
    expect(file).toBe(manifest);
    const [listed] = (await server.ask<{ models: { name: string; digest: string }[] }>("/api/tags")).models;
    expect(listed).toMatchObject({
      name: name(),
      digest: createHash("sha256").update(manifest).digest("hex"),
    });
    expect(await left("partial")).toEqual([]);
  });

  test("of a complete model requests only the manifest", async () => {
    registry.publish("ns/m:v", tiny);
    await pull();
    registry.requests.length = 0;
    expect((await pull({ stream: false })).lines).toEqual([{ status: "success" }]);
    expect(registry.requests).toEqual(["GET /v2/ns/m/manifests/v"]);
  });

  test("retries the manifest if the registry fails temporarily", async () => {
    registry.publish("ns/m:v", tiny);
    let failures = 2;
    registry.answer = (_, response) => {
      if (failures-- <= 0) return false;
      if (failures === 1) response.writeHead(503).end();
      else response.destroy();
      return true;
    };
    expect((await pull()).last).toEqual({ status: "success" });
  });

  test("accepts OCI manifests", async () => {
    const { manifest } = registry.publish("ns/m:v", tiny);
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    registry.manifests.set("ns/m:v", JSON.stringify({ mediaType, ...JSON.parse(manifest) }));
    expect((await pull()).last).toEqual({ status: "success" });
    expect(registry.headers[0]?.accept).toContain(mediaType);
  });

  test("stores split weights as one model and rejects incomplete ones", async () => {
    const [first, second] = splitGguf(tinyModel(), 2) as [Buffer, Buffer];
    const config = registry.add("{}", "application/vnd.docker.container.image.v1+json");
    const layers = [first, second].map((part) => registry.add(part, layerType("model")));
    const publish = (chosen: unknown[]) =>
      registry.manifests.set("ns/m:v", JSON.stringify({ schemaVersion: 2, config, layers: chosen }));
    publish([layers[1]]);
    await refused(400, /^invalid GGUF: expected 2 split files, got 1/);
    publish([layers[1], layers[0]]);
    await refused(400, /^invalid GGUF: file 1 of 2 is marked as 2 of 2/);
    publish(layers);
    expect((await pull()).last).toEqual({ status: "success" });
    const shown = await server.ask<{ tensors: unknown[] }>("/api/show", { model: name() });
    expect(shown.tensors.length).toBe(tinyModel().tensors.length);
  });

  test("removes blobs that only the replaced manifest used", async () => {
    registry.publish("ns/m:v", tiny);
    await pull();
    const before = await left("blobs");
    registry.publish("ns/m:v", ggufBytes(tinyModel({ version: 2 })));
    await pull();
    const after = await left("blobs");
    expect(after.length).toBe(before.length);
    expect(after).not.toEqual(before);
  });

  test("by two clients is one download, and both get its progress", async () => {
    const { digest } = registry.publish("ns/m:v", tiny);
    const isOfManifest = (line: string) => line.includes("/manifests/");
    registry.answer = (request, response, path) => {
      if (!path.endsWith(digest) || request.headers["x-again"]) return false;
      const send = async () => {
        // The download must not end before the other client has joined it.
        await until("both read the manifest", () => registry.requests.filter(isOfManifest).length === 2);
        setTimeout(() => {
          request.headers["x-again"] = "1";
          response.writeHead(200, { "content-length": tiny.length }).end(tiny);
          registry.sentBytes += tiny.length;
        }, 50);
      };
      void send();
      return true;
    };
    const both = await Promise.all([pull(), pull()]);
    for (const { last, lines: got } of both) {
      expect(last).toEqual({ status: "success" });
      expect(got.some((line) => line["digest"] === digest)).toBe(true);
    }
    expect(registry.requests.filter((line) => line.includes(digest)).length).toBe(1);
  });

  test("by three clients of a blob that fails gives each of them one clear error", async () => {
    const { digest } = registry.publish("ns/m:v", tiny);
    registry.answer = (_, response, path) => {
      if (!path.endsWith(digest)) return false;
      response.writeHead(403).end();
      return true;
    };
    for (const { last } of await Promise.all([pull(), pull(), pull()])) {
      expect(last["error"]).toMatch(/it answered 403$/);
    }
    expect((await fetch(`${server.url}/api/version`)).status).toBe(200);
    registry.answer = null;
    expect((await pull()).last).toEqual({ status: "success" });
  });

  test("stops when its client disconnects, and the next pull resumes it", async () => {
    const { digest } = registry.publish("ns/m:v", tiny);
    let held: ServerResponse | null = null;
    const asked = Promise.withResolvers<void>();
    const dropped = Promise.withResolvers<void>();
    registry.answer = (_, response, path) => {
      if (!path.endsWith(digest) || held !== null) return false;
      held = response;
      response.on("close", dropped.resolve);
      response.writeHead(200, { "content-length": tiny.length });
      response.write(tiny.subarray(0, 100));
      asked.resolve();
      return true;
    };
    const gone = new AbortController();
    const leaving = fetch(`${server.url}/api/pull`, {
      method: "POST",
      body: JSON.stringify({ model: name() }),
      signal: gone.signal,
    }).then((response) => response.text());
    await asked.promise;
    gone.abort();
    await expect(leaving).rejects.toThrow();
    await dropped.promise;
    expect((await pull()).last).toEqual({ status: "success" });
  });
});

describe("pull rejects", () => {
  test("an invalid name", async () => {
    const ask = async (body: unknown) => {
      const response = await server.post("/api/pull", body);
      return [response.status, ((await response.json()) as { error: string }).error];
    };
    expect(await ask({})).toEqual([400, "model is required"]);
    expect(await ask({ model: "bad name!" })).toEqual([400, "invalid model name"]);
    expect(await ask({ model: `${registry.host}/ns/m@sha256:abc` })).toEqual([400, "invalid model name"]);
    expect(await ask({ model: "file:///etc/passwd" })).toEqual([400, "invalid model name"]);
    expect(await ask({ model: "http://models.example/ns/m" })).toEqual([
      400,
      expect.stringMatching(/^http is not encrypted/),
    ]);
    for (const host of ["a:b:c", "1.2.3.4.5", "localhost:99999"]) {
      expect(await ask({ model: `${host}/ns/m` })).toEqual([400, "invalid model name"]);
    }
    expect(await ask({ model: "m", insecure: "yes" })).toEqual([400, "insecure must be a boolean"]);
    expect(registry.requests).toEqual([]);
  });

  test("an unknown model with 404 or a line of the stream", async () => {
    await refused(404, "pull model manifest: file does not exist");
  });

  test("a registry that does not answer", async () => {
    await registry.close();
    await refused(502, /^cannot reach 127\.0\.0\.1:\d+: the connection was refused \(ECONNREFUSED\)$/);
    registry = await fakeRegistry();
  });

  test("a registry that fails", async () => {
    registry.answer = (_, response) => {
      response.writeHead(500).end("inner secret");
      return true;
    };
    await refused(502, /it answered 500$/);
  });

  test("a model that does not fit on the disk, before it downloads a byte", async () => {
    const { manifest } = registry.publish("ns/m:v", tiny);
    const large = JSON.parse(manifest);
    large.layers[0].size = 2 ** 52;
    registry.manifests.set("ns/m:v", JSON.stringify(large));
    await refused(507, /^not enough disk space: need 45\d+ bytes, have \d+ bytes;/);
    expect(registry.requests.some((line) => line.includes("/blobs/"))).toBe(false);
  });

  const good = `sha256:${"a".repeat(64)}`;
  const layer = { mediaType: layerType("model"), digest: good, size: 3 };
  const with1 = (change: object) =>
    JSON.stringify({ schemaVersion: 2, config: layer, layers: [{ ...layer, ...change }] });
  test.each<[string, string | Buffer]>([
    ["nothing", ""],
    ["no JSON", "<html>"],
    ["an array", "[]"],
    ["no config", '{"schemaVersion":2,"layers":[]}'],
    ["another version", JSON.stringify({ schemaVersion: 1, config: layer, layers: [layer] })],
    ["no layers", JSON.stringify({ schemaVersion: 2, config: layer, layers: [] })],
    ["null layers", JSON.stringify({ schemaVersion: 2, config: layer, layers: null })],
    ["a layer that is null", JSON.stringify({ schemaVersion: 2, config: layer, layers: [null] })],
    ["no digest", with1({ digest: undefined })],
    ["a null digest", with1({ digest: null })],
    ["a number as digest", with1({ digest: 5 })],
    ["an empty digest", with1({ digest: "" })],
    ["a short digest", with1({ digest: "sha256:abc" })],
    ["a digest that leaves the folder", with1({ digest: "../../../../tmp/x" })],
    ["a digest that leaves it later", with1({ digest: `sha256:../${"a".repeat(61)}` })],
    ["an upper-case digest", with1({ digest: `sha256:${"A".repeat(64)}` })],
    ["a digest with NUL", with1({ digest: `sha256:${"a".repeat(63)}\0` })],
    ["a digest with other digits", with1({ digest: `sha256:${"a".repeat(63)}٣` })],
    ["another algorithm", with1({ digest: `md5:${"a".repeat(32)}` })],
    ["a negative size", with1({ size: -1 })],
    ["a size with a fraction", with1({ size: 1.5 })],
    ["a size beyond numbers", with1({ size: 1e300 })],
    ["a size as text", with1({ size: "3" })],
    [
      "a million layers",
      `{"schemaVersion":2,"config":${JSON.stringify(layer)},"layers":[${Array(1e5).fill("{}").join()}]}`,
    ],
    ["more than any manifest", Buffer.alloc(5_000_000, " ")],
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
  ])("a bad manifest: %s", async (_, manifest) => {
    registry.manifests.set("ns/m:v", manifest);
    await refused(502, / sent an invalid response: /);
    expect(registry.requests.some((line) => line.includes("/blobs/"))).toBe(false);
  });

  test("a manifest that does not match the registry's digest", async () => {
    const { manifest } = registry.publish("ns/m:v", tiny);
    registry.answer = (_, response, path) => {
      if (!path.includes("/manifests/")) return false;
      response.writeHead(200, { "docker-content-digest": good }).end(manifest);
      return true;
    };
    await refused(502, /does not match its digest/);
  });

  const bomb = gzipSync(Buffer.alloc(50_000_000));
  test.each(["gzip", "zstd", "br"])("a compressed manifest (%s) of any size", async (encoding) => {
    registry.answer = (_, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bomb);
      return true;
    };
    await refused(502, /compressed manifest, which was not requested/);
  });

  test("a blob that does not match its digest", async () => {
    const { digest } = registry.publish("ns/m:v", tiny);
    registry.blobs.set(digest, Buffer.alloc(tiny.length, 1));
    await refused(
      502,
      new RegExp(`^digest mismatch, file must be downloaded again: want ${digest}, got sha256:`),
    );
  });

  test.each([-1, 1])("a blob whose size is off by %d", async (by) => {
    const { manifest } = registry.publish("ns/m:v", tiny);
    const lying = JSON.parse(manifest);
    lying.layers[0].size += by;
    registry.manifests.set("ns/m:v", JSON.stringify(lying));
    await refused(502, /it announced$/);
  });

  test("an endless blob", async () => {
    const { digest } = registry.publish("ns/m:v", tiny);
    registry.answer = (_, response, path) => {
      if (!path.endsWith(digest)) return false;
      const more = () => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", more);
      more();
      return true;
    };
    await refused(502, /sent more than \d+ bytes/);
  });

  test("weights with the right digest that are not a GGUF file", async () => {
    registry.publish("ns/m:v", Buffer.from("these are no weights at all, only text"));
    await refused(400, /^invalid GGUF: /);
  });

  test("a configuration that is not JSON", async () => {
    const config = registry.add("{", "application/vnd.docker.container.image.v1+json");
    const layers = [registry.add(tiny, layerType("model"))];
    registry.manifests.set("ns/m:v", JSON.stringify({ schemaVersion: 2, config, layers }));
    await refused(500, /is not JSON/);
  });
});

describe("signing in", () => {
  const wantsBearer =
    (realm: () => string, token = "t0k") =>
    (request: IncomingMessage, response: ServerResponse, path: string) => {
      if (path === "/token") {
        response.end(JSON.stringify({ token }));
        return true;
      }
      if (request.headers.authorization === `Bearer ${token}`) return false;
      response
        .writeHead(401, {
          "www-authenticate": `Bearer realm="${realm()}",service="s",scope="repository:ns/m:pull"`,
        })
        .end();
      return true;
    };

  test("fetches a token once from the realm that the registry names", async () => {
    registry.publish("ns/m:v", tiny);
    registry.answer = wantsBearer(() => `http://${registry.host}/token`);
    expect((await pull()).last).toEqual({ status: "success" });
    const token = "/token?service=s&scope=repository%3Ans%2Fm%3Apull";
    expect(registry.requests.filter((line) => line.startsWith("GET /token"))).toEqual([`GET ${token}`]);
  });

  test("does not fetch a token from another host", async () => {
    const other = await fakeRegistry();
    registry.publish("ns/m:v", tiny);
    registry.answer = wantsBearer(() => `http://${other.host}/token`);
    await refused(502, /sign-in URL is on another host/, { username: "me", password: "secret" });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test("sends username and password only on request and only to the registry", async () => {
    const elsewhere = await fakeRegistry();
    const { digest } = registry.publish("ns/m:v", tiny);
    elsewhere.blobs.set(digest, tiny);
    registry.answer = (request, response, path) => {
      if (request.headers.authorization !== `Basic ${Buffer.from("me:secret").toString("base64")}`) {
        response.writeHead(401, { "www-authenticate": 'Basic realm="models"' }).end();
        return true;
      }
      if (!path.endsWith(digest)) return false;
      const location = `http://${elsewhere.host.replace("127.0.0.1", "localhost")}/v2/x/blobs/${digest}?signature=1`;
      response.writeHead(307, { location }).end();
      return true;
    };
    expect((await pull({ username: "me", password: "secret" })).last).toEqual({ status: "success" });
    expect(registry.headers[0]?.authorization).toBeUndefined();
    expect(elsewhere.headers.map(({ authorization }) => authorization)).toEqual([undefined]);
    await elsewhere.close();
  });

  test.each([
    ["no challenge", {}],
    ["a challenge of another kind", { "www-authenticate": "Digest realm=x" }],
    ["an invalid realm", { "www-authenticate": 'Bearer realm="nowhere"' }],
    ["no realm", { "www-authenticate": 'Bearer service="s"' }],
  ])("reports a registry that sends %s", async (_, headers) => {
    registry.answer = (_request, response) => {
      response.writeHead(401, headers as Record<string, string>).end();
      return true;
    };
    await refused(502, /rejected the credentials|sign-in URL is invalid/);
  });
});

describe("the model hub", () => {
  // Imitates the model hub: a tag is a file name, or a quantisation in upper or lower case. The hub chooses
  // what `latest` means, serves settings files as layers, and signs blob URLs on another host.
  const quantisations: Record<string, Buffer> = {
    "tiny-Q4_K_M.gguf": tiny,
    "tiny-Q8_0.gguf": ggufBytes(tinyModel({ version: 2 })),
  };
  function hub(elsewhere: FakeRegistry) {
    registry.answer = (request, response, path) => {
      const [, repository, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(path) ?? [];
      const [, digest] = /\/blobs\/(.+)$/.exec(path) ?? [];
      if (digest !== undefined) {
        const location = `http://${elsewhere.host.replace("127.0.0.1", "localhost")}/v2/cdn/blobs/${digest}?signature=s`;
        response.writeHead(307, { location }).end();
        return true;
      }
      if (request.headers.authorization !== "Bearer hub-token" && repository === "user/gated") {
        response.writeHead(401).end('{"error":"Access to this repository is restricted"}');
        return true;
      }
      const wanted = tag === "latest" ? "q4_k_m" : (tag ?? "").toLowerCase();
      const file = Object.keys(quantisations).find((one) => one.toLowerCase().includes(wanted));
      if (file === undefined) {
        const error = "The specified tag is not available in the repository, see https://hub.example/x?t=1";
        response.writeHead(400).end(JSON.stringify({ error }));
        return true;
      }
      const layers = [
        elsewhere.add(quantisations[file] ?? "", layerType("model")),
        elsewhere.add("{{ .Prompt }}", layerType("template")),
        elsewhere.add('{"stop":["x"]}', layerType("params")),
      ];
      const config = elsewhere.add(
        '{"model_format":"gguf"}',
        "application/vnd.docker.container.image.v1+json",
      );
      response.end(JSON.stringify({ schemaVersion: 2, config, layers }));
      return true;
    };
  }
  let elsewhere: FakeRegistry;
  beforeEach(async () => {
    elsewhere = await fakeRegistry();
    hub(elsewhere);
  });
  afterEach(() => elsewhere.close());

  test.each([
    ["user/Tiny-1.0-GGUF", "tiny-Q4_K_M.gguf"],
    ["user/Tiny-1.0-GGUF:q8_0", "tiny-Q8_0.gguf"],
    ["user/Tiny-1.0-GGUF:Q8_0", "tiny-Q8_0.gguf"],
    ["user/Tiny-1.0-GGUF:tiny-Q8_0.gguf", "tiny-Q8_0.gguf"],
  ])("pulls for %s the file %s with its settings", async (reference, file) => {
    expect((await pull({ model: name(reference) })).last).toEqual({ status: "success" });
    const digest = createHash("sha256")
      .update(quantisations[file] ?? "")
      .digest("hex");
    expect(await left("blobs")).toContain(`sha256-${digest}`);
    const shown = await server.ask("/api/show", { model: name(reference) });
    expect(shown).toMatchObject({
      template: "{{ .Prompt }}",
      parameters: expect.stringMatching(/^stop +"x"$/),
    });
  });

  test("names the missing quantisation without URLs", async () => {
    await refused(502, /it answered 400: The specified tag is not available in the repository, see …$/, {
      model: name("user/Tiny-1.0-GGUF:Q2_K"),
    });
  });

  test("sends the token of the credentials file for gated models, and to no other host", async () => {
    const file = join(models, "..", `credentials-${registry.host.split(":")[1]}.json`);
    await writeFile(file, JSON.stringify({ [registry.host]: { token: "hub-token" } }), { mode: 0o600 });
    const knowing = await startServerHere({ env: { LOCALLM_CREDENTIALS: file } });
    await refused(502, /rejected the credentials/, { model: name("user/gated") });
    expect((await pull({ model: name("user/gated") }, knowing)).last).toEqual({ status: "success" });
    expect(elsewhere.headers.every(({ authorization }) => authorization === undefined)).toBe(true);
    await knowing.stop();
    await rm(file);
  });
});

describe("the allowed registries", () => {
  test("are those of LOCALLM_REGISTRIES", async () => {
    const bound = await startServerHere({
      env: {
        LOCALLM_REGISTRIES: `models.example,${registry.host}`,
        LOCALLM_REMOTES: "gpu1.example:8000, 10.0.0.7",
      },
    });
    registry.publish("ns/m:v", tiny);
    expect((await pull({}, bound)).last).toEqual({ status: "success" });
    expect(await pull({ model: "127.0.0.1:9/ns/m" }, bound)).toMatchObject({
      status: 403,
      last: { error: "registry 127.0.0.1:9 is not allowed; add it to LOCALLM_REGISTRIES" },
    });
    const elsewhere = { model: "https://files.example/m.gguf" };
    expect((await pull(elsewhere, bound)).last).toEqual({
      error: "registry files.example is not allowed; add it to LOCALLM_REGISTRIES",
    });
    await bound.ask("/api/copy", { source: name(), destination: "127.0.0.1:9/ns/m" }).catch(() => null);
    const refusal = await bound.post("/api/push", { model: "127.0.0.1:9/ns/m" });
    expect([refusal.status, await refusal.json()]).toEqual([
      403,
      { error: "registry 127.0.0.1:9 is not allowed; add it to LOCALLM_REGISTRIES" },
    ]);
    const pushed = await bound.post("/api/push", { model: name() });
    const statuses = [];
    for await (const { status } of lines(pushed)) statuses.push(status);
    expect(statuses.slice(0, 2)).toEqual([`pushing to ${registry.host}`, "retrieving manifest"]);
    expect(statuses.at(-1)).toBe("success");

    // LOCALLM_REMOTES allows the hosts of pulled models. The manifest stays the same, byte for byte.
    const manifest = publishRemote(["https://gpu1.example:8000/v1", "http://10.0.0.7:8000/v1"]);
    expect((await pull({}, bound)).last).toEqual({ status: "success" });
    expect(await bound.ask("/api/show", { model: name() })).toMatchObject({
      remote_model: "qwen3",
      remotes: [{ key: "gpu" }, { url: "http://10.0.0.7:8000/v1" }],
    });
    let put = "";
    registry.answer = (request, response, path) => {
      if (request.method !== "PUT" || !path.includes("manifests")) return false;
      request.on("data", (chunk: Buffer) => {
        put += chunk.toString();
      });
      request.on("end", () => response.writeHead(201).end());
      return true;
    };
    expect((await bound.ask("/api/push", { model: name(), stream: false }))["status"]).toBe("success");
    expect(put).toBe(manifest);
    await bound.stop();
  });
});

/** Publishes a remote model with these replicas as `ns/m:v`. Returns its manifest. */
function publishRemote(urls: readonly unknown[]): string {
  const config = registry.add(
    JSON.stringify({
      remote_host: urls[0],
      remote_model: "qwen3",
      remotes: urls.map((url) => ({ url, model: "qwen3", key: "gpu" })),
    }),
    "application/vnd.docker.container.image.v1+json",
  );
  const layers = [registry.add("Be brief.", layerType("system"))];
  const manifest = JSON.stringify({ schemaVersion: 2, config, layers });
  registry.manifests.set("ns/m:v", manifest);
  return manifest;
}

describe("a remote model is rejected before its layers are fetched", () => {
  const notAllowed = /remote models may not use 127\.0\.0\.1:9; run `locallm remote allow 127\.0\.0\.1:9`/;
  test.each([
    ["if its host is not allowed", ["http://127.0.0.1:9/v1"], 403, notAllowed],
    ["if one of its hosts is written in another way", ["http://0x7f.1:9/v1"], 403, notAllowed],
    ["if its address contains a password", ["http://me:secret@gpu1.example"], 502, /is not a model/],
    ["if its address is not one", ["file:///etc/passwd"], 502, /is not a model/],
    ["if an address repeats", ["http://a.example", "http://A.example:80/"], 502, /is not a model/],
    ["if an address is a number", [7], 502, /is not a model/],
  ])("%s", async (_, urls, status, error) => {
    publishRemote(urls);
    await refused(status, error);
    expect(registry.requests.filter((request) => request.includes("/blobs/"))).toHaveLength(2);
  });
});

describe("push rejects", () => {
  const push = async (body: unknown) => {
    const response = await server.post("/api/push", body);
    const got = [];
    for await (const line of linesOf(response)) got.push(line);
    return { status: response.status, last: got.at(-1) };
  };

  test("a model that is not in the store", async () => {
    expect(await push({})).toEqual({ status: 400, last: { error: "model is required" } });
    expect(await push({ model: "bad name!" })).toEqual({
      status: 400,
      last: { error: "invalid model name" },
    });
    expect(await push({ model: "no-such" })).toEqual({
      status: 404,
      last: { error: "model 'no-such' not found" },
    });
  });

  test("missing credentials if the registry requires them", async () => {
    registry.publish("ns/m:v", tiny);
    await pull();
    registry.answer = (_, response) => {
      response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
      return true;
    };
    const error = expect.stringMatching(/denied the push/);
    expect(await push({ model: name() })).toEqual({ status: 200, last: { error } });
    expect(await push({ model: name(), stream: false })).toEqual({ status: 401, last: { error } });
  });

  test("a blob that does not match its digest", async () => {
    const { digest } = registry.publish("ns/m:v", tiny);
    await pull();
    const path = join(models, "blobs", digest.replace(":", "-"));
    await writeFile(path, Buffer.alloc(tiny.length, 7));
    registry.blobs.clear();
    registry.requests.length = 0;
    expect((await push({ model: name() })).last).toEqual({
      error: expect.stringContaining("does not match its digest"),
    });
    expect(registry.requests.every((line) => line.startsWith("HEAD "))).toBe(true);
  });
});
