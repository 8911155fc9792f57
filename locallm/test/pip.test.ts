import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type FileHost, fileHost } from "./file-host.ts";
import { publishWheel } from "./published-wheel.ts";
import { lines, startServerHere, type TestServer } from "./server-process.ts";
import { splitGguf } from "./split-gguf.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

/** A server that may download only from our host. */
let bound: TestServer;
let folder = "";
let models = "";
let host: FileHost;
let foreign: FileHost;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-pip-"));
  models = join(folder, "models");
  host = await fileHost();
  foreign = await fileHost();
  // pip gets the environment of the server's process, which is this one.
  vi.stubEnv("PIP_INDEX_URL", `${host.url}/simple`);
  vi.stubEnv("PIP_TRUSTED_HOST", "127.0.0.1");
  bound = await startServerHere({ models, env: { LOCALLM_REGISTRIES: host.host } });
});
afterAll(async () => {
  await bound?.stop();
  await host?.close();
  await foreign?.close();
  await rm(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

async function pull(model: string) {
  const got: Record<string, unknown>[] = [];
  for await (const line of lines(await bound.post("/api/pull", { model }))) got.push(line);
  const statuses = got.map((line) => line["status"] ?? line);
  return statuses.filter((one, index) => one !== statuses[index - 1]);
}

const left = async (name: string) => await readdir(join(models, name)).catch(() => []);

test("a package comes from a host of LOCALLM_REGISTRIES alone, wherever its index sends pip", async () => {
  publishWheel(host, "tiny_weights", { "m.gguf": ggufBytes(tinyModel()) }, { at: foreign });
  const error = expect.stringMatching(new RegExp(`^registry ${foreign.host} is not allowed`));
  expect((await pull("pypi:tiny-weights")).at(-1)).toEqual({ error });
  expect([await left("blobs"), await left("partial"), await left("manifests")]).toEqual([[], [], []]);
  // pip inspects the wheel, so our server does not.
  const { requests } = foreign;
  expect(requests.filter(({ headers }) => headers["user-agent"] === "locallm")).toEqual([]);
});

test("a package that pip finds becomes a model, with all files if it is split", async () => {
  const [first, second] = splitGguf(tinyModel(), 2) as [Buffer, Buffer];
  const files = { "m-00001-of-00002.gguf": first, "m-00002-of-00002.gguf": second };
  publishWheel(host, "tiny_weights", files, { at: host });
  expect(await pull("pypi:tiny-weights")).toEqual([
    "pulling manifest",
    `pulling from ${host.host}`,
    expect.stringMatching(/^pulling [0-9a-f]{12}$/),
    "verifying sha256 digest",
    "writing manifest",
    "stored as tiny-weights:latest",
    "success",
  ]);
  expect((await left("blobs")).length).toBe(3);
  expect(await pull("pypi:tiny-weights==1.0")).toEqual(["pulling manifest", "success"]);
});
