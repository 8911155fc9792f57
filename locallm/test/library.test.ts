import { createHash, randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lines, startServerHere, type TestServer, until } from "./server-process.ts";
import { starterName, starterStore } from "./starter-model.ts";
import { f32, ggufBytes, loadableModel, text, tinyModel, u32, withEntry } from "./tiny-gguf.ts";

let server: TestServer;
let models = "";
beforeAll(async () => {
  models = await mkdtemp(join(tmpdir(), "locallm-library-"));
  server = await startServerHere({ models });
});
afterAll(async () => {
  await server?.stop();
  await rm(models, { recursive: true, force: true });
});

const digestOf = (bytes: string | Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const tiny = ggufBytes(tinyModel());

async function upload(bytes: Buffer, to = server): Promise<string> {
  const digest = digestOf(bytes);
  const response = await to.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(bytes) });
  expect([200, 201]).toContain(response.status);
  return digest;
}

async function create(body: Record<string, unknown>, to = server): Promise<void> {
  expect(await to.ask("/api/create", { stream: false, ...body })).toEqual({ status: "success" });
}

async function remove(model: string, to = server): Promise<Response> {
  return await to.post("/api/delete", { model }, { method: "DELETE" });
}

async function tags(to = server): Promise<Record<string, unknown>[]> {
  return (await to.ask<{ models: Record<string, unknown>[] }>("/api/tags")).models;
}

async function answer(response: Response): Promise<{ status: number; body: unknown }> {
  const read = await response.text();
  return { status: response.status, body: read === "" ? "" : JSON.parse(read.split("\n")[0] ?? "") };
}

describe("an empty store", () => {
  test("lists nothing", async () => {
    expect(await server.ask("/api/tags")).toEqual({ models: [] });
  });
});

describe("blobs", () => {
  const path = (digest: string) => `${server.url}/api/blobs/${digest}`;

  test("can be uploaded once, uploaded again and asked for their size", async () => {
    const bytes = randomBytes(100_000);
    const digest = digestOf(bytes);
    expect((await fetch(path(digest), { method: "HEAD" })).status).toBe(404);
    expect((await fetch(path(digest), { method: "POST", body: new Uint8Array(bytes) })).status).toBe(201);
    expect((await fetch(path(digest), { method: "POST", body: new Uint8Array(bytes) })).status).toBe(200);
    const head = await fetch(path(digest), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "100000"]);
    expect(await readFile(join(models, "blobs", digest.replace(":", "-")))).toEqual(bytes);
  });

  test("may be larger than other request bodies", async () => {
    const chunk = new Uint8Array(randomBytes(1024 * 1024));
    const hash = createHash("sha256");
    for (let n = 0; n < 40; n++) hash.update(chunk);
    const digest = `sha256:${hash.digest("hex")}`;
    const body = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 40; n++) controller.enqueue(chunk);
        controller.close();
      },
    });
    const response = await fetch(path(digest), { method: "POST", body, duplex: "half" } as RequestInit);
    expect(response.status).toBe(201);
    await rm(join(models, "blobs", digest.replace(":", "-")));
  });

  test("that do not match their digest are rejected and leave no files", async () => {
    const wanted = `sha256:${"0".repeat(64)}`;
    const response = await fetch(path(wanted), { method: "POST", body: "xyz" });
    expect(await answer(response)).toEqual({
      status: 400,
      body: { error: `digest mismatch, expected "${wanted}", got "${digestOf("xyz")}"` },
    });
    expect((await fetch(path(wanted), { method: "HEAD" })).status).toBe(404);
    expect(await readdir(join(models, "partial"))).toEqual([]);
  });

  test.each([
    "nope",
    "sha256:",
    "sha256:0",
    `sha256:${"0".repeat(63)}G`,
    `sha256:${"A".repeat(64)}`,
    `sha512:${"0".repeat(64)}`,
    `sha256:${"0".repeat(65)}`,
    `sha256:..%2f..%2f${"0".repeat(58)}`,
    "..%2f..%2fetc%2fpasswd",
    `sha256:${"0".repeat(60)}%00abc`,
    `sha256:${"0".repeat(63)}%D9%A0`,
  ])("with the digest %s are rejected", async (digest) => {
    expect((await fetch(path(digest), { method: "HEAD" })).status).toBe(400);
    expect(await answer(await fetch(path(digest), { method: "POST", body: "xyz" }))).toEqual({
      status: 400,
      body: { error: "invalid digest format" },
    });
  });

  test("whose upload is interrupted leave no files", async () => {
    const digest = `sha256:${"1".repeat(64)}`;
    const gone = new AbortController();
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    const upload = fetch(path(digest), {
      method: "POST",
      body,
      duplex: "half",
      signal: gone.signal,
    } as RequestInit);
    await until("the upload began", async () => (await readdir(join(models, "partial"))).length > 0);
    gone.abort();
    await expect(upload).rejects.toThrow();
    await until("its file is gone", async () => (await readdir(join(models, "partial"))).length === 0);
  });
});

