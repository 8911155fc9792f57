import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, type ServerProcess, startServer } from "./server-process.ts";

let folder: string;
let front: ServerProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-remote-models-"));
  front = await startServer({ env: environment() });
});
afterAll(async () => {
  await front?.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({ LOCALLM_CREDENTIALS: join(folder, "credentials.json") });

/** Runs a command of the owner of the front server's machine. */
async function cli(args: readonly string[], input?: string) {
  const { host } = new URL(front.url);
  const started = launch(args, { ...environment(), LOCALLM_HOST: host }, input);
  const { code } = await started.exited;
  return { code, stdout: started.stdout(), stderr: started.stderr() };
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
    expect(await createFrom("again", shown.modelfile)).toMatchObject({ code: 0 });
    expect(await cli(["cp", "big", "copy"])).toMatchObject({ code: 0 });
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
    expect(await cli(["rm", "again", "copy", "child"])).toMatchObject({ code: 0 });
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
    expect(await cli(["remote", "forbid", "ollama.example:443"])).toMatchObject({ code: 0 });
    expect((await cli(["remote", "hosts"])).stdout).toBe(
      "10.0.0.7:8000\n[fd00::7]:8000\ngpu1.example:8000\n",
    );
  });

  test("has its key in the credentials file, and nowhere else", async () => {
    const stored = await cli(["remote", "key", "gpu", "--host", "https://gpu1.example:8000/v1"], "s3cret\n");
    expect(stored).toEqual({ code: 0, stdout: "Stored the key gpu for gpu1.example:8000.\n", stderr: "" });
    expect(JSON.parse(await readFile(environment().LOCALLM_CREDENTIALS, "utf8"))).toEqual({
      "remote/gpu": { token: "s3cret", hosts: ["gpu1.example:8000"] },
    });
    expect((await cli(["remote", "key", "gpu", "--host", "gpu1.example"])).stderr).toContain(
      "must have a port",
    );
  });
});
