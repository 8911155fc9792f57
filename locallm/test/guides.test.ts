import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callsOf, commandsIn, runCommands } from "../../testing/guide-commands.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import { captureOutput } from "./captured-output.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { startServerHere, type TestServer } from "./server-process.ts";
import { smallLlama } from "./small-llama.ts";

const program = {
  name: "locallm",
  main: fileURLToPath(new URL("../src/cli/main.ts", import.meta.url)),
  ready: "Models run on",
};

let store: ModelStore;
let server: TestServer;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "locallm-guides-"));
  store = await createModelStore();
  const path = join(home, "small.gguf");
  await writeFile(path, smallLlama(1));
  await store.add("smollm2:135m", path, { parameters: { num_predict: 32 } });
  server = await startServerHere({ models: store.folder });
});
afterAll(async () => {
  await server?.stop();
  await store?.remove();
  await rm(home, { recursive: true, force: true });
});

describe("the commands of the guides run", () => {
  const pages = [...commandsIn(""), ...commandsIn("locallm")];
  test.each(pages.filter(({ runs }) => runs))("$place", async (commands) => {
    const script = commands.script.replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):11434/g, server.url);
    const env = { LOCALLM_HOST: server.url, LOCALLM_MODELS: store.folder };
    await runCommands({ ...commands, script }, program, { home, env });
  });
});

// They need a network, root, a GPU or other machines.
describe("the commands of the guides that do not run exist, with their options", () => {
  const calls = [...commandsIn(""), ...commandsIn("locallm")]
    .filter(({ runs }) => !runs)
    .flatMap((commands) => callsOf("locallm", commands))
    .filter(([verb]) => !verb!.startsWith("-"));
  const helpOf = async (...verbs: string[]) =>
    (await captureOutput({}, () => runCommandLine([...verbs, "--help"]))).out;

  test("there are some", () => expect(calls.length).toBeGreaterThan(12));

  test.each(calls.map((words) => ({ words, call: words.join(" ") })))("locallm $call", async ({ words }) => {
    const [verb, second] = words as [string, string | undefined];
    const text = await helpOf(verb);
    expect(text).toContain(`Usage: locallm ${verb}`);
    const isWord = second !== undefined && !second.startsWith("-");
    const isBelow = isWord && new RegExp(`^ {2}${RegExp.escape(second)}\\b`, "m").test(text);
    const last = words.indexOf("--");
    const options = words.slice(0, last === -1 ? undefined : last).filter((word) => word.startsWith("-"));
    const full = isBelow ? await helpOf(verb, second) : text;
    for (const option of options) expect(full).toContain(option);
  });
});

describe("the server serves the documentation", () => {
  test("each page, with links that work and a policy without inline code", async () => {
    const pages = new Map<string, string>();
    const queue = ["/docs/", "/docs/zh/"];
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const answer = await fetch(server.url + path);
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      const text = await answer.text();
      pages.set(path, text);
      if (!answer.headers.get("content-type")!.startsWith("text/html")) continue;
      expect(answer.headers.get("content-security-policy")).toContain(
        "default-src 'none'; script-src 'self'",
      );
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style|<[^>]+ style=|<[^>]+ on\w+=/);
      for (const [, link] of text.matchAll(/(?:href|src)="(\/[^"#]*)/g))
        if (!pages.has(link!) && !queue.includes(link!)) queue.push(link!);
    }
    const shown = [...pages].filter(([, text]) => text.includes("<h1"));
    expect(shown.length).toBeGreaterThan(70);
    for (const [path, text] of shown)
      for (const [, page, anchor] of text.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
        if (page!.startsWith("http") || anchor === "VPContent") continue;
        const target = pages.get(page === "" ? path : page!);
        expect(target?.includes(`id="${decodeURIComponent(anchor!)}"`), `${path} → ${page}#${anchor}`).toBe(
          true,
        );
      }
  }, 60_000);

  test("in the reader's language, an unknown page is 404, and an unchanged one 304", async () => {
    const asked = { redirect: "manual", headers: { "accept-language": "zh-CN,zh;q=0.9,en;q=0.8" } } as const;
    expect((await fetch(`${server.url}/docs`, asked)).headers.get("location")).toBe("/docs/zh/locallm/start");
    for (const path of ["..%2f..%2fpackage", "nowhere", "locallm/../../package.json", ".built", "assets"])
      expect((await fetch(`${server.url}/docs/${path}`)).status, path).toBe(404);
    const { headers } = await fetch(`${server.url}/docs/locallm/security`);
    const again = await fetch(`${server.url}/docs/locallm/security`, {
      headers: { "if-none-match": headers.get("etag")! },
    });
    expect(again.status).toBe(304);
  });
});
