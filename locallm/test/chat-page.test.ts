import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumArguments, chromiumPath } from "../../scripts/chromium.ts";
import { fakeRegistry } from "./fake-registry.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { done, eventStream, type ScriptedEngine, startScriptedEngine } from "./scripted-engine.ts";
import { metricsOf, startServerHere, type TestServer } from "./server-process.ts";
import { smallLlama } from "./small-llama.ts";

let store: ModelStore;
let server: TestServer;
/** An engine whose model sees, thinks and calls tools. */
let engine: ScriptedEngine;
beforeAll(async () => {
  store = await createSmallStore();
  await store.derive("small:tools", { from: "small:a", template: "{{ .Prompt }}{{ .Tools }}" });
  engine = await startScriptedEngine();
  server = await startServerHere({
    models: store.folder,
    env: { LOCALLM_NUM_PARALLEL: "2", LOCALLM_REMOTES: new URL(engine.upstream.url).host },
  });
});
afterAll(async () => {
  await server.stop();
  await engine.stop();
  await store.remove();
});

describe("the path / of the server", () => {
  const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-encoding": "br" };

  it("is the page for a browser, and plain text for every other program", async () => {
    const page = await fetch(`${server.url}/`, { headers: html });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const accept of ["*/*", "application/json", ""]) {
      const plain = await fetch(`${server.url}/`, { headers: { accept } });
      expect(await plain.text()).toBe("locallm is running");
      expect(plain.headers.get("vary")).toContain("Accept");
    }
  });

  it.each(["/", "/page/page.css"])(
    "the Vary header of %s lists every request header that affects the answer",
    async (path) => {
      for (const accept of ["text/html", "*/*"]) {
        const { headers } = await fetch(server.url + path, { headers: { accept, origin: server.url } });
        const vary = headers.get("vary")!.split(", ");
        expect(vary).toEqual(expect.arrayContaining(["Origin", "Accept"]));
        expect(new Set(vary).size).toBe(vary.length);
      }
    },
  );

  it("sends less than 60 kB for the whole page, and 304 for what the browser has", async () => {
    const names = [
      ...(await (await fetch(`${server.url}/`, { headers: html })).text()).matchAll(/"\/page\/([^"]+)"/g),
    ].map(([, name]) => name!);
    expect(names).toContain("page.css");
    const main = names.find((name) => name.startsWith("main"))!;
    const ending = main.slice(4);
    const seen = new Set(["index.html", ...names]);
    let bytes = 0;
    for (const name of seen) {
      const answer = await fetch(`${server.url}/page/${name}`, { headers: html });
      expect([name, answer.status]).toEqual([name, 200]);
      bytes += Number(answer.headers.get("content-length"));
      const etag = answer.headers.get("etag")!;
      const again = await fetch(`${server.url}/page/${name}`, { headers: { "if-none-match": etag } });
      expect(again.status).toBe(304);
      const text = await answer.text();
      if (name.endsWith(ending))
        for (const [, imported] of text.matchAll(/from "\.\/([^"]+)"/g)) seen.add(imported!);
    }
    expect(seen.size).toBeGreaterThan(10);
    expect(bytes).toBeLessThan(60_000);
  });

  it.each([
    "nothing.js",
    "tsconfig.json",
    "..%2fserver.ts",
    "%2e%2e%2fpackage.json",
    "constructor",
    "main.ts%00",
  ])("has no file %s", async (name) => {
    expect((await fetch(`${server.url}/page/${name}`)).status).toBeGreaterThanOrEqual(400);
  });
});