describe("create", () => {
  test("creates a model from an uploaded file with all additions that a request allows", async () => {
    const digest = await upload(tiny);
    const response = await server.post("/api/create", {
      model: "Mine/tiny:v1",
      files: { "tiny.gguf": digest },
      template: "{{ .System }} {{ .Prompt }}",
      system: "Be brief.",
      license: ["MIT", "and more"],
      parameters: { temperature: 0.5, stop: ["</s>", "x"], num_ctx: 32 },
      messages: [{ role: "user", content: "hi" }],
    });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const statuses = [];
    for await (const line of lines(response)) statuses.push(line["status"]);
    expect(statuses[0]).toBe(`using existing layer ${digest}`);
    expect(
      statuses
        .slice(1, -2)
        .every((status) => /^creating new layer sha256:[0-9a-f]{64}$/.test(String(status))),
    ).toBe(true);
    expect(statuses.slice(-2)).toEqual(["writing manifest", "success"]);
    expect((await tags())[0]).toEqual({
      name: "Mine/tiny:v1",
      model: "Mine/tiny:v1",
      modified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      size: expect.any(Number),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      details: {
        parent_model: "",
        format: "gguf",
        family: "llama",
        families: ["llama"],
        parameter_size: "224",
        quantization_level: "F32",
        context_length: 64,
        embedding_length: 32,
      },
      capabilities: ["completion"],
    });
  });

  test("creates a model from another one and changes only what the request names", async () => {
    await create({
      model: "child",
      from: "mine/TINY:v1",
      system: "Be long.",
      parameters: { temperature: 1 },
    });
    const shown = await server.ask("/api/show", { model: "child" });
    expect(shown).toMatchObject({
      system: "Be long.",
      template: "{{ .System }} {{ .Prompt }}",
      parameters: [
        "num_ctx                        32",
        'stop                           "</s>"',
        'stop                           "x"',
        "temperature                    1",
      ].join("\n"),
      license: "MIT\nand more",
      messages: [{ role: "user", content: "hi" }],
      details: { parent_model: "Mine/tiny:v1" },
    });
  });

  const bad = `sha256:${"1".repeat(64)}`;
  test.each<[string, Record<string, unknown>, number, string | RegExp]>([
    ["no name", { from: "mine/tiny:v1" }, 400, "model is required"],
    ["a bad name", { model: "bad name!", from: "mine/tiny:v1" }, 400, "invalid model name"],
    ["neither from nor files", { model: "m" }, 400, "neither 'from' or 'files' was specified"],
    ["an unknown model", { model: "m", from: "nowhere" }, 404, "model 'nowhere' not found"],
    ["a bad name in from", { model: "m", from: "a b" }, 400, "invalid model name"],
    [
      "a missing blob",
      { model: "m", files: { "a.gguf": bad } },
      400,
      new RegExp(`^blob ${bad} not found; upload it`),
    ],
    [
      "a malformed digest",
      { model: "m", files: { "a.gguf": "sha256:../../x" } },
      400,
      "invalid digest format",
    ],
    [
      "both from and files",
      { model: "m", from: "mine/tiny:v1", files: { a: bad } },
      400,
      "files cannot be combined with from",
    ],
    [
      "quantize",
      { model: "m", from: "mine/tiny:v1", quantize: "q4_00" },
      400,
      /^quantize must be one of f32, f16, q4_0, .*mxfp4/,
    ],
    [
      "safetensors",
      { model: "m", files: { "model.safetensors": bad } },
      400,
      /^safetensors is not supported yet/,
    ],
    [
      "an unknown parameter",
      { model: "m", from: "mine/tiny:v1", parameters: { tempratur: 1 } },
      400,
      'unknown parameter "tempratur"',
    ],
    [
      "a parameter of the wrong type",
      { model: "m", from: "mine/tiny:v1", parameters: { num_ctx: "many" } },
      400,
      /num_ctx.*integer/,
    ],
    [
      "a parameter out of range",
      { model: "m", from: "mine/tiny:v1", parameters: { temperature: 9 } },
      400,
      /temperature/,
    ],
    [
      "an unknown role",
      { model: "m", from: "mine/tiny:v1", messages: [{ role: "wizard", content: "" }] },
      400,
      "messages[0].role must be one of system, user, assistant",
    ],
    [
      "an invalid template",
      { model: "m", from: "mine/tiny:v1", template: "{{ .Prompt" },
      400,
      /^template error: /,
    ],
    [
      "a template of the wrong type",
      { model: "m", from: "mine/tiny:v1", template: 5 },
      400,
      /^template must be a string/,
    ],
    [
      "parameters of the wrong type",
      { model: "m", from: "mine/tiny:v1", parameters: [] },
      400,
      /^parameters must be an object/,
    ],
    ...["../a.gguf", "/a.gguf", "C:a.gguf", "a\\b.gguf", "a/../b.gguf", ""].map(
      (path): [string, Record<string, unknown>, number, string] => [
        `the file name "${path}"`,
        { model: "m", files: { [path]: bad } },
        400,
        "files must use relative paths without .. as file names",
      ],
    ),
  ])("rejects %s", async (_, body, status, error) => {
    const got = await answer(await server.post("/api/create", body));
    expect(got.status).toBe(status);
    expect((got.body as { error: string }).error).toMatch(error);
    expect(await answer(await server.post("/api/create", { ...body, stream: false }))).toEqual(got);
    expect((await tags()).map(({ name }) => name)).toEqual(["child:latest", "Mine/tiny:v1"]);
  });

  test.each([
    ["text", Buffer.from("hello world, this is no model")],
    ["nothing", Buffer.alloc(0)],
    ["a header that lies", ggufBytes(tinyModel({ tensorCount: 2n ** 40n }))],
    ["tensors past the end", ggufBytes(tinyModel()).subarray(0, -64)],
    ["layers of zero", ggufBytes(withEntry(tinyModel(), "llama.block_count", u32(0)))],
  ])("rejects a file that is %s with the broken rule and no path", async (_, bytes) => {
    const digest = await upload(bytes);
    const got = await answer(await server.post("/api/create", { model: "m", files: { "a.gguf": digest } }));
    expect(got.status).toBe(400);
    expect((got.body as { error: string }).error).toMatch(/^invalid GGUF: /);
    expect(JSON.stringify(got.body)).not.toContain(models);
  });

  test("rejects an adapter as a model, a model as an adapter, and an adapter for another architecture", async () => {
    const adapter = (kind: string) =>
      ggufBytes({
        metadata: [
          ["general.architecture", text(kind)],
          ["general.type", text("adapter")],
          ["adapter.type", text("lora")],
        ],
        tensors: [{ name: "blk.0.attn_q.weight.lora_a", shape: [32, 2] }],
      });
    const files = { a: await upload(adapter("llama")) };
    expect(await answer(await server.post("/api/create", { model: "m", files }))).toMatchObject({
      status: 400,
      body: { error: "files contains an adapter; put it in adapters" },
    });
    const asAdapter = { a: await upload(tiny) };
    expect(
      await answer(await server.post("/api/create", { model: "m", from: "child", adapters: asAdapter })),
    ).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("adapters must be a LoRA adapter") },
    });
    const other = { a: await upload(adapter("qwen2")) };
    expect(
      await answer(await server.post("/api/create", { model: "m", from: "child", adapters: other })),
    ).toMatchObject({
      status: 400,
      body: { error: "adapters is for architecture qwen2, but the model is llama" },
    });
  });
});

