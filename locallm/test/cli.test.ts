import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, cp, link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../src/version.ts";
import { isPrivateAddress } from "../src/wire/address.ts";
import { command, launch, startServerHere, type TestServer } from "./server-process.ts";
import { splitGguf } from "./split-gguf.ts";
import { ggufBytes, loadableModel, text, tinyModel, withEntry } from "./tiny-gguf.ts";

let server: TestServer;
let models = "";
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-cli-"));
  models = join(folder, "models");
  await mkdir(models);
  await writeFile(join(folder, "tiny.gguf"), ggufBytes(tinyModel()));
  await mkdir(join(folder, "linked"));
  await symlink("/etc/hostname", join(folder, "linked", "secret.gguf"));
  await writeFile(join(folder, "model.safetensors"), "");
  await writeFile(join(folder, "text.gguf"), "no weights");
  execFileSync("sh", ["-c", `mkfifo '${folder}/pipe'`]);
  server = await startServerHere({ models });
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function locallm(...args: string[]) {
  return await run({ LOCALLM_HOST: server.url, LOCALLM_MODELS: models }, args);
}

function run(env: Record<string, string>, args: string[]) {
  return command(args, env);
}

/** As a user runs it: with exit code and output of a process. */
async function runProcess(env: Record<string, string>, args: string[]) {
  const started = launch(args, env);
  const { code } = await started.exited;
  return { code, out: started.stdout(), err: started.stderr() };
}

async function modelfile(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe("create", () => {
  test("creates a model from a file without copying it and prints the method", async () => {
    const file = await modelfile(
      "Modelfile",
      'FROM ./tiny.gguf\nSYSTEM """Say "hi"\nand go"""\nPARAMETER stop a\nPARAMETER stop b\nPARAMETER temperature 0.5\nPARAMETER low_vram true\nMESSAGE user hello\n',
    );
    const { code, out, err } = await locallm("create", "mine", "-f", file);
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toContain("ignoring parameter low_vram: it is obsolete");
    expect(err).toMatch(/tiny\.gguf: (reflink|hard link|copy)\n/);
    expect(err).toMatch(/\nwriting manifest\nsuccess\n$/);
  });

  test("uploads the file if the server uses another folder", async () => {
    const elsewhere = join(folder, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(folder, "other.gguf"), ggufBytes(tinyModel({ version: 2 })));
    const file = await modelfile("Uploaded", "FROM other.gguf");
    const { code, err } = await run({ LOCALLM_HOST: server.url, LOCALLM_MODELS: elsewhere }, [
      "create",
      "sent",
      "-f",
      file,
    ]);
    expect([code, err]).toEqual([0, expect.stringContaining("other.gguf: upload\n")]);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test("does not change the client's models if the server uses another folder", async () => {
    const own = join(folder, "own");
    await mkdir(own);
    const bytes = ggufBytes(withEntry(tinyModel(), "general.name", text("shared")));
    await writeFile(join(folder, "shared.gguf"), bytes);
    const file = await modelfile("Shared", "FROM ./shared.gguf");
    const local = await startServerHere({ models: own });
    try {
      const env = { LOCALLM_MODELS: own };
      expect((await run({ ...env, LOCALLM_HOST: local.url }, ["create", "mine", "-f", file])).code).toBe(0);
      const before = await readdir(join(own, "blobs"));
      const sent = await run({ ...env, LOCALLM_HOST: server.url }, ["create", "theirs", "-f", file]);
      expect([sent.code, sent.err]).toEqual([0, expect.stringContaining("shared.gguf: upload\n")]);
      expect(await readdir(join(own, "blobs"))).toEqual(before);
      expect((await run({ ...env, LOCALLM_HOST: local.url }, ["show", "mine"])).code).toBe(0);
    } finally {
      await local.stop();
    }
  });

  test("recreates the same model from its printed Modelfile", async () => {
    const printed = (await locallm("show", "--modelfile", "mine")).out;
    const file = await modelfile("Again", printed);
    expect((await locallm("create", "again", "-f", file)).code).toBe(0);
    const again = (await locallm("show", "--modelfile", "again")).out;
    expect(again.replace("# FROM again", "# FROM mine")).toBe(printed);
  });

  test.concurrent.each([
    ["no file there", null, /cannot use .*Missing: file not found/],
    ["no FROM", "SYSTEM x", /^Error: no FROM line/],
    ["a misspelt word", "FROM mine\nFORM x", /\(line 2\): command must be one of/],
    ["an unknown parameter", "FROM mine\nPARAMETER heat 1", /^Error: \(line 2\): unknown parameter "heat"/],
    [
      "a parameter of the wrong type",
      "FROM mine\nPARAMETER\tstop a\nPARAMETER num_ctx many",
      /^Error: \(line 3\): option "num_ctx" must be/,
    ],
    ["a path to nothing", "FROM ./nothing.gguf", /cannot use .*nothing\.gguf: file not found/],
    ["no GGUF file", "FROM ./text.gguf", /invalid GGUF: /],
    [
      "a folder with a link out of it",
      "FROM ./linked",
      /cannot use secret\.gguf: it is a symbolic link that leaves the folder/,
    ],
    ["safetensors", "FROM ./model.safetensors", /^Error: safetensors is not supported yet/],
    ["a pipe", "FROM ./pipe", /cannot use .*pipe: it is neither a file nor a folder/],
  ])("rejects %s with a clear error", async (what, text, error) => {
    const file = text === null ? join(folder, "Missing") : await modelfile(`With ${what}`, text);
    const { code, err } = await locallm("create", "bad", "-f", file);
    expect([code, err]).toEqual([1, expect.stringMatching(error)]);
  });

  test.concurrent.each([
    [["--draft-quantize", "q8_0"], "draft-quantize (q8_0)"],
    [["--experimental"], "experimental"],
  ])("rejects %s and names it", async (flags, what) => {
    const { code, err } = await locallm("create", "bad", ...flags);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`Error: ${what} is not supported yet; use a GGUF file`),
    ]);
  });
});