describe.skipIf(!chromiumPath)("the chat page, in Debian's chromium", () => {
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: [...chromiumArguments] });
  });
  afterAll(() => browser?.close());

  async function open(
    look: { width?: number; dark?: boolean; locale?: string; script?: string; url?: string } = {},
  ) {
    const { width = 1440, dark = false, locale = "en-US", script = "", url = server.url } = look;
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? "dark" : "light",
      locale,
      acceptDownloads: true,
    });
    context.setDefaultTimeout(30_000);
    await context.addInitScript(script);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url))
        complaints.push(`asked ${request.url()}`);
    });
    await page.goto(url);
    if (url === server.url) await page.locator("#model option").first().waitFor({ state: "attached" });
    return { context, page };
  }

  /** Limits the answers of the model with random weights, through the page's settings dialog. */
  async function setOptions(page: Page, options: Record<string, string>) {
    await page.click("#open-settings");
    for (const [name, value] of Object.entries(options)) await page.fill(`#${name}`, value);
    await page.click("#settings-form .main");
  }

  const answers = (page: Page) => page.locator(".assistant");

  it("asks by keyboard alone, streams the answer, regenerates it and keeps it over a reload", async () => {
    const { context, page } = await open();
    await setOptions(page, { num_predict: "12", seed: "3", temperature: "1" });
    await page.focus("#question");
    await page.keyboard.type("first line");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("<img src=x onerror=alert(1)>");
    await page.keyboard.press("Enter");
    await page.getByText(/12 tokens/).waitFor();
    expect(await page.locator(".user > .text").textContent()).toBe(
      "first line\n<img src=x onerror=alert(1)>",
    );
    expect(await page.locator("#log img").count()).toBe(0);
    const first = await page.locator(".assistant > .text").textContent();

    await setOptions(page, { seed: "4" });
    await page.getByRole("button", { name: "Regenerate" }).click();
    // The click removes the first answer before the second one arrives.
    await page.getByText(/12 tokens/).waitFor();
    const second = await page.locator(".assistant > .text").last().textContent();
    expect(second).not.toBe(first);

    await page.reload();
    await page.getByText(/12 tokens/).waitFor();
    expect(await page.locator(".assistant > .text").last().textContent()).toBe(second);
    await expect.poll(() => page.locator("#conversations li").count()).toBe(1);

    const download = page.waitForEvent("download");
    await page.click("#open-export");
    await page.click("#export-json");
    const saved = JSON.parse(await readFile(await (await download).path(), "utf8")) as {
      messages: { role: string }[];
    };
    expect(saved.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);

    page.once("dialog", (dialog) => void dialog.accept());
    await page.locator("#conversations li button").last().click();
    await expect.poll(() => page.locator("#conversations li").count()).toBe(0);
    await context.close();
  });

  it("stops an answer with Escape, and the model is free again", async () => {
    const { context, page } = await open();
    await setOptions(page, { num_predict: "-1", num_ctx: "4096" });
    await page.fill("#question", "go on");
    await page.keyboard.press("Enter");
    await expect
      .poll(async () => (await page.locator(".assistant > .text").textContent())!.length)
      .toBeGreaterThan(20);
    await page.keyboard.press("Escape");
    await page.getByText("stopped").waitFor();
    await expect.poll(async () => (await metricsOf(server))("slots_active", 'model="small:a"')).toBe(0);
    await context.close();
  });

  it("shows thinking folded, tool calls with a form for the result, and renders markdown but no HTML from the model", async () => {
    const { context, page } = await open();
    await keepConversation(page, [
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        thinking: "let me see",
        content:
          "# Plan\n\n- one\n  - inner\n- **two**\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n```js\nlet a = 1;\n```\n<script>alert(1)</script> [ok](https://example.com) [bad](javascript:alert(1))",
        tool_calls: [{ function: { name: "weather", arguments: { city: "Bern" } } }],
      },
    ]);
    await page.reload();
    const message = answers(page);
    expect(await message.locator("details").getAttribute("open")).toBeNull();
    expect(await message.locator("ul ul li").textContent()).toBe("inner");
    expect(await message.locator("td").allTextContents()).toEqual(["1", "x"]);
    expect(await message.locator("pre code").first().textContent()).toBe("let a = 1;");
    expect(await message.locator("script").count()).toBe(0);
    expect(
      await message.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual(["https://example.com"]);
    await message.getByRole("textbox").fill("sunny");
    await message.getByRole("button", { name: "Send result" }).click();
    await page.getByText(/tokens/).waitFor();
    expect(await page.locator(".tool pre, .message.tool pre").allTextContents()).toContain("sunny");
    await context.close();
  });

  it("keeps the question and the answer over another language and a reload, while the answer arrives", async () => {
    const { context, page } = await open();
    await setOptions(page, { num_predict: "-1", num_ctx: "4096" });
    await page.fill("#question", "go on");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".assistant > .text").textContent()).not.toBe("");
    await page.click("#language");
    expect(await answers(page).count()).toBe(1);
    await expect.poll(() => page.locator("#send").textContent()).toBe("停止");
    await page.reload();
    await page.locator(".user", { hasText: "go on" }).waitFor();
    await page.getByRole("button", { name: /重试|重新生成/ }).waitFor();
    await context.close();
  });

  it("loses no words if the model was removed, or if another conversation is opened before the answer", async () => {
    const { context, page } = await open();
    await keepConversation(page, asked("old answer"));
    await keepConversation(page, asked("other answer"), {
      id: "other",
      changedMs: 0,
      model: "small:removed",
    });
    await page.reload();
    await page.getByText("old answer").waitFor();
    let goOn = () => {};
    await page.route("**/api/chat", async (route) => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await route.continue().catch(() => {});
    });
    await page.getByRole("button", { name: "Regenerate" }).click();
    await page.locator("#conversations .open").last().click();
    goOn();
    await page.getByText("other answer").waitFor();
    // Its model does not exist, so it gets the one that the page shows.
    await expect.poll(() => page.locator("#model").inputValue()).toBe("small:tools");
    await page.locator("#conversations .open").first().click();
    await page.getByText("old answer").waitFor();

    await store.derive("small:soon-removed", { from: "small:a" });
    await page.reload();
    await page.selectOption("#model", "small:soon-removed");
    await fetch(`${server.url}/api/delete`, {
      method: "DELETE",
      body: JSON.stringify({ model: "small:soon-removed" }),
    });
    await page.fill("#question", "asked");
    await page.keyboard.press("Enter");
    await page.locator("#send", { hasText: "Stop" }).waitFor();
    await page.fill("#question", "written meanwhile");
    goOn();
    await expect.poll(() => page.locator("#question").inputValue()).toBe("asked\nwritten meanwhile");
    await page.locator("#notice", { hasText: "not found" }).waitFor();
    await expect
      .poll(() => page.locator("#model option").allTextContents())
      .not.toContain("small:soon-removed");
    await context.close();
  });

  it("shows in a second tab what the first one stored, and a deleted conversation stays deleted", async () => {
    const { context, page } = await open();
    await keepConversation(page, asked("old answer"), { options: { num_predict: -1, num_ctx: 4096 } });
    await page.reload();
    await page.getByText("old answer").waitFor();
    const second = await context.newPage();
    await second.goto(server.url);
    await second.getByText("old answer").waitFor();
    await page.fill("#question", "from the first tab");
    await page.keyboard.press("Enter");
    await second.locator(".user", { hasText: "from the first tab" }).waitFor();
    await expect.poll(() => page.locator(".assistant > .text").last().textContent()).not.toBe("");
    page.once("dialog", (dialog) => void dialog.accept());
    await page.locator("#conversations li button").last().click();
    await expect.poll(() => second.locator("#conversations li").count()).toBe(0);
    await expect.poll(() => page.locator("#conversations li").count()).toBe(0);
    await context.close();
  });

  it("two tabs that ask in one conversation at once make two conversations of it", async () => {
    const { context, page } = await open();
    await keepConversation(page, asked("old answer"));
    await page.reload();
    const second = await context.newPage();
    // As if this tab had not heard yet what the other one stored.
    await second.addInitScript("BroadcastChannel = class { postMessage() {} }");
    await second.goto(server.url);
    for (const tab of [page, second]) await tab.getByText("old answer").waitFor();
    for (const [tab, text] of [
      [page, "from the first tab"],
      [second, "from the second tab"],
    ] as const) {
      await tab.fill("#question", text);
      await tab.keyboard.press("Enter");
      await tab.getByText(/4 tokens/).waitFor();
    }
    await expect.poll(() => second.locator("#conversations li").count()).toBe(2);
    await page.reload();
    const titles = page.locator("#conversations .open");
    await expect.poll(() => titles.count()).toBe(2);
    const found: string[] = [];
    for (const title of await titles.all()) {
      await title.click();
      found.push(...(await page.locator(".user > .text").allTextContents()));
    }
    expect(found.sort()).toEqual(["from the first tab", "from the second tab", "question", "question"]);
    await context.close();
  });

  it("works in a browser that refuses to store anything, and Enter in Safari's input method sends nothing", async () => {
    const refuse = `for (const name of ["localStorage", "indexedDB"]) Object.defineProperty(window, name, {
      get() { throw new DOMException("refused", "SecurityError"); } });`;
    const { context, page } = await open({ script: refuse });
    await page.click("#theme");
    await setOptions(page, { num_predict: "4" });
    await page.fill("#question", "ni hao");
    await page.locator("#question").dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
    expect(await page.locator(".user").count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByText(/4 tokens/).waitFor();
    await page.getByText("This browser does not keep conversations").waitFor();
    await context.close();
  });

  it("shows text that is hard to parse as Markdown, and right-to-left text from the right", async () => {
    const { context, page } = await open();
    const hard = [
      ">".repeat(15_000),
      Array.from({ length: 60 }, (_, depth) => `${" ".repeat(2 * depth)}- item`).join("\n"),
      `# a${" ".repeat(300_000)}b`,
      `# a${"#".repeat(300_000)}b`,
      `a${"`".repeat(15_000)}`,
      "[".repeat(15_000),
      "שלום.",
    ].join("\n\n");
    await keepConversation(page, asked(hard));
    await page.reload();
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    expect(await page.locator(".assistant ul").count()).toBeLessThan(20);
    // The paragraph is as wide as the page, and its text is at the right.
    const [left, middle] = await page.getByText("שלום.").evaluate((box) => {
      const range = box.ownerDocument.createRange();
      range.selectNodeContents(box);
      const { left: from, right } = box.getBoundingClientRect();
      return [range.getClientRects()[0]!.left, (from + right) / 2];
    });
    expect(left).toBeGreaterThan(middle);
    await context.close();
  });

  it("asks for the key again, and says why, if the server rejects it or it has characters that no key has", async () => {
    const withKey = await startServerHere({ models: store.folder, env: { LOCALLM_API_KEY: "right-key" } });
    const { context, page } = await open({ url: withKey.url });
    for (const key of ["wrong", "密钥"]) {
      await page.fill("#key-value", key);
      await page.keyboard.press("Enter");
      await page.locator("#key[open] #key-problem", { hasText: "key" }).waitFor();
    }
    await page.fill("#key-value", " right-key ");
    await page.keyboard.press("Enter");
    await page.locator("#model option").first().waitFor({ state: "attached" });
    await context.close();
    await withKey.stop();
  });

  it("sends pictures to a model that sees, lets it think first, and sends the results of all its tool calls", async () => {
    const call = (index: number, name: string) => ({
      ...{ index, id: `call-${index}`, type: "function" },
      function: { name, arguments: '{"city":"Bern"}' },
    });
    const deltas = [
      { reasoning_content: "A picture." },
      { content: "I look it up." },
      { tool_calls: [call(0, "weather"), call(1, "time")] },
    ];
    engine.answers(({ method }) =>
      method === "GET"
        ? { status: 404, chunks: [] }
        : {
            chunks: [
              ...deltas.map((delta) => eventStream({ choices: [{ delta, finish_reason: null }] })),
              eventStream({ choices: [{ delta: {}, finish_reason: "tool_calls" }] }, done),
            ],
          },
    );
    const info = { capabilities: ["completion", "tools", "vision", "thinking"] };
    const remotes = [{ url: engine.upstream.url, model: "m", protocol: "openai" }];
    await server.ask("/api/create", { model: "seeing", remotes, info, stream: false });
    const { context, page } = await open();
    await page.selectOption("#model", "small:a");
    await page.locator("#attach").waitFor({ state: "hidden" });
    await page.selectOption("#model", "seeing:latest");
    await page.locator("#attach").waitFor();
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const files = ["one.png", "two.png"].map((name) => ({
      ...{ name, mimeType: "image/png" },
      buffer: Buffer.from(pixel, "base64"),
    }));
    await page.setInputFiles("#files", files);
    await page.getByRole("button", { name: "Remove image" }).last().click();
    await page.check("#think");
    await page.fill("#question", "What is this?");
    await page.keyboard.press("Enter");
    const answer = answers(page).last();
    await answer.getByRole("textbox").last().waitFor();
    expect(await page.locator(".user img").count()).toBe(1);
    expect(await answer.locator("details .text").textContent()).toBe("A picture.");
    expect(await answer.locator("details").getAttribute("open")).toBeNull();
    const asked = () => engine.received.filter(({ method }) => method === "POST").at(-1)!.body;
    expect(JSON.stringify(asked())).toContain(pixel);

    await answer.getByRole("textbox").first().fill("sunny");
    await answer.getByRole("textbox").last().fill("noon");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const results = () => {
      const sent = asked()["messages"] as { role: string; content: unknown }[];
      return sent.filter(({ role }) => role === "tool").map(({ content }) => content);
    };
    await expect.poll(results).toEqual(["sunny", "noon"]);
    await context.close();
  });

  it("pulls a model with progress, and shows why a pull failed", async () => {
    const registry = await fakeRegistry();
    registry.publish("library/pulled:1", smallLlama(3));
    registry.paceMs = 20;
    const { context, page } = await open();
    await page.click("#open-models");
    await page.getByRole("cell", { name: "small:b" }).waitFor();
    await page.fill("#pull-name", `${registry.host}/library/pulled:1`);
    await page.keyboard.press("Enter");
    await page.locator("#pull-progress[value]").waitFor();
    await page.locator("#pull-status", { hasText: "is ready" }).waitFor();
    await page.getByRole("cell", { name: "pulled:1" }).waitFor();
    await expect
      .poll(async () => (await page.locator("#model option").allTextContents()).join())
      .toContain("pulled:1");
    await registry.close();
    await page.fill("#pull-name", "127.0.0.1:9/none/such");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#pull-status.problem").textContent()).toContain("127.0.0.1:9");
    await context.close();
  });

  it("speaks Chinese to Chinese browsers, follows the theme, and remembers a choice", async () => {
    const { context, page } = await open({ locale: "zh-CN", dark: true });
    expect(await page.locator("#new").textContent()).toBe("新对话");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.click("#language");
    await page.click("#theme");
    await page.reload();
    expect(await page.locator("#new").textContent()).toBe("New conversation");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    await context.close();
  });

  it.each([
    { width: 1440, dark: false },
    { width: 360, dark: true },
  ])("has no fault that axe finds at $width pixels (dark: $dark), with every dialog", async (look) => {
    const { context, page } = await open(look);
    await keepConversation(page, [
      { role: "user", content: "a" },
      {
        role: "assistant",
        thinking: "b",
        content: "```\ncode\n```\n> c",
        tool_calls: [{ function: { name: "f", arguments: {} } }],
      },
    ]);
    await page.reload();
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    expect(await axe(page)).toEqual([]);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(look.width);
    for (const name of ["models", "settings", "export", "key"]) {
      await page.evaluate(`document.getElementById("${name}").showModal()`);
      expect([name, ...(await axe(page))]).toEqual([name]);
      await page.keyboard.press("Escape");
    }
    await context.close();
  });

  it("caused no error on the console and sent requests only to the server", () => {
    expect(complaints).toEqual([]);
  });
});

/** Stores a conversation in the page's own format. */
async function keepConversation(page: Page, messages: readonly object[], more: object = {}): Promise<void> {
  const kept = {
    id: "kept",
    model: "small:tools",
    changedMs: 1,
    system: "",
    options: { num_predict: 4 },
    tools: [],
    messages,
    ...more,
  };
  await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("locallm", 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const table = opening.result.transaction("conversations", "readwrite").objectStore("conversations");
      table.put(${JSON.stringify(kept)}).onsuccess = () => resolve(opening.result.close());
    };
  })`);
}

function asked(answer: string): object[] {
  return [
    { role: "user", content: "question" },
    { role: "assistant", content: answer },
  ];
}

const axeSource = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function axe(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await axeSource);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}
