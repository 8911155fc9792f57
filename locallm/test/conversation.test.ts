import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FileHost, fileHost } from "./file-host.ts";
import { command, startServerHere, type TestServer } from "./server-process.ts";
import { hasTerminal, terminal } from "./terminal.ts";
import { ggufBytes, loadableModel, text, u32, withEntry } from "./tiny-gguf.ts";

let server: TestServer;
let host: FileHost;
let home = "";
const weights = ggufBytes(loadableModel());
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "locallm-home-"));
  host = await fileHost();
  server = await startServerHere();
  const digest = `sha256:${createHash("sha256").update(weights).digest("hex")}`;
  await server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(weights) });
  const parameters = { seed: 1, num_thread: 1 };
  const created = { model: "tiny", files: { a: digest }, parameters, license: "MIT" };
  await server.ask("/api/create", { ...created, stream: false });
  const thinking = "{{ if .Think }}<think>{{ end }}{{ .Prompt }}{{ .Thinking }}";
  await server.ask("/api/create", { model: "thinker", from: "tiny", template: thinking, stream: false });
});
afterAll(async () => {
  await server?.stop();
  await host?.close();
  await rm(home, { recursive: true, force: true });
});

const environment = () => ({ HOME: home, LOCALLM_HOST: server.url });

describe.skipIf(!hasTerminal)("a conversation on a terminal (needs script)", () => {
  test("obeys its commands and saves a model with its settings and messages", async () => {
    const { type, exited, keys } = terminal(["run", "--nowordwrap", "tiny"], environment());
    await keys("", />>> /);
    await type("/?", /\/set parameter NAME VALUE/);
    await type("/set parameter num_predict 3", /Set\./);
    await type("/set parameter heat 3", /Unknown parameter heat\. Parameters: num_ctx/);
    await type("/set parameter num_ctx many", /Error: .*num_ctx/);
    await type("/set system Be brief.", /Set\./);
    await type("hello", /\n/);
    await type("/set verbose", /Set\./);
    await type("hello again", /total duration:[\s\S]*eval rate:/);
    await type("/set quiet", /Set\./);
    await type("/show info", /architecture +llama/);
    await type("/show parameters", /seed +1[\s\S]*Set in this conversation:[\s\S]*num_predict +3/);
    await type("/show system", /Be brief\./);
    await type("/show license", /MIT/);
    await type("/show template", /has no template/);
    await type("/show modelfile", /FROM /);
    await type("/show nothing", /Cannot show nothing/);
    await type("/list", /NAME +ID +SIZE +MODIFIED[\s\S]*tiny:latest/);
    await type("/bogus", /Unknown command \/bogus/);
    await type("/set bogus", /Unknown setting bogus/);
    await type("/set", /set parameter NAME VALUE/);
    await type("/set parameter", /Parameters: num_ctx/);
    await type("/set format xml", /Error: invalid format: expected "json" or a JSON schema/);
    await type("/load", /Usage: \/load MODEL/);
    await type("/save", /Usage: \/save MODEL/);
    await type("/set format json", /Set\./);
    await type("x", /\n/);
    await type("/set noformat", /Set\./);
    for (const what of ["nowordwrap", "wordwrap", "nothink", "nohistory", "history"])
      await type(`/set ${what}`, /Set\./);
    await type("/set think", /Set\./);
    await type("y", /Error: "tiny" does not support thinking/);
    await type("/set nothink", /Set\./);
    await type("/save kept", /Saved as kept\./);
    await type("/clear", /Cleared the conversation\./);
    await type("/save empty", /Saved as empty\./);
    await type("/load nowhere", /Error: model 'nowhere' not found/);
    await type("/load kept", /Switched to kept\./);
    await keys("/bye\r", /$/);
    expect(await exited).toBe(0);
    const kept = await server.ask("/api/show", { model: "kept" });
    expect(kept).toMatchObject({
      system: "Be brief.",
      parameters: expect.stringMatching(/^num_predict +3$/m),
    });
    const roles = (kept["messages"] as { role: string; content: string }[]).map(({ role, content }) => [
      role,
      role === "user" ? content : "",
    ]);
    expect(roles).toEqual([
      ["user", "hello"],
      ["assistant", ""],
      ["user", "hello again"],
      ["assistant", ""],
      ["user", "x"],
      ["assistant", ""],
    ]);
    expect(await server.ask("/api/show", { model: "empty" })).not.toHaveProperty("messages");
  });

  test("accepts multi-line input, editing and history, and ends with Ctrl-D", async () => {
    const first = terminal(["run", "tiny"], environment());
    await first.keys("", />>> /);
    await first.type("/set parameter num_predict 1", /Set\./);
    await first.keys('/set system """one\r', /\.\.\. /);
    await first.keys("two\r", /\.\.\. /);
    await first.type('three"""', /Set\./);
    await first.type("/show system", /one\r?\ntwo\r?\nthree/);
    await first.keys('"""first line\r', /\.\.\. /);
    await first.type('second line"""', /\n/);
    await first.type("\u001b[200~pasted one\r\npasted two\r\n\u001b[201~and typed", /\n/);
    await first.type("/save lines", /Saved/);
    // Ctrl-C clears the line without quitting.
    await first.keys("half a li\u0003", /Press Ctrl-D or type \/bye[\s\S]*>>> /);
    await first.type("/set nohistory", /Set\./);
    await first.type("/show nowhere", /Cannot show nowhere/);
    await first.keys("\u0004", /$/);
    expect(await first.exited).toBe(0);
    const lines = await server.ask<{ messages: unknown[]; system: string }>("/api/show", { model: "lines" });
    expect(lines.system).toBe("one\ntwo\nthree");
    expect(lines.messages[0]).toEqual({ role: "user", content: "first line\nsecond line" });
    expect(lines.messages[2]).toEqual({ role: "user", content: "pasted one\npasted two\nand typed" });
    const file = join(home, ".locallm/history");
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(await readFile(file, "utf8")).not.toContain("/show nowhere");

    const second = terminal(["run", "tiny"], environment());
    await second.keys("", />>> /);
    // Arrow up twice recalls the second newest line in the history.
    await second.keys("\u001b[A", /\/set nohistory/);
    await second.keys("\u001b[A", /\/save lines/);
    await second.keys("\r", /Saved as lines\.[\s\S]*>>> /);
    await second.keys("/bye\r", /$/);
    expect(await second.exited).toBe(0);
  });

  test("stops an answer with Ctrl-C and continues", async () => {
    const { type, keys, shown, exited } = terminal(["run", "tiny"], environment());
    await keys("", />>> /);
    // So long that it has not ended when the key arrives.
    await type(`/set format ${JSON.stringify({ type: "string", minLength: 1_500 })}`, /Set\./);
    await keys("hello\r", /hello\r*\n[\s\S]*"/);
    await keys("\u0003", />>> /);
    expect(shown()).not.toContain("Ctrl-D");
    await type("/clear", /Cleared the conversation/);
    await type("/set parameter num_ctx 64", /Set\./);
    await type(
      "hello",
      /\(The answer stopped because the context window of 64 tokens is full\. .* num_ctx 128\)/,
    );
    await type("/clear", /Cleared the conversation/);
    await type("/set noformat", /Set\./);
    await type("/set parameter num_predict 1", /Set\./);
    await type("again", /\n/);
    await keys("\u0004", /$/);
    expect(await exited).toBe(0);
  });

  test("downloads a missing model and shows a progress bar with speed and remaining time", async () => {
    const named = withEntry(loadableModel(), "general.name", text("fetched"));
    const large = ggufBytes({
      ...named,
      tensors: [...named.tensors, { name: "unused.weight", shape: [32, 20_000] }],
    });
    host.files.set("/fetched.gguf", Buffer.concat([large, Buffer.alloc(4_000_000)]));
    const file = host.files.get("/fetched.gguf") ?? Buffer.alloc(0);
    host.answer = (request, response) => {
      if (request.headers.range === "bytes=0-0") return false;
      response.writeHead(206, {
        etag: `"${file.length}-0"`,
        "content-range": `bytes 0-${file.length - 1}/${file.length}`,
        "content-length": file.length,
      });
      void slowly(file, (slice) => response.write(slice)).then(() => response.end());
      return true;
    };
    const { keys, exited } = terminal(["pull", `${host.url}/fetched.gguf`], environment());
    await keys("", /pulling [0-9a-f]{12} +\d+% .*█.* [\d.]+ [KM]B\/[\d.]+ MB [\d.]+ [KM]B\/s \d+s/);
    // The progress bars hide the cursor, so the program must show it again when it is interrupted.
    await keys("\u0003", /\[\?25h/);
    expect(await exited).toBe(130);
  });
});

describe("one question", () => {
  const ask = (args: string[], input = "") => {
    return command(["run", ...args], environment(), input);
  };

  test("from the command line or a pipe is answered as plain text", async () => {
    const said = await ask(["tiny", "hello"]);
    expect(said).toEqual({ code: 0, out: expect.stringMatching(/\n$/), err: "" });
    expect(said.out).not.toContain("\u001b");
    const piped = await ask(["tiny", "after this"], "piped text\n");
    expect(piped.code).toBe(0);
    expect(piped.out).not.toBe(said.out);
    expect(await ask(["tiny"], "hello")).toEqual(said);
  });

  test("accepts options for JSON, statistics, keep-alive and thinking", async () => {
    const format = JSON.stringify({ type: "object", properties: { a: { enum: [1] } }, required: ["a"] });
    const { out } = await ask(["tiny", "--format", format, "--keepalive", "1m", "--verbose", "hello"]);
    expect(JSON.parse(out.slice(0, out.indexOf("}") + 1))).toEqual({ a: 1 });
    expect(out).toMatch(/total duration: +[\d.]+s\n[\s\S]*eval rate: +[\d.]+ tokens\/s\n/);
    expect((await ask(["tiny", "--format", "xml", "hello"])).err).toMatch(
      /^Error: invalid format: expected "json" or a JSON schema/,
    );
    expect((await ask(["tiny", "--keepalive", "soon", "hello"])).err).toMatch(/^Error: invalid keep_alive/);
    expect((await ask(["tiny", "--think", "high", "hello"])).err).toMatch(/does not support thinking/);
    // A word after --think that is not a level is the model.
    expect((await ask(["--think", "tiny", "hello"])).err).toMatch(/"tiny" does not support thinking/);
    expect((await ask(["thinker", "--think=false", "--hidethinking", "hello"])).code).toBe(0);
  });

  test("for an embedding model prints a vector of the requested length", async () => {
    const path = join(home, "vectors.gguf");
    await writeFile(path, ggufBytes(withEntry(loadableModel(), "llama.pooling_type", u32(1))));
    const first = await ask([path, "hello"]);
    expect([first.code, JSON.parse(first.out).length]).toEqual([0, 32]);
    const long = "word ".repeat(600);
    const [short, cut, refused, odd, none] = await Promise.all([
      ask(["vectors", "--dimensions", "8", "hello"]),
      ask(["vectors"], long),
      ask(["vectors", "--truncate", "false"], long),
      ask(["vectors", "--truncate", "perhaps", "hello"]),
      ask(["vectors", "--dimensions", "many", "hello"]),
    ]);
    expect(JSON.parse(short.out)).toHaveLength(8);
    expect(JSON.parse(cut.out)).toHaveLength(32);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/^Error: the input length exceeds the context length: input 0 has \d+ tokens/),
    ]);
    expect(odd.err).toMatch(/^Error: truncate must be a boolean/);
    expect(none.err).toMatch(/^Error: dimensions must be /);
  });

  test("for a missing model pulls it first, also from a local file", async () => {
    host.answer = null;
    host.files.set("/from-web.Q8_0.gguf", weights);
    const fetched = await ask([`${host.url}/from-web.Q8_0.gguf`, "hello"]);
    expect(fetched).toEqual({
      code: 0,
      out: expect.stringMatching(/\n$/),
      err: expect.stringMatching(/: 100 % of [\s\S]*stored as from-web:q8_0\nsuccess\n$/),
    });
    await mkdir(join(home, "files"));
    const path = join(home, "files", "Local Model.gguf");
    await writeFile(path, weights);
    const local = await ask([path, "hello"]);
    expect(local).toEqual({
      code: 0,
      out: expect.stringMatching(/\n$/),
      err: expect.stringMatching(/stored as local-model:latest\nsuccess\n$/),
    });
    expect((await ask([path, "hello"])).err).toBe("");
    expect((await ask(["./nothing.gguf", "hello"])).err).toMatch(
      /cannot use .*nothing\.gguf: file not found/,
    );
    expect((await ask(["not here!", "hello"])).err).toBe("Error: invalid model name\n");
  });
});

async function slowly(file: Buffer, write: (slice: Buffer) => void): Promise<void> {
  for (let at = 0; at < file.length; at += 600_000) {
    write(file.subarray(at, at + 600_000));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