describe("a split model in local files", () => {
  test("is imported completely by pull and create, whichever file is named, or rejected if a file is missing", async () => {
    const [first, second] = splitGguf(tinyModel(), 2) as [Buffer, Buffer];
    await writeFile(join(folder, "big-00001-of-00002.gguf"), first);
    await writeFile(join(folder, "big-00002-of-00002.gguf"), second);
    await writeFile(join(folder, "lone-00001-of-00002.gguf"), first);
    const pulled = await locallm("pull", join(folder, "big-00002-of-00002.gguf"));
    expect([pulled.code, pulled.err]).toEqual([
      0,
      expect.stringMatching(/big-00001-of-00002\.gguf: [\s\S]*big-00002-of-00002\.gguf: [\s\S]*\nsuccess\n$/),
    ]);
    const file = await modelfile("Split", "FROM ./big-00001-of-00002.gguf");
    const lone = await modelfile("Lone", "FROM ./lone-00001-of-00002.gguf");
    const [created, refused, unpulled] = await Promise.all([
      locallm("create", "of-two", "-f", file),
      locallm("create", "of-one", "-f", lone),
      locallm("pull", join(folder, "lone-00001-of-00002.gguf")),
    ]);
    expect(created.code).toBe(0);
    const lacking = /it is split, and lone-00002-of-00002\.gguf is not in the same folder/;
    for (const { code, err } of [refused, unpulled])
      expect([code, err]).toEqual([1, expect.stringMatching(lacking)]);
    for (const model of ["big", "of-two"]) {
      const shown = await server.ask<{ tensors: unknown[] }>("/api/show", { model });
      expect(shown.tensors.length).toBe(tinyModel().tensors.length);
    }
  });
});

