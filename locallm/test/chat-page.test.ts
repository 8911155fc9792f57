import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumArguments, chromiumPath } from "../../testing/chromium.ts";
import { fakeRegistry } from "./fake-registry.ts";
import { keepConversation } from "./kept-conversation.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { done, eventStream, type ScriptedEngine, startScriptedEngine } from "./scripted-engine.ts";
import { wave } from "./seeing.ts";
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

  it("sends less than 200 kB for the whole page, and 304 for what the browser has", async () => {
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
        for (const [, imported] of text.matchAll(/"(?:\.\/|\/page\/)([\w-]+\.(?:ts|js))"/g))
          seen.add(imported!);
    }
    // The libraries for formulas and colours, too, which are loaded with the first formula and the first code.
    expect([...seen]).toEqual(expect.arrayContaining(["markdown-it.js", "temml.js", "highlight.js"]));
    expect(bytes).toBeLessThan(200_000);
  });

  it.each([
    ["zh-CN,en;q=0.5", "zh-CN", "这个地址没有页面"],
    ["de,en;q=0.8", "en", "There is no page at this address"],
  ])(
    "has a page for browsers that open another address (%s), with the way here",
    async (language, lang, words) => {
      for (const path of ["/chat", "/models/llama?x=1", "//example.com"]) {
        const answer = await fetch(server.url + path, { headers: { ...html, "accept-language": language } });
        expect([answer.status, answer.headers.get("content-type")]).toEqual([
          404,
          "text/html; charset=utf-8",
        ]);
        expect(answer.headers.get("vary")).toContain("Accept-Language");
        const text = await answer.text();
        expect(text).toContain(`<html lang="${lang}">`);
        const [, shown = ""] = /<main lang="[\w-]+">(.*?)<\/main>/s.exec(text)!;
        expect(shown).toContain(words);
        expect(text.match(/<main [^>]*hidden>/g)).toHaveLength(1);
        for (const [, address] of shown.matchAll(/href="([^"]+)"/g))
          expect((await fetch(server.url + address!, { headers: html })).status, address).toBeLessThan(404);
      }
    },
  );

  it("answers programs, and browsers at addresses of programs, with the error", async () => {
    for (const [path, accept] of [
      ["/chat", "*/*"],
      ["/api/nothing", html.accept],
      ["/v1/nothing", html.accept],
      ["/page/nothing.js", html.accept],
    ] as const) {
      const answer = await fetch(server.url + path, { headers: { accept } });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        404,
        "application/json; charset=utf-8",
      ]);
    }
    const posted = await fetch(`${server.url}/chat`, { method: "POST", headers: html });
    expect(await posted.json()).toHaveProperty("error");
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
    await page.getByRole("button", { name: "Regenerate" }).last().click();
    // The click removes the first answer before the second one arrives.
    await page.getByText(/12 tokens/).waitFor();
    const second = await page.locator(".assistant > .text").last().textContent();
    expect(second).not.toBe(first);

    await page.reload();
    await page.getByText(/12 tokens/).waitFor();
    expect(await page.locator(".assistant > .text").last().textContent()).toBe(second);
    await expect.poll(() => page.locator("#conversations li").count()).toBe(1);

    const download = page.waitForEvent("download");
    await page.click("#open-transfer");
    await page.click("#export-json");
    const saved = JSON.parse(await readFile(await (await download).path(), "utf8")) as {
      messages: { role: string }[];
    };
    expect(saved.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    await page.keyboard.press("Escape");

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
    await message.locator(".hl-keyword", { hasText: "let" }).waitFor();
    expect(await message.locator("script").count()).toBe(0);
    expect(
      await message.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual(["https://example.com"]);
    await message.getByRole("textbox").fill("sunny");
    await message.getByRole("button", { name: "Send result" }).click();
    await page.locator(".notes", { hasText: "tokens" }).waitFor();
    expect(await page.locator(".message.tool pre").allTextContents()).toContain("sunny");
    await context.close();
  });

  it("keeps the question and the answer over another language and a reload, while the answer arrives", async () => {
    // A model of one's own may end its answer before a busy browser has clicked.
    engine.answers(({ method }) =>
      method === "GET"
        ? { status: 404, chunks: [] }
        : { chunks: [eventStream({ choices: [{ delta: { content: "word" } }] })], end: "hang" },
    );
    const remotes = [{ url: engine.upstream.url, model: "m", protocol: "openai" }];
    await server.ask("/api/create", { model: "endless", remotes, stream: false });
    const { context, page } = await open();
    await page.selectOption("#model", "endless:latest");
    await page.fill("#question", "go on");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".assistant > .text").textContent()).not.toBe("");
    await page.click("#language");
    expect(await answers(page).count()).toBe(1);
    await expect.poll(() => page.locator("#send").textContent()).toBe("停止");
    await page.reload();
    await page.locator(".user", { hasText: "go on" }).waitFor();
    await page
      .getByRole("button", { name: /重试|重新生成/ })
      .last()
      .waitFor();
    await context.close();
    const gone = { method: "DELETE", body: JSON.stringify({ model: "endless" }) };
    expect((await fetch(`${server.url}/api/delete`, gone)).status).toBe(200);
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
    await page.getByRole("button", { name: "Regenerate" }).last().click();
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
    await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
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

  it("offers only what can work: nothing to send to no model, nothing to export, and a way to ask a silent server again", async () => {
    const bare = await startServerHere({});
    const without = await open({ url: bare.url });
    await without.page.locator(".offer").first().waitFor();
    expect(await without.page.isDisabled("#send")).toBe(true);
    await without.context.close();
    await bare.stop();

    const { context, page } = await open();
    await page.locator("#send:enabled").waitFor();
    await page.click("#open-transfer");
    for (const id of ["export-markdown", "export-json", "export-all"])
      expect([id, await page.isDisabled(`#${id}`)]).toEqual([id, true]);
    await page.keyboard.press("Escape");

    await setOptions(page, { num_predict: "4" });
    await page.route("**/api/chat", (route) => route.abort());
    await page.fill("#question", "Is anybody there?");
    await page.keyboard.press("Enter");
    await page.locator("#notice.problem", { hasText: "does not answer" }).waitFor();
    await page.unroute("**/api/chat");
    await page.locator("#notice button").click();
    await page.locator(".user", { hasText: "Is anybody there?" }).waitFor();
    await page.getByText(/4 tokens/).waitFor();
    expect(await page.locator("#notice.problem").count()).toBe(0);
    await page.click("#open-transfer");
    await page.locator("#export-json:enabled").waitFor();
    await page.keyboard.press("Escape");

    // Whoever has no key yet can go on looking at the page.
    await page.evaluate('document.getElementById("key").showModal()');
    await page.click("#key-cancel");
    expect(await page.locator("#key[open]").count()).toBe(0);
    await context.close();
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
    const info = { capabilities: ["completion", "tools", "vision", "audio", "thinking"] };
    const remotes = [{ url: engine.upstream.url, model: "m", protocol: "openai" }];
    await server.ask("/api/create", { model: "seeing", remotes, info, stream: false });
    const { context, page } = await open();
    await page.selectOption("#model", "small:a");
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const files = ["one.png", "two.png"].map((name) => ({
      ...{ name, mimeType: "image/png" },
      buffer: Buffer.from(pixel, "base64"),
    }));
    await page.setInputFiles("#files", files);
    await page.locator("#attach-problem", { hasText: "does not see pictures" }).waitFor();
    expect(await page.locator("#attached img").count()).toBe(0);
    const wav = wave(0.1);
    const sounds = [{ name: "said.wav", mimeType: "audio/wav", buffer: wav }];
    await page.setInputFiles("#files", sounds);
    await page.locator("#attach-problem", { hasText: "does not hear" }).waitFor();
    await page.selectOption("#model", "seeing:latest");
    await page.setInputFiles("#files", files);
    await page.getByRole("button", { name: "Remove image" }).last().click();
    await page.setInputFiles("#files", sounds);
    await page.getByRole("button", { name: "Remove sound" }).waitFor();
    await page.check("#think");
    await page.fill("#question", "What is this?");
    await page.keyboard.press("Enter");
    const answer = answers(page).last();
    await answer.getByRole("textbox").last().waitFor();
    expect(await page.locator(".user img").count()).toBe(1);
    // The browser may play it: its length is known.
    await page.waitForFunction(`document.querySelector(".user audio")?.duration === 0.1`);
    expect(await answer.locator("details .text").textContent()).toBe("A picture.");
    expect(await answer.locator("details").getAttribute("open")).toBeNull();
    const asked = () => engine.received.filter(({ method }) => method === "POST").at(-1)!.body;
    expect(JSON.stringify(asked())).toContain(pixel);
    expect(JSON.stringify(asked())).toContain(`{"data":"${wav.toString("base64")}","format":"wav"}`);

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

  it("keeps an edited question and another model's answer as versions, and goes on with a cut answer", async () => {
    const { context, page } = await open();
    await keepConversation(page, asked("the old answer"), { options: { num_predict: 4, seed: 1 } });
    await page.reload();
    await page.locator(".user").getByRole("button", { name: "Edit" }).click();
    await page.keyboard.type(", changed");
    await page.keyboard.press("Enter");
    await page.getByText(/4 tokens/).waitFor();
    expect(await page.locator(".user > .text").textContent()).toBe("question, changed");
    const cut = (await page.locator(".assistant > .text").textContent())!;
    await page.getByRole("button", { name: "Continue" }).click();
    await expect
      .poll(async () => (await page.locator(".assistant > .text").textContent())!.length)
      .toBeGreaterThan(cut.length);
    expect((await page.locator(".assistant > .text").textContent())!.startsWith(cut.trimEnd())).toBe(true);
    await page.getByRole("button", { name: "Continue" }).waitFor();
    await page.selectOption(".assistant select", "small:b");
    await page.locator(".assistant .versions", { hasText: "2 / 2" }).waitFor();
    expect(await page.locator(".assistant h2").textContent()).toBe("small:b");

    const storedMs = await changedMsOf(page);
    await page.locator(".user").getByRole("button", { name: "Version before" }).click();
    await page.getByText("the old answer").waitFor();
    // A page that ends at once may take the choice with it.
    await expect.poll(() => changedMsOf(page)).toBeGreaterThan(storedMs);
    await page.reload();
    await page.getByText("the old answer").waitFor();
    await page.locator(".user").getByRole("button", { name: "Next version" }).click();
    await page.locator(".assistant .versions", { hasText: "2 / 2" }).waitFor();
    await page.locator(".assistant").getByRole("button", { name: "Version before" }).click();
    expect(await page.locator(".assistant h2").textContent()).toBe("small:tools");
    // The arrow in the empty box edits the last question; Escape leaves it as it was.
    await page.focus("#question");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type("x");
    await page.keyboard.press("Escape");
    expect(await page.locator(".user > .text").textContent()).toBe("question, changed");
    await context.close();
  });

  it("takes text files by button, paste and drop, counts their tokens, and refuses what is no text", async () => {
    const { context, page } = await open();
    await page.selectOption("#model", "small:a");
    await setOptions(page, { num_predict: "4", num_ctx: "256" });
    const file = (name: string, bytes: Buffer) => ({ name, mimeType: "", buffer: bytes });
    await page.setInputFiles("#files", [
      file("a.txt", Buffer.from("hello")),
      // GB 18030 for two Chinese characters.
      file("b.txt", Buffer.from([0xc4, 0xe3, 0xba, 0xc3])),
      file("c.bin", Buffer.from([0, 1, 2, 3])),
      file("d.pdf", Buffer.from("%PDF-1.7")),
    ]);
    await page.locator("#attach-problem", { hasText: "d.pdf is not a text file" }).waitFor();
    await page.locator("#attached li", { hasText: /a\.txt\s*\d+ tokens/ }).waitFor();
    for (const [kind, target] of [
      ["paste", "#question"],
      ["drop", "#main"],
    ])
      await page.evaluate(`{
        const data = new DataTransfer();
        data.items.add(new File(["y".repeat(300)], "${kind}.md"));
        const more = { bubbles: true, cancelable: true };
        const event = "${kind}" === "drop" ? new DragEvent("drop", { ...more, dataTransfer: data })
          : new ClipboardEvent("paste", { ...more, clipboardData: data });
        document.querySelector("${target}").dispatchEvent(event);
      }`);
    await page.locator("#attached li", { hasText: "drop.md" }).waitFor();
    await page.locator("#window", { hasText: "The files do not fit the window." }).waitFor();
    await page.locator("#window button").click();
    await page.locator("#window", { hasText: "of 2,048 tokens" }).waitFor();
    const sent = page.waitForRequest("**/api/chat");
    await page.fill("#question", "what?");
    await page.keyboard.press("Enter");
    const body = (await sent).postDataJSON() as { messages: { content: string }[]; options: object };
    expect(body.options).toMatchObject({ num_ctx: 2048 });
    expect(body.messages[0]!.content).toContain('<file name="b.txt">\n你好\n</file>');
    expect(body.messages[0]!.content.endsWith("what?")).toBe(true);
    await page.locator("#window", { hasText: /of 2,048 tokens/ }).waitFor();
    await page.getByText(/first word after .* prompt \d+ tokens/).waitFor();
    await context.close();
  });

  it("finds, renames and imports conversations, and goes everywhere by Ctrl-K", async () => {
    const { context, page } = await open();
    for (const [id, answer] of [
      ["one", "about tea"],
      ["two", "about coffee"],
    ] as const)
      await keepConversation(page, asked(answer), { id });
    await page.reload();
    const items = page.locator("#conversations li");
    await expect.poll(() => items.count()).toBe(2);
    await page.fill("#search", "COFFEE");
    await expect.poll(() => items.count()).toBe(1);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator(".assistant", { hasText: "about coffee" }).waitFor();
    await page.getByRole("button", { name: "Rename conversation" }).click();
    await page.keyboard.type("Beans");
    await page.keyboard.press("Enter");
    await page.fill("#search", "");
    await page.locator("#conversations .open", { hasText: "Beans" }).waitFor();

    await page.keyboard.press("Control+k");
    await page.keyboard.type("tea");
    await page.keyboard.press("Enter");
    await page.locator(".assistant", { hasText: "about tea" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("small:");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const wanted = await page.locator("[aria-selected=true] .label").textContent();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#model").inputValue()).toBe(wanted);

    const titles = () => page.locator("#conversations .open").allTextContents();
    const before = await titles();
    await page.click("#open-transfer");
    const download = page.waitForEvent("download");
    await page.click("#export-all");
    const all = await readFile(await (await download).path());
    await page.setInputFiles("#import-files", { name: "bad.json", mimeType: "", buffer: Buffer.from("[1]") });
    await page.locator("#transfer-status.problem", { hasText: "bad.json" }).waitFor();
    const markdown = Buffer.from("# Read\n\nModel: m\n\n## user\n\nhi\n\n## assistant\n\nho\n");
    await page.setInputFiles("#import-files", [
      { name: "all.json", mimeType: "", buffer: all },
      { name: "one.md", mimeType: "", buffer: markdown },
    ]);
    await page.locator("#transfer-status", { hasText: "3 conversations added." }).waitFor();
    // In the order of the file: what is imported keeps its time.
    const after = ["Read", ...before.flatMap((title) => [title, title])];
    await expect.poll(titles).toEqual(after);
    await page.reload();
    await expect.poll(titles).toEqual(after);
    await context.close();
  });

  it("begins with the model, three questions, or a catalogue that fits, and loads, unloads and deletes models", async () => {
    const { context, page } = await open();
    await page.selectOption("#model", "small:a");
    await page.locator(".welcome .card", { hasText: "llama" }).waitFor();
    await setOptions(page, { num_predict: "3" });
    await page.locator(".start").nth(2).click();
    await page.getByText(/3 tokens/).waitFor();
    expect(await page.locator(".user > .text").textContent()).toContain("Compare tea");
    await server.post("/api/copy", { source: "small:a", destination: "small:copy" });
    await page.click("#open-models");
    const rowOf = (name: string) => page.locator("#model-list > li").filter({ hasText: name });
    const row = rowOf("small:b");
    await row.getByRole("button", { name: "Load", exact: true }).click();
    await row.locator(".chip.on").waitFor();
    await row.locator("summary").click();
    await row.locator(".code-head", { hasText: "Template" }).waitFor();
    await row.getByRole("button", { name: "Unload" }).click();
    await row.getByRole("button", { name: "Load", exact: true }).waitFor();
    page.once("dialog", (dialog) => void dialog.accept());
    await rowOf("small:copy").getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => rowOf("small:copy").count()).toBe(0);
    await context.close();

    const empty = await startServerHere({});
    const { context: other, page: first } = await open({ url: empty.url, locale: "zh-CN" });
    await first.locator(".offer", { hasText: "smollm2:135m" }).getByRole("button").waitFor();
    const { memory, models } = (await (await fetch(`${empty.url}/api/catalogue`)).json()) as {
      memory: { available: number };
      models: { needs: number; fits: boolean }[];
    };
    for (const { needs, fits } of models) expect(fits).toBe(needs <= memory.available);
    await other.close();
    await empty.stop();
  });

  it("runs, loads and opens nothing that 200 hostile answers contain", async () => {
    const { context, page } = await open();
    const answers = hostileAnswers();
    expect(answers.length).toBeGreaterThanOrEqual(200);
    await keepConversation(
      page,
      answers.flatMap((content, index) => [
        { role: "user", content: `question ${index}` },
        { role: "assistant", content: `${content}\n\nend ${index}` },
      ]),
    );
    await page.reload();
    await page.getByText(`end ${answers.length - 1}`).waitFor();
    await page.locator(".math math, .math[title]").first().waitFor({ state: "attached" });
    await page.locator("[class^=hl-]").first().waitFor({ state: "attached" });
    const found = await page.evaluate<{ faults: string[]; ends: number; hacked: unknown }>(`(() => {
      const faults = [];
      for (const one of document.querySelectorAll("#log .text *, #log .foot *")) {
        if (/^(script|iframe|object|embed|img|svg|video|audio|link|meta|base|style|form|input)$/i.test(one.localName))
          faults.push(one.outerHTML);
        for (const { name, value } of one.attributes)
          if (/^on/i.test(name) || /javascript:|data:|vbscript:/i.test(value) && name !== "title" ||
            (/^(href|src|xlink:href|action)$/i.test(name) && !/^(https?|mailto):/i.test(value)))
            faults.push(one.outerHTML);
      }
      const ends = [...document.querySelectorAll(".assistant > .text")].filter((one, index) =>
        one.textContent.includes("end " + index)).length;
      return { faults, ends, hacked: globalThis.hacked };
    })()`);
    expect(found).toEqual({ faults: [], ends: answers.length, hacked: undefined });
    expect(await page.title()).toBe("locallm");
    await context.close();
  });

  it("pulls a model with progress, and shows why a pull failed", async () => {
    const registry = await fakeRegistry();
    registry.publish("library/pulled:1", smallLlama(3));
    registry.paceMs = 20;
    const { context, page } = await open();
    await page.click("#open-models");
    const listed = page.locator("#model-list > li");
    await listed.filter({ hasText: "small:b" }).waitFor();
    await page.fill("#pull-name", `${registry.host}/library/pulled:1`);
    await page.keyboard.press("Enter");
    await page.locator("#pull-progress progress[value]").waitFor();
    await page.locator("#pull-progress", { hasText: "is ready" }).waitFor();
    await listed.filter({ hasText: "pulled:1" }).waitFor();
    await expect
      .poll(async () => (await page.locator("#model option").allTextContents()).join())
      .toContain("pulled:1");
    await registry.close();
    await page.fill("#pull-name", "127.0.0.1:9/none/such");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#pull-progress .problem").textContent()).toContain("127.0.0.1:9");
    await context.close();
  });

  it("speaks Chinese to Chinese browsers, follows the theme, and remembers a choice", async () => {
    const { context, page } = await open({ locale: "zh-CN", dark: true });
    expect(await page.locator("#new").textContent()).toBe("新对话");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    // Errors of the server, too, at once and at the end of a stream.
    await page.click("#open-models");
    for (const [name, problem] of [
      ["///", "模型名称无效"],
      ["127.0.0.1:9/none/such", "连接不上 127.0.0.1:9：连接被拒绝（ECONNREFUSED）"],
    ] as const) {
      await page.fill("#pull-name", name);
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator("#pull-progress .problem").textContent()).toContain(problem);
    }
    await page.keyboard.press("Escape");
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
    await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
    expect(await axe(page)).toEqual([]);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(look.width);
    for (const name of ["models", "settings", "transfer", "palette", "key"]) {
      const button = page.locator(`#open-${name}`);
      if ((await button.count()) > 0)
        await button.evaluate((one) => (one as unknown as { click(): void }).click());
      else await page.evaluate(`document.getElementById("${name}").showModal()`);
      if (name === "models") await page.locator("#catalogue li").first().waitFor();
      expect([name, ...(await axe(page))]).toEqual([name]);
      await page.keyboard.press("Escape");
    }
    await context.close();
  });

  it("caused no error on the console and sent requests only to the server", () => {
    expect(complaints).toEqual([]);
  });
});