describe("show", () => {
  test("returns every field that Ollama returns", async () => {
    const shown = await server.ask("/api/show", { model: "mine/tiny:v1" });
    expect(Object.keys(shown)).toEqual([
      "license",
      "modelfile",
      "parameters",
      "template",
      "system",
      "details",
      "messages",
      "model_info",
      "tensors",
      "capabilities",
      "modified_at",
    ]);
    expect(shown["model_info"]).toMatchObject({
      "general.architecture": "llama",
      "general.parameter_count": 224,
      "llama.context_length": 64,
      "llama.attention.layer_norm_rms_epsilon": 1e-5,
      "tokenizer.ggml.tokens": null,
    });
    expect(shown["model_info"]).not.toHaveProperty("tokenizer.chat_template");
    expect(shown["tensors"]).toEqual([
      { name: "token_embd.weight", type: "F32", shape: [32, 6] },
      { name: "output_norm.weight", type: "F32", shape: [32] },
    ]);
  });

  test("returns long arrays with verbose", async () => {
    const shown = await server.ask<{ model_info: Record<string, unknown> }>("/api/show", {
      model: "child",
      verbose: true,
    });
    expect(shown.model_info["tokenizer.ggml.tokens"]).toEqual(["<s>", "</s>", "a", "b", "é", "f"]);
  });

  test("returns the template in the weights if the model has none", async () => {
    await create({ model: "plain", files: { "tiny.gguf": await upload(tiny) } });
    const shown = await server.ask("/api/show", { name: "plain" });
    expect(shown["template"]).toBe("{% for m in messages %}{{ m.content }}{% endfor %}");
    expect(shown["modelfile"]).not.toContain("TEMPLATE");
  });

  test.each([
    [{}, 400, "model is required"],
    [{ model: "" }, 400, "model is required"],
    [{ model: "bad name!" }, 400, "invalid model name"],
    [{ model: "a@sha256:b" }, 400, "invalid model name"],
    [{ model: "../../etc/passwd" }, 400, "invalid model name"],
    [{ model: "no-such-model" }, 404, "model 'no-such-model' not found"],
    [{ model: 5 }, 400, "model must be a string"],
    [{ model: "child", verbose: "yes" }, 400, "verbose must be a boolean"],
  ])("of %j answers %d", async (body, status, error) => {
    expect(await answer(await server.post("/api/show", body))).toEqual({ status, body: { error } });
  });
});