describe("the lists", () => {
  test("have Ollama's columns", async () => {
    const { code, out, err } = await runProcess({ LOCALLM_HOST: server.url }, ["list"]);
    expect([code, err]).toEqual([0, ""]);
    const [head, ...rows] = out.trim().split("\n");
    expect(head).toMatch(/^NAME +ID +SIZE +MODIFIED$/);
    expect(rows.map((row) => row.split(/ {2,}/))).toContainEqual([
      "mine:latest",
      expect.stringMatching(/^[0-9a-f]{12}$/),
      expect.stringMatching(/^\d+(\.\d)? (B|KB)$/),
      expect.stringMatching(/ ago$/),
    ]);
    expect((await locallm("ls", "SENT")).out.trim().split("\n").length).toBe(2);
    // Settings that would stop a server from starting do not affect clients.
    const env = { LOCALLM_HOST: server.url, HTTPS_PROXY: "socks5://127.0.0.1:1080", LOCALLM_KEEP_ALIVE: "x" };
    expect((await run(env, ["ps"])).out.trim()).toMatch(/^NAME +ID +SIZE +PROCESSOR +CONTEXT +UNTIL$/);
  });
});

describe("show", () => {
  test("prints a model's details or one of them", async () => {
    const { code, out } = await locallm("show", "mine");
    expect(code).toBe(0);
    expect(out).toMatch(/Model\n +architecture +llama\n +parameters +224\n +context length +64\n/);
    expect(out).toMatch(/Capabilities\n +completion\n/);
    const parts = ["--system", "--parameters", "--template", "--license", "-v"];
    const told = await Promise.all(parts.map((part) => locallm("show", part, "mine")));
    expect(told.map(({ out: text }) => text)).toEqual([
      'Say "hi"\nand go\n',
      expect.stringMatching(/^stop +"a"\nstop +"b"\ntemperature +0\.5\n$/),
      "{% for m in messages %}{{ m.content }}{% endfor %}\n",
      "\n",
      expect.stringMatching(
        /Metadata\n +general\.architecture +"llama"\n[\s\S]*Tensors\n +token_embd\.weight /,
      ),
    ]);
    expect((await locallm("show", "--parameters", "--system", "mine")).code).toBe(1);
  });
});

describe("cp, rm and stop", () => {
  test("print what they did and exit with 1 if they failed", async () => {
    expect(await locallm("cp", "mine", "yours")).toEqual({
      code: 0,
      out: "copied 'mine' to 'yours'\n",
      err: "",
    });
    expect(await locallm("stop", "yours")).toEqual({ code: 0, out: "", err: "" });
    expect(await locallm("rm", "yours", "again")).toEqual({
      code: 0,
      out: "deleted 'yours'\ndeleted 'again'\n",
      err: "",
    });
    const gone = await runProcess({ LOCALLM_HOST: server.url }, ["rm", "yours"]);
    expect(gone).toEqual({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Error: model 'yours' not found\n`locallm list`/),
    });
  });
});

// A non-loopback address of this machine; no server listens on it.
const lanAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

test.skipIf(lanAddress === undefined)(
  "--insecure lets pull, push and run use http, on private addresses only if a setting names the host",
  async () => {
    const pushed = `${lanAddress}:9/ns/m`;
    await locallm("cp", "mine", pushed);
    const verbs = [
      ["pull", `http://${pushed}`],
      ["run", `http://${lanAddress}:9/ns/absent`, "hello"],
      ["push", `http://${pushed}`],
    ];
    const ask = async (more: string[]) =>
      (await Promise.all(verbs.map((verb) => locallm(...verb, ...more)))).map(({ err }) =>
        err.trim().split("\n").at(-1),
      );
    expect(await ask([])).toEqual(verbs.map(() => expect.stringMatching(/^Error: http is not encrypted/)));
    const refusal = isPrivateAddress(lanAddress ?? "")
      ? /^Error: locallm refuses to connect to .*:9: .* LOCALLM_REGISTRIES$/
      : /^Error: cannot reach .*:9: the connection was refused \(ECONNREFUSED\)$/;
    expect(await ask(["--insecure"])).toEqual(verbs.map(() => expect.stringMatching(refusal)));
    await locallm("rm", pushed);
  },
);

