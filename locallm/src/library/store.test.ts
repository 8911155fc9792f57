import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ggufBytes, tinyModel } from "../../test/tiny-gguf.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName, type ModelName, parseModelName } from "../wire/model-name.ts";
import { modelPurpose } from "./abilities.ts";
import { parseDigest } from "./digest.ts";
import { parseManifest, printManifest } from "./manifest.ts";
import { modelDetails } from "./model-details.ts";
import { type ModelList, Store } from "./store.ts";
import { writeWeightsModel } from "./weights.ts";

let root = "";
let store: Store;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "store-"));
  store = new Store(root);
});
afterEach(() => rm(root, { recursive: true }));

const named = (text: string): ModelName => parseModelName(text) ?? expect.unreachable(text);
const names = async () => (await store.list()).models.map(({ name }) => displayModelName(name)).sort();
const blobs = async () => (await readdir(join(root, "blobs"))).sort();

/** Writes a blob as Ollama does and returns its descriptor. */
async function blob(mediaType: string, content: string | Buffer) {
  const bytes = Buffer.from(content as Buffer);
  const hex = createHash("sha256").update(bytes).digest("hex");
  await mkdir(join(root, "blobs"), { recursive: true });
  await writeFile(join(root, "blobs", `sha256-${hex}`), bytes);
  return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
}

async function manifestFile(path: string, content: string) {
  const full = join(root, "manifests", path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, content);
}

const kind = (type: string) => `application/vnd.ollama.image.${type}`;

async function ollamaModel(path: string, system = "Be brief.") {
  const weights = await blob(kind("model"), ggufBytes(tinyModel()));
  const layers = [
    weights,
    await blob(kind("template"), "{{ .System }} {{ range .Tools }}{{ . }}{{ end }}{{ .Prompt }}"),
    await blob(kind("system"), system),
    await blob(kind("params"), '{"stop":["</s>"],"temperature":0.5}'),
    await blob(kind("messages"), '[{"role":"user","content":"hi"}]'),
    await blob(kind("license"), "MIT"),
  ];
  const config = await blob(
    "application/vnd.docker.container.image.v1+json",
    '{"model_format":"gguf","model_family":"llama","model_families":["llama"],"model_type":"224","file_type":"F32"}',
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.docker.distribution.manifest.v2+json",
    config,
    layers,
  };
  await manifestFile(path, JSON.stringify(manifest));
  return { weights, layers, config };
}

describe("a store written by Ollama", () => {
  test("is read correctly", async () => {
    const { weights, layers, config } = await ollamaModel("registry.ollama.ai/library/tiny/latest");
    const model = await store.require(named("tiny"));
    expect(model).toMatchObject({
      system: "Be brief.",
      params: { stop: ["</s>"], temperature: 0.5 },
      messages: [{ role: "user", content: "hi" }],
      licenses: ["MIT"],
      modelPaths: [join(root, "blobs", weights.digest.replace(":", "-"))],
    });
    expect(model.sizeBytes).toBe([...layers, config].reduce((sum, { size }) => sum + size, 0));
    const bytes = await readFile(join(root, "manifests/registry.ollama.ai/library/tiny/latest"));
    expect(model.digest).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(await modelDetails(store, model)).toEqual({
      parent_model: "",
      format: "gguf",
      family: "llama",
      families: ["llama"],
      parameter_size: "224",
      quantization_level: "F32",
      context_length: 64,
      embedding_length: 32,
    });
    expect(await modelPurpose(store, model)).toBe("completion");
  });

  test("keeps its manifests byte for byte if they are rewritten", async () => {
    const text = await ollamaModel("h.example/ns/tiny/v1").then(() =>
      readFile(join(root, "manifests/h.example/ns/tiny/v1"), "utf8"),
    );
    expect(printManifest(parseManifest(Buffer.from(text))).toString()).toBe(`${text}\n`);
  });

  test.skipIf(process.platform === "win32")(
    "ignores what is not a regular file among its manifests",
    async () => {
      await ollamaModel("registry.ollama.ai/library/tiny/latest");
      const folder = join(root, "manifests/registry.ollama.ai/library/tiny");
      execFileSync("sh", ["-c", `mkfifo "$0"`, join(folder, "pipe")]);
      await mkdir(join(folder, "folder"));
      const socket = createServer().listen(join(folder, "socket"));
      await once(socket, "listening");
      try {
        expect(await names()).toEqual(["tiny:latest"]);
        await store.copy(named("tiny"), named("tiny:pipe2"));
        await (await store.remove(named("tiny")))?.freeBlobs();
        expect(await names()).toEqual(["tiny:pipe2"]);
        expect(await store.find(named("tiny:pipe"))).toBeNull();
      } finally {
        socket.close();
      }
    },
  );

  test("finds names ignoring case and keeps their spelling", async () => {
    await ollamaModel("Host.Example/Ns/Tiny/V1");
    expect(displayModelName((await store.require(named("host.example/ns/TINY:v1"))).name)).toBe(
      "Host.Example/Ns/Tiny:V1",
    );
    await store.copy(named("host.example/ns/tiny:v1"), named("HOST.example/ns/TINY:other"));
    expect(await names()).toEqual(["Host.Example/Ns/Tiny:V1", "Host.Example/Ns/Tiny:other"]);
  });
});