describe("copy", () => {
  const copy = async (source: unknown, destination: unknown) =>
    await answer(await server.post("/api/copy", { source, destination }));

  test("creates a second name for the same files", async () => {
    expect(await copy("child", "other:two")).toEqual({ status: 200, body: "" });
    const [first, second] = ["child:latest", "other:two"].map(async (name) =>
      (await tags()).find((model) => model["name"] === name),
    );
    expect((await first)?.["digest"]).toBe((await second)?.["digest"]);
  });

  test("to its own name changes nothing", async () => {
    const before = await tags();
    expect(await copy("child", "CHILD")).toEqual({ status: 200, body: "" });
    expect(await tags()).toEqual(before);
  });

  test.each([
    ["no-such-model", "x", 404, "model 'no-such-model' not found"],
    ["child", "bad name!", 400, 'destination "bad name!" is invalid'],
    ["child", "", 400, 'destination "" is invalid'],
    ["bad name!", "x", 400, "invalid model name"],
    ["child", undefined, 400, "destination is required"],
    [5, "x", 400, "source must be a string"],
  ])("of %j to %j answers %d", async (source, destination, status, error) => {
    expect(await copy(source, destination)).toEqual({ status, body: { error } });
  });
});

describe("delete", () => {
  test("removes the name and the files that no other model uses", async () => {
    await create({ model: "gone", from: "child", system: "A system text of its own." });
    const own = join(models, "blobs", digestOf("A system text of its own.").replace(":", "-"));
    expect(await readFile(own, "utf8")).toBe("A system text of its own.");
    expect(await answer(await remove("GONE:latest"))).toEqual({ status: 200, body: "" });
    await expect(readFile(own)).rejects.toThrow("ENOENT");
    expect((await server.post("/api/show", { model: "child" })).status).toBe(200);
    expect(await answer(await remove("gone"))).toEqual({
      status: 404,
      body: { error: "model 'gone' not found" },
    });
  });

  test.each([
    [{}, 400, "model is required"],
    [{ model: "bad name!" }, 400, "invalid model name"],
  ])("of %j answers %d", async (body, status, error) => {
    const response = await server.post("/api/delete", body, { method: "DELETE" });
    expect(await answer(response)).toEqual({ status, body: { error } });
  });
});