test("every command names a missing blob and how to repair it", async () => {
  await writeFile(join(folder, "lost.gguf"), ggufBytes(withEntry(tinyModel(), "general.name", text("lost"))));
  expect((await locallm("create", "lost", "-f", await modelfile("Lost", "FROM ./lost.gguf"))).code).toBe(0);
  const { modelfile: printed } = await server.ask<{ modelfile: string }>("/api/show", { model: "lost" });
  const [, digest = ""] = /sha256-([0-9a-f]{64})/.exec(printed) ?? [];
  await rm(join(models, "blobs", `sha256-${digest}`));
  const words = new RegExp(`blob sha256:${digest} is missing.*pull or create the model again`);
  const from = await modelfile("From lost", "FROM lost");
  for (const verb of [
    ["show", "lost"],
    ["run", "lost", "hello"],
    ["cp", "lost", "found"],
    ["push", "lost"],
    ["create", "found", "-f", from],
  ]) {
    const { code, err } = await locallm(...verb);
    expect([verb, code, err]).toEqual([verb, 1, expect.stringMatching(words)]);
  }
  const listed = await locallm("ls");
  expect([listed.code, listed.err]).toEqual([
    0,
    expect.stringMatching(/^lost:latest is damaged: blob .*\n$/),
  ]);
  expect((await locallm("rm", "lost")).code).toBe(0);
  expect((await locallm("ls")).err).toBe("");
});

test("control characters in a model's output do not reach the terminal", async () => {
  const file = await modelfile(
    "Evil",
    'FROM mine\nSYSTEM """a\u001b]0;title\u0007b\u009b31m\u202ec"""\nLICENSE \u001b[2Jx',
  );
  expect((await locallm("create", "evil", "-f", file)).code).toBe(0);
  for (const args of [
    ["show", "evil"],
    ["show", "--system", "evil"],
    ["show", "--modelfile", "evil"],
  ]) {
    const { out } = await locallm(...args);
    expect(out).toContain("a]0;titleb31mc");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  }
});

// Not even root may create files there.
test.skipIf(process.platform !== "linux")(
  "a read-only models folder is reported, even during an upload, and everything else still works",
  async () => {
    const closed = join(folder, "closed");
    await cp(models, closed, { recursive: true });
    await rm(join(closed, "partial"), { recursive: true, force: true });
    await symlink("/sys/kernel", join(closed, "partial"));
    await writeFile(join(folder, "big.gguf"), Buffer.alloc(32 * 1024 * 1024));
    const other = await startServerHere({ models: closed });
    const there = async (...args: string[]) => {
      const env = { LOCALLM_HOST: other.url, LOCALLM_MODELS: join(folder, "nowhere") };
      return (await run(env, args)).err;
    };
    const said = await Promise.all([
      there("pull", join(folder, "big.gguf")),
      there("cp", "mine", "yours"),
      there("create", "yours", "-f", join(folder, "Evil")),
      there("show", "mine"),
    ]);
    const unwritable =
      /(^|\n)Error: cannot write to the models folder \(E\w+\); .* LOCALLM_MODELS to another folder\n$/;
    expect(said).toEqual([
      expect.stringMatching(/Error: not enough disk space: need 33554432 bytes, have 0 bytes; .*\n$/),
      expect.stringMatching(unwritable),
      expect.stringMatching(unwritable),
      "",
    ]);
    await other.stop();
  },
);

test("a command ends without an error if its output is closed, as by head", async () => {
  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const line = `"$0" -C source "$1" serve --help | true; echo "\${PIPESTATUS[0]}"`;
  const said = spawnSync("bash", ["-c", line, process.execPath, main], { encoding: "utf8" });
  expect([said.stdout, said.stderr]).toEqual(["0\n", ""]);
});