describe("a damaged store", () => {
  test.each([
    ["an empty manifest", ""],
    ["invalid JSON", "{"],
    ["no layers", '{"schemaVersion":2}'],
    [
      "a digest with a path out of the folder",
      '{"schemaVersion":2,"config":{"mediaType":"x","digest":"../../etc/passwd","size":1}}',
    ],
    [
      "a negative size",
      `{"schemaVersion":2,"config":{"mediaType":"x","digest":"sha256:${"0".repeat(64)}","size":-1}}`,
    ],
    [
      "a missing blob",
      `{"schemaVersion":2,"config":{"mediaType":"x","digest":"sha256:${"0".repeat(64)}","size":1},"layers":[]}`,
    ],
  ])("with %s lists the other models and names the broken one", async (_, text) => {
    await ollamaModel("registry.ollama.ai/library/good/latest");
    await manifestFile("registry.ollama.ai/library/bad/latest", text);
    const { models, broken } = await store.list();
    expect(models.map(({ name }) => name.model)).toEqual(["good"]);
    expect(broken.map(({ name }) => name.model)).toEqual(["bad"]);
    expect(broken[0]?.error.message).not.toContain(root);
    await expect(store.require(named("bad"))).rejects.toBeInstanceOf(LocallmError);
  });

  test("keeps blobs whose digests occur in an unreadable manifest", async () => {
    const { weights } = await ollamaModel("registry.ollama.ai/library/good/latest");
    await manifestFile("registry.ollama.ai/library/bad/latest", `{"layers":[{"digest":"${weights.digest}"`);
    await (await store.remove(named("good")))?.freeBlobs();
    expect(await blobs()).toEqual([weights.digest.replace(":", "-")]);
  });

  test("allows removing the broken model", async () => {
    await manifestFile("registry.ollama.ai/library/bad/latest", "");
    expect(await store.remove(named("bad"))).not.toBeNull();
    expect((await store.list()).broken).toEqual([]);
  });
});

describe("deleting", () => {
  test("removes blobs that only this model used, and empty folders", async () => {
    const first = await ollamaModel("registry.ollama.ai/library/a/latest", "first");
    await ollamaModel("registry.ollama.ai/library/b/latest", "second");
    const before = await blobs();
    const removed = await store.remove(named("a"));
    expect(await names()).toEqual(["b:latest"]);
    expect(await blobs()).toEqual(before);
    await removed?.freeBlobs();
    const own = first.layers[2]?.digest.replace(":", "-");
    expect(await blobs()).toEqual(before.filter((one) => one !== own));
    await (await store.remove(named("b")))?.freeBlobs();
    expect(await blobs()).toEqual([]);
    expect(await readdir(join(root, "manifests"))).toEqual([]);
  });

  test("returns null for an unknown model", async () => {
    expect(await store.remove(named("a"))).toBeNull();
  });

  test("keeps a blob that a copy made in the meantime uses", async () => {
    const { layers } = await ollamaModel("registry.ollama.ai/library/a/latest");
    const copied = store.copy(named("a"), named("b"));
    const removed = await store.remove(named("a"));
    await copied;
    await removed?.freeBlobs();
    expect(await names()).toEqual(["b:latest"]);
    expect(await store.blobs.size(parseDigest(layers[0]?.digest) ?? expect.unreachable())).toBe(
      layers[0]?.size,
    );
  });
});