describe("a damaged manifest", () => {
  test("does not hide other models, gets a clear error, and can be deleted", async () => {
    const folder = join(models, "manifests/registry.ollama.ai/library/damaged");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "latest"), "");
    expect((await tags()).length).toBeGreaterThan(2);
    const shown = await answer(await server.post("/api/show", { model: "damaged" }));
    expect(shown).toEqual({
      status: 500,
      body: { error: "the model's manifest is damaged: it is not JSON" },
    });
    expect((await remove("damaged")).status).toBe(200);
  });
});

test("a LoRA adapter changes the output of its model only", async () => {
  const tensors = ["q", "v"].flatMap((part, index) => [
    { name: `blk.0.attn_${part}.weight.lora_a`, shape: [32, 4], data: noise(32 * 4, index + 1) },
    { name: `blk.0.attn_${part}.weight.lora_b`, shape: [4, 32], data: noise(4 * 32, index + 9) },
  ]);
  const adapter = ggufBytes({
    metadata: [
      ["general.architecture", text("llama")],
      ["general.type", text("adapter")],
      ["adapter.type", text("lora")],
      ["adapter.lora.alpha", f32(4)],
    ],
    tensors,
  });
  const files = { "base.gguf": await upload(ggufBytes(loadableModel())) };
  await create({ model: "base", files, parameters: { num_thread: 1 } });
  await create({ model: "tuned", from: "base", adapters: { "lora.gguf": await upload(adapter) } });
  const say = async (model: string) => {
    const options = { temperature: 0, num_predict: 12, num_ctx: 128 };
    return (await server.ask("/api/generate", { model, prompt: "hello", stream: false, options }))["context"];
  };
  const plain = await say("base");
  expect(await say("tuned")).not.toEqual(plain);
  expect(await say("base")).toEqual(plain);
  expect((await server.ask("/api/show", { model: "tuned" }))["modelfile"]).toContain("\nADAPTER ");

  // The file may have changed since the model was created, so its header is checked again before each load.
  await writeFile(join(models, "blobs", digestOf(adapter).replace(":", "-")), adapter.subarray(0, -64));
  const changed = await answer(await server.post("/api/generate", { model: "tuned", prompt: "hello" }));
  expect(changed).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^invalid GGUF: /) } });
  for (const model of ["tuned", "base"]) expect((await remove(model)).status).toBe(200);
});