test("without a server every command says how to start one", async () => {
  // The check comes before reading a large file.
  const verbs = [["list"], ["show", "x"], ["rm", "x"], ["pull", join(folder, "tiny.gguf")]];
  for (const said of await Promise.all(verbs.map((args) => run({ LOCALLM_HOST: "127.0.0.1:1" }, args)))) {
    expect(said).toEqual({
      code: 1,
      out: "",
      err: "Error: no locallm server is running at http://127.0.0.1:1; start one with: locallm serve\n",
    });
  }
});

describe("a server that is not locallm", () => {
  const odd: Server = createServer((request, response) => {
    const said = answers[request.url ?? ""];
    response.statusCode = said?.[1] ?? 200;
    if (request.method === "HEAD") response.end();
    else if (said === undefined) response.write('{"status":"pulling manifest"}\n', () => response.destroy());
    else response.end(said[0]);
  });
  let answers: Record<string, [string, number?]> = {};
  let LOCALLM_HOST = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
    LOCALLM_HOST = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
  });
  afterAll(() => void odd.close());

  const said = async (verbs: string[][]) =>
    await Promise.all(verbs.map(async (args) => (await run({ LOCALLM_HOST }, args)).err));
  const foreign = (path: string, reason: string) =>
    `Error: ${LOCALLM_HOST} does not answer ${path} like locallm (${reason}); if another program uses that port, set LOCALLM_HOST to the address of locallm\n`;

  test("is reported with the path and the reason by every command", async () => {
    const show = JSON.stringify({ details: {}, capabilities: ["completion"] });
    answers = {
      "/api/tags": ["{}"],
      "/api/ps?explain": ['{"models":[{"name":"x","digest":7}]}'],
      "/api/show": [show],
      "/api/generate": ["{}"],
      "/api/chat": ['{"message":"hello"}\n'],
      "/api/pull": ["{}"],
      "/api/push": ['{"status":"pushing manifest"}\n'],
      "/api/copy": ["{}"],
      "/api/delete": ["<html>", 404],
      "/api/version": ["{}"],
    };
    const file = join(folder, "tiny.gguf");
    const found = await said([
      ["list"],
      ["ps"],
      ["show", "x"],
      ["stop", "x"],
      ["run", "x", "hello"],
      ["pull", "x"],
      ["push", "x"],
      ["pull", file],
      ["cp", "x", "y"],
      ["rm", "x"],
      ["launch", "aider"],
      ["-v"],
    ]);
    expect(found).toEqual([
      foreign("/api/tags", "models is required"),
      foreign("/api/ps?explain", "models[0].digest must be a string"),
      foreign("/api/show", "modelfile is required"),
      foreign("/api/generate", "done is required"),
      foreign("/api/chat", "message must be an object"),
      foreign("/api/pull", "status is required"),
      `pushing manifest\n${foreign("/api/push", "the answer ends before its last line")}`,
      foreign("/api/version", "version is required"),
      foreign("/api/copy", "the answer should be empty"),
      foreign("/api/delete", "status 404 without an error text"),
      foreign("/api/tags", "models is required"),
      foreign("/api/version", "version is required").replace("Error", "Warning"),
    ]);
  });

  test("is reported if it disconnects during an answer", async () => {
    answers = { "/api/tags": ["<html>"], "/api/show": ["7"] };
    expect(await said([["list"], ["show", "x"], ["pull", "x"]])).toEqual([
      foreign("/api/tags", "the answer is not JSON"),
      foreign("/api/show", "body must be a JSON object"),
      `pulling manifest\nError: cannot reach the server at ${LOCALLM_HOST}: the connection closed during the answer\n`,
    ]);
  });
});