/** When the browser last stored the conversation that `keepConversation` stores. */
async function changedMsOf(page: Page): Promise<number> {
  return await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("locallm", 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const asked = opening.result.transaction("conversations").objectStore("conversations").get("kept");
      asked.onsuccess = () => resolve((opening.result.close(), asked.result.changedMs));
    };
  })`);
}

/** Each attack, in each place where Markdown could let it through. */
function hostileAnswers(): string[] {
  const attacks = [
    "<script>hacked=1</script>",
    "<img src=x onerror=hacked=1>",
    "<svg onload=hacked=1><animate onbegin=hacked=1>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "<a href=javascript:hacked=1>x</a>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<style>@import 'https://evil.example/x.css'</style>",
    "<form action=https://evil.example><input name=x autofocus onfocus=hacked=1>",
    "<math href=javascript:hacked=1><mtext></mtext></math>",
    "<details open ontoggle=hacked=1>",
    "![x](https://evil.example/p.png)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "[x](javascript:hacked=1)",
    "[x](java\tscript:hacked=1)",
    "[x](&#106;avascript:hacked=1)",
    "[x](data:text/html,<script>hacked=1</script>)",
    "[x](vbscript:hacked)",
    "<javascript:hacked=1>",
    '[x](https://ok.example "onmouseover=hacked=1")',
    "[x]: javascript:hacked=1\n\n[x]",
    "$\\href{javascript:hacked=1}{x}$",
    "$\\includegraphics{https://evil.example/p.png}$",
    "$\\def\\a{\\a\\a}\\a$",
    "$\\rule{99999em}{99999em}\\class{x}{y}\\style{color:red}{z}$",
    "$$x^{2}$$ $\\htmlData{onclick=hacked=1}{x}$",
    "$".repeat(3000),
    "\\[".repeat(3000),
    "[".repeat(3000) + "](".repeat(3000),
    `${"*_".repeat(3000)}x${"_*".repeat(3000)}`,
    `${"|a".repeat(2000)}|\n${"|-".repeat(2000)}|`,
    `${"<".repeat(2000)}!--`,
    "\u202e<img src=x>\u0000\ufeff\ud800",
  ];
  const places: ((attack: string) => string)[] = [
    (attack) => attack,
    (attack) => `> ${attack}`,
    (attack) => `- ${attack}\n  - ${attack}`,
    (attack) => `| ${attack} |\n|---|\n| ${attack} |`,
    (attack) => `\`\`\`html\n${attack}\n\`\`\``,
    (attack) => `# **${attack}**`,
    (attack) => `\`\`\`"><img src=x onerror=hacked=1>\n${attack}`,
  ];
  return attacks.flatMap((attack) => places.map((place) => place(attack)));
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