test("a model that Ollama adds to the folder can be used, and damaged weights do not load", async () => {
  const weights = ggufBytes(loadableModel());
  const layer = async (mediaType: string, content: string | Buffer) => {
    const digest = digestOf(content);
    await writeFile(join(models, "blobs", digest.replace(":", "-")), content);
    return { mediaType, digest, size: content.length };
  };
  const kind = (type: string) => `application/vnd.ollama.image.${type}`;
  const config =
    '{"model_format":"gguf","model_family":"llama","model_families":["llama"],"file_type":"F32"}';
  const layers = [
    await layer(kind("model"), weights),
    await layer(kind("template"), "{{ .Prompt }}"),
    await layer(kind("params"), '{"num_ctx":128,"num_predict":3}'),
  ];
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.docker.distribution.manifest.v2+json",
    config: await layer("application/vnd.docker.container.image.v1+json", config),
    layers,
  };
  const folder = join(models, "manifests/registry.ollama.ai/library/theirs");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "latest"), JSON.stringify(manifest));
  const ask = async () =>
    answer(await server.post("/api/generate", { model: "theirs", prompt: "hello", stream: false }));
  expect(await ask()).toMatchObject({ status: 200, body: { done: true, eval_count: 3 } });

  const path = join(models, "blobs", String(layers[0]?.digest.replace(":", "-")));
  await writeFile(path, weights.subarray(0, -64));
  expect(await ask()).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^invalid GGUF: tensor .* ends at byte/) },
  });
  expect((await remove("theirs")).status).toBe(200);
});

/** Numbers between -1 and 1 that are the same in every run. */
function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length * 4);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (state * 48_271) % 0x7fffffff;
    bytes.writeFloatLE((state / 0x7fffffff - 0.5) * 2, at * 4);
  }
  return bytes;
}

const starter = await starterStore();
describe.skipIf(starter === null)("with the starter model", () => {
  let own: TestServer;
  let root = "";
  // One thread, as `ModelStore.add` says.
  const options = { num_thread: 1, temperature: 0 };
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "locallm-starter-"));
    await cp(join(starter ?? "", "manifests"), join(root, "manifests"), { recursive: true });
    await mkdir(join(root, "blobs"));
    for (const name of await readdir(join(starter ?? "", "blobs"))) {
      await symlink(join(starter ?? "", "blobs", name), join(root, "blobs", name));
    }
    own = await startServerHere({ models: root });
  });
  afterAll(async () => {
    await own?.stop();
    await rm(root, { recursive: true, force: true });
  });

  test("it answers a simple question with the right word", async () => {
    const { message } = (await own.ask("/api/chat", {
      model: starterName,
      messages: [{ role: "user", content: "What is the capital of France?" }],
      stream: false,
      options: { ...options, num_predict: 12 },
    })) as { message: { content: string } };
    expect(message.content).toContain("Paris");
  });

  test("a model created from it is listed and used like any other", async () => {
    await create(
      { model: "pirate", from: starterName, system: "You are a pirate.", parameters: { num_predict: 3 } },
      own,
    );
    expect((await tags(own)).map(({ name }) => name).toSorted()).toEqual(["pirate:latest", starterName]);
    const answered = await own.ask("/api/chat", {
      model: "pirate",
      messages: [{ role: "user", content: "hi" }],
      stream: false,
      options,
    });
    expect(answered).toMatchObject({ done: true, eval_count: 3 });
  });

  test("deleting a model lets its running answer finish", async () => {
    await create({ model: "busy", from: starterName }, own);
    await remove("pirate", own);
    const stream = lines(
      await own.post("/api/generate", {
        model: "busy",
        prompt: "Once upon a time",
        options: { ...options, num_predict: 60, num_ctx: 256 },
      }),
    );
    await stream.next();
    // Both names use the same weights, so the weights are deleted with the second name.
    await remove("busy", own);
    const removed = remove(starterName, own);
    let last: Record<string, unknown> = {};
    for await (const line of stream) last = line;
    expect(last).toMatchObject({ done: true });
    expect((await removed).status).toBe(200);
    expect(await own.ask("/api/ps")).toEqual({ models: [] });
    expect(await readdir(join(root, "blobs"))).toEqual([]);
    expect((await own.post("/api/generate", { model: "busy", prompt: "x" })).status).toBe(404);
  });
});