describe("the version", () => {
  test("is printed, with a warning if the server has another version or does not answer", async () => {
    const other = createServer((_, response) => response.end('{"version":"0.0.1"}'));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const asked = (LOCALLM_HOST: string) => run({ LOCALLM_HOST }, ["-v"]);
    const [same, older, none, word] = await Promise.all([
      asked(server.url),
      asked(`127.0.0.1:${port}`),
      asked("127.0.0.1:1"),
      run({ LOCALLM_HOST: "127.0.0.1:1" }, ["--version"]),
    ]);
    other.close();
    const said = { code: 0, out: `${version}\n` };
    expect(same).toEqual({ ...said, err: "" });
    expect(older).toEqual({
      ...said,
      err: `Warning: the server at http://127.0.0.1:${port} is version 0.0.1\n`,
    });
    expect(none).toEqual({ ...said, err: "Warning: no locallm server is running at http://127.0.0.1:1\n" });
    expect(word).toEqual(none);
  });
});

describe("signin and signout", () => {
  test("report that there are no accounts and what to do instead", async () => {
    const LOCALLM_CREDENTIALS = join(folder, "known.json");
    const verbs = ["signin", "signout"].map((verb) => run({ LOCALLM_CREDENTIALS }, [verb]));
    for (const { code, out, err } of await Promise.all(verbs)) {
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/^Error: locallm has no accounts; .*known\.json/);
    }
  });
});

describe("launch", () => {
  test("lists the programs it can start and rejects others", async () => {
    const asked = [locallm("launch"), locallm("launch", "notepad")] as const;
    const [{ code, out }, unknown] = await Promise.all(asked);
    expect([code, out]).toEqual([0, expect.stringMatching(/^NAME +PROGRAM +INSTALL WITH\naider /)]);
    expect(unknown.err).toMatch(
      /^Error: unknown program notepad; locallm can launch: aider, claude, codex, /,
    );
  });

  // A fake codex program in the test folder reports how it was started.
  test.skipIf(process.platform === "win32")(
    "starts a program configured for a model that supports tools",
    async () => {
      const bin = join(folder, "bin");
      await mkdir(bin);
      await writeFile(join(bin, "codex"), '#!/bin/sh\necho "$LOCALLM_API_KEY $*"\nexit 7\n');
      await chmod(join(bin, "codex"), 0o755);
      const env = {
        LOCALLM_HOST: server.url,
        LOCALLM_MODELS: models,
        LOCALLM_API_KEY: "k3y",
        PATH: `${bin}${delimiter}${process.env["PATH"]}`,
      };
      const without = await run(env, ["launch", "codex"]);
      expect(without.err).toMatch(
        /^Error: Codex needs a model that calls tools, but no model here does that; a small one: locallm pull qwen3:1\.7b\n$/,
      );

      await writeFile(join(folder, "tools.gguf"), ggufBytes(loadableModel()));
      const file = await modelfile(
        "Tools",
        "FROM tools.gguf\nTEMPLATE {{ range .Tools }}{{ . }}{{ end }}{{ range .Messages }}{{ .Content }}{{ end }}",
      );
      expect((await locallm("create", "with-tools", "-f", file)).code).toBe(0);
      const unfit = await run(env, ["launch", "codex", "--model", "mine"]);
      expect(unfit.err).toMatch(
        /^Error: Codex needs a model that calls tools, but "mine" does not do that; a small/,
      );

      const named = ["launch", "codex", "--model", "with-tools", "--", "exec", "two words"];
      const started = await runProcess(env, named);
      expect(started.code).toBe(7);
      expect(started.err).toMatch(/^Codex works with with-tools:latest\nThe context window has \d+ tokens, /);
      expect(started.out).toBe(
        `k3y -c model_provider=locallm -c model_providers.locallm.name=locallm -c model_providers.locallm.base_url=${server.url}/v1 -c model_providers.locallm.wire_api=responses -c model_providers.locallm.env_key=LOCALLM_API_KEY -c model=with-tools:latest -c model_context_window=${/has (\d+) tokens/.exec(started.err)?.[1]} -c web_search=disabled -c agents.enabled=false exec two words\n`,
      );

      expect((await locallm("ps")).out).toMatch(
        /\nwith-tools:latest +[0-9a-f]{12} +[\d.]+ [KM]B +100% CPU +\d+ +\d+ minutes from now\n/,
      );

      const told = await run(env, ["launch", "qwen", "--config", "--", "-p", "it's"]);
      expect(told).toEqual({
        code: 0,
        out: `export OPENAI_BASE_URL='${server.url}/v1'\nexport OPENAI_API_KEY='k3y'\nexport OPENAI_MODEL='with-tools:latest'\nqwen --auth-type openai -p 'it'\\''s'\n`,
        err: "",
      });
      const claude = await run(env, ["launch", "claude", "--config"]);
      const window = /^export CLAUDE_CODE_MAX_CONTEXT_TOKENS='(\d+)'$/m.exec(claude.out)?.[1];
      expect((await locallm("ps")).out).toContain(` ${window} `);
      expect(claude.out).toContain(`\nexport ANTHROPIC_MODEL='with-tools:latest'\n`);
      expect(claude.out).toMatch(/\nclaude\n$/);
      const printed = await run(env, ["launch", "claude", "--print"]);
      expect(printed.out).toBe(claude.out);

      // Continue takes its settings only from a file: one of ours, beside the credentials.
      const own = { ...env, LOCALLM_CREDENTIALS: join(folder, "own", "credentials.json") };
      const continued = await run(own, ["launch", "continue", "--config", "--", "-p", "hi"]);
      const settings = join(folder, "own", "launch", "continue.yaml");
      expect(continued.out).toBe(`export LOCALLM_API_KEY='k3y'\ncn --config ${settings} -p hi\n`);
      const text = await readFile(settings, "utf8");
      expect(text).not.toContain("k3y");
      expect(JSON.parse(text).models).toMatchObject([
        {
          model: "with-tools:latest",
          apiBase: `${server.url}/v1`,
          defaultCompletionOptions: { contextLength: Number(window) },
        },
      ]);

      const snippet = await run(env, ["launch", "pydantic-ai"]);
      expect([snippet.code, snippet.err]).toEqual([0, ""]);
      expect(snippet.out).toContain(`base_url="${server.url}/v1"`);
      expect(snippet.out).toContain('OpenAIChatModel("with-tools:latest"');
      expect(snippet.out).not.toContain("k3y");
      const missing = await run({ ...env, PATH: bin }, ["launch", "qwen"]);
      expect([missing.code, missing.err]).toEqual([
        1,
        expect.stringMatching(/\nError: qwen is not installed; install it with: npm install -g /),
      ]);
    },
  );
});