describe("writing", () => {
  test("produces names, manifests and blobs that Ollama can read", async () => {
    const weights = await store.blobs.writeBytes(ggufBytes(tinyModel()));
    await writeWeightsModel(store, named("Mine/tiny:v2"), [weights]);
    const text = await readFile(join(root, "manifests/registry.ollama.ai/Mine/tiny/v2"), "utf8");
    const manifest = JSON.parse(text);
    expect(manifest).toEqual({
      schemaVersion: 2,
      mediaType: "application/vnd.docker.distribution.manifest.v2+json",
      config: {
        mediaType: "application/vnd.docker.container.image.v1+json",
        digest: manifest.config.digest,
        size: manifest.config.size,
      },
      layers: [{ mediaType: kind("model"), digest: weights.digest, size: weights.sizeBytes }],
    });
    const config = await readFile(join(root, "blobs", manifest.config.digest.replace(":", "-")));
    expect(config.length).toBe(manifest.config.size);
    expect(JSON.parse(config.toString())).toEqual({
      model_format: "gguf",
      model_family: "llama",
      model_families: ["llama"],
      model_type: "224",
      file_type: "F32",
      context_length: 64,
      embedding_length: 32,
      architecture: "amd64",
      os: "linux",
      rootfs: { type: "layers", diff_ids: [weights.digest] },
    });
    for (const file of await blobs()) {
      const hash = createHash("sha256").update(await readFile(join(root, "blobs", file)));
      expect(file).toBe(`sha256-${hash.digest("hex")}`);
    }
    expect(await readdir(join(root, "partial"))).toEqual([]);
  });

  test.each([
    ["linux", "localhost:5000/library/nul.b/v1."],
    ["win32", "localhost%3A5000/library/%6Eul.b/v1%2E"],
  ] as const)("spells names that Windows forbids as file names for %s: %s", async (platform, path) => {
    store = new Store(root, platform);
    const weights = await store.blobs.writeBytes(ggufBytes(tinyModel()));
    await writeWeightsModel(store, named("localhost:5000/library/nul.b:v1."), [weights]);
    expect(await readdir(join(root, "manifests"), { recursive: true })).toContain(path);
    store = new Store(root, platform);
    expect(await names()).toEqual(["localhost:5000/library/nul.b:v1."]);
    const typed = named("LocalHost:5000/library/NUL.b:V1.");
    await store.copy(typed, named("plain"));
    await (await store.remove(typed))?.freeBlobs();
    expect(await names()).toEqual(["plain:latest"]);
    await (await store.remove(named("plain")))?.freeBlobs();
    expect(await blobs()).toEqual([]);
  });

  test("rejects a manifest with missing blobs", async () => {
    const { layers } = await ollamaModel("registry.ollama.ai/library/a/latest");
    const manifest = (await store.require(named("a"))).manifest;
    await rm(join(root, "blobs", String(layers[2]?.digest.replace(":", "-"))));
    await expect(store.write(named("b"), manifest)).rejects.toMatchObject({ code: "blob_missing" });
    expect(await store.find(named("b"))).toBeNull();
  });

  test("sees changes made by another process", async () => {
    await ollamaModel("registry.ollama.ai/library/a/latest", "one");
    expect((await store.require(named("a"))).system).toBe("one");
    await ollamaModel("registry.ollama.ai/library/a/latest", "another one");
    expect((await store.require(named("a"))).system).toBe("another one");
  });

  test("rejects a stream whose content does not match its digest", async () => {
    async function* source() {
      yield Buffer.from("abc");
    }
    const expected = parseDigest(`sha256:${"0".repeat(64)}`) ?? expect.unreachable();
    await expect(store.blobs.writeStream(source(), { expected })).rejects.toMatchObject({
      code: "digest_mismatch",
    });
    expect(await readdir(join(root, "partial"))).toEqual([]);
    expect(await store.blobs.list()).toEqual([]);
  });
});

describe("a list that was read long after the last change", () => {
  const settled = () => new Store(root, process.platform, () => Date.now() + 3_600_000);
  const shown = ({ models }: ModelList) => models.map(({ name }) => displayModelName(name)).sort();

  test("is reused until another program changes a folder, a manifest or weights", async () => {
    await ollamaModel("registry.ollama.ai/library/first/1");
    const cached = settled();
    const first = await cached.list();
    expect(await cached.list()).toBe(first);
    expect(await cached.find(named("first:1"))).toBe(first.models[0]);
    expect(await cached.find(named("FIRST:1"))).toBe(first.models[0]);

    const changes: [change: () => Promise<unknown>, expected: string[]][] = [
      [() => ollamaModel("registry.ollama.ai/library/first/2"), ["first:1", "first:2"]],
      [() => ollamaModel("example.org/me/third/3"), ["example.org/me/third:3", "first:1", "first:2"]],
      [
        () => ollamaModel("registry.ollama.ai/library/first/2", "Be long."),
        ["example.org/me/third:3", "first:1", "first:2"],
      ],
      [() => rm(join(root, "manifests/example.org"), { recursive: true }), ["first:1", "first:2"]],
      [() => rm(first.models[0]!.modelPaths[0]!), ["first:1", "first:2"]],
      [() => rm(join(root, "manifests"), { recursive: true }), []],
    ];
    let last = first;
    for (const [change, expected] of changes) {
      await change();
      const changed = await cached.list();
      expect(changed).not.toBe(last);
      expect(shown(changed)).toEqual(expected);
      expect(await cached.list()).toBe(changed);
      last = changed;
    }
  });

  test("is not reused if something changed shortly before it was read", async () => {
    await ollamaModel("registry.ollama.ai/library/first/1");
    expect(await store.list()).not.toBe(await store.list());
  });

  test("is not reused while a model is damaged", async () => {
    const { config } = await ollamaModel("registry.ollama.ai/library/first/1");
    const path = join(root, "blobs", config.digest.replace(":", "-"));
    const content = await readFile(path);
    await rm(path);
    const cached = settled();
    expect((await cached.list()).broken).toHaveLength(1);
    await writeFile(path, content);
    expect(shown(await cached.list())).toEqual(["first:1"]);
  });

  test("is not reused if the store is too large for synchronous checks", async () => {
    await ollamaModel("registry.ollama.ai/library/first/1");
    const content = await readFile(join(root, "manifests/registry.ollama.ai/library/first/1"), "utf8");
    for (let tag = 2; tag < 260; tag++)
      await manifestFile(`registry.ollama.ai/library/first/${tag}`, content);
    const cached = settled();
    expect(await cached.list()).not.toBe(await cached.list());
  });
});