test.skipIf(process.platform !== "linux")(
  "doctor --install reports that the folder is not writable",
  async () => {
    const env = { LOCALLM_HOST: "127.0.0.1:1", LOCALLM_ENGINES: "/proc/none/engines" };
    const { code, err } = await run(env, ["doctor", "--install", "vulkan"]);
    expect([code, err]).toEqual([
      1,
      "Error: cannot use /proc/none/engines: the folder is not writable (ENOENT)\n",
    ]);
  },
);

describe("doctor and prune", () => {
  test("doctor --self-test asks a model all that must work, and says what does not", async () => {
    const env = { LOCALLM_HOST: "127.0.0.1:1", LOCALLM_MODELS: models };
    await writeFile(join(folder, "writer.gguf"), ggufBytes(loadableModel()));
    const file = await modelfile(
      "Writer",
      "FROM writer.gguf\nPARAMETER num_thread 1\nTEMPLATE {{ range .Messages }}{{ .Content }} {{ end }}",
    );
    expect((await locallm("create", "writer", "-f", file)).code).toBe(0);
    const { code, out, err } = await runProcess(env, ["doctor", "--self-test", "writer"]);
    expect(err, out).toBe(
      "ok starts\nok loads\nok answers\nok streams\nok stops\nok keeps\nok survives\nok gives back\nok ends\n",
    );
    const checks = [
      "starts",
      "loads",
      "answers",
      "streams",
      "stops",
      "keeps",
      "survives",
      "gives back",
      "ends",
    ];
    expect(
      [...out.matchAll(/^(ok|FAILED) +([a-z]+(?: [a-z]+)*) +\d+ ms {2}\S/gm)].map((line) => line[2]),
    ).toEqual(checks);
    expect(out).toMatch(/^locallm \d.*, Node 24/m);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("All checks passed.") });

    const broken = await run({ ...env, LOCALLM_ENGINES: "relative" }, [
      "doctor",
      "--self-test",
      "no-such-model",
    ]);
    expect(broken).toMatchObject({ code: 1, err: expect.stringContaining("no-such-model") });
    const none = await run({ ...env, LOCALLM_MODELS: join(folder, "nothing") }, ["doctor", "--self-test"]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("locallm pull") });
  });

  test("doctor finds damage and repairs what it can, and prune frees the rest", async () => {
    const system = "a text of one model only";
    for (const name of ["damaged", "broken"]) {
      const file = await modelfile(name, `FROM ./tiny.gguf\nSYSTEM ${name === "damaged" ? system : "x"}`);
      expect((await locallm("create", name, "-f", file)).code).toBe(0);
    }
    const root = join(folder, "sick");
    await cp(models, root, { recursive: true });
    const env = { LOCALLM_HOST: "127.0.0.1:1", LOCALLM_MODELS: root };
    const here = (...args: string[]) => run(env, args);
    const healthy = await here("doctor");
    expect(healthy.out).toMatch(/^program +\d[^\n]*\nengine +@node-llama-cpp \d/);
    expect(healthy.out).toMatch(/\nconversations +up to [\d.]+ [MG]B of memory, none on disk\n/);
    expect(healthy).toMatchObject({ code: 0, out: expect.stringMatching(/\nverdict +no problems\n$/) });

    const manifests = join(root, "manifests/registry.ollama.ai/library");
    await writeFile(join(manifests, "broken/latest"), "");
    const digest = createHash("sha256").update(system).digest("hex");
    const path = join(root, "blobs", `sha256-${digest}`);
    await link(path, join(folder, "kept"));
    await rm(path);
    await writeFile(path, "changed");
    const states = join(folder, "states");
    await mkdir(states);
    await writeFile(join(states, "state"), new Uint8Array(3_000_000));
    const cache = { LOCALLM_CACHE_RAM: "8MiB", LOCALLM_CACHE_DISK: "20MiB", LOCALLM_CACHE_FOLDER: states };
    expect((await run({ ...env, ...cache }, ["doctor", "--quick"])).out).toContain(
      `up to 8.4 MB of memory; 3.0 MB of 21 MB on disk, in ${states}\n`,
    );
    const sick = await run({ ...env, HTTPS_PROXY: "socks5://me:secret@proxy" }, ["doctor"]);
    expect(sick.code).toBe(1);
    expect(sick.out).toMatch(/^settings +HTTPS_PROXY=not usable: must be an http or https proxy .*unset it/);
    expect(sick.out).toMatch(/\nverdict +[34] problems\n$/);
    expect(sick.out).toContain("does not match its digest");
    expect(sick.out).toContain("broken:latest: the model's manifest is damaged");

    expect((await here("doctor", "--repair")).out.match(/^repaired /gm)?.length).toBe(2);
    expect(await readdir(join(root, "damaged"))).toHaveLength(2);
    expect((await here("list")).code).toBe(1);

    await rm(join(root, "manifests"), { recursive: true });
    expect((await here("df")).out).toContain("`locallm prune` removes what is unused");
    const before = await readdir(join(root, "blobs"));
    expect((await here("prune", "--dry-run", "--all")).out).toMatch(
      new RegExp(`^would remove ${before.length} files`),
    );
    expect(await readdir(join(root, "blobs"))).toEqual(before);
    await here("prune");
    expect(await readdir(join(root, "blobs"))).toEqual(before);
    await here("prune", "--all");
    expect(await readdir(join(root, "blobs"))).toEqual([]);
  });
});
