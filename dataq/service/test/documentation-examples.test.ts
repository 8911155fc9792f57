import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openDocumentation } from "../../../testing/documentation-page.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

describe.skipIf(!chromiumPath)("examples of the documentation, in Debian's chromium", () => {
  let service: InProcessService;
  let browser: TestBrowser;
  let page: Page;
  beforeAll(async () => {
    service = await startInProcess({}, { isScripted: false, vendor: true });
    browser = await openBrowser(service.url);
    page = browser.page;
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const balance = async () => (await service.call("/v1/balance")).body.balance as number;
  const sender = () => page.locator(".sender").first();
  const status = () => sender().locator("figcaption").first().textContent();
  const code = () => page.locator(".vp-doc pre").nth(1).textContent();
  const visit = (path: string) => openDocumentation(page, `/docs/${path}`);

  test("a stranger reads them, and is told what sending needs", async () => {
    await visit("dataq/start");
    expect(await page.locator(".credentials").textContent()).toContain("enter a key or sign in");
    expect(await sender().getByRole("button").isDisabled()).toBe(true);
    expect(await code()).toContain("Bearer $KEY");
    expect(await faultsOf(page)).toEqual([]);
  });

  test.each([
    ["", "dark"],
    ["zh/", "light"],
    ["zh/dataq/errors", "dark"],
    ["zh/locallm/agents", "light"],
    ["locallm/configuration", "dark"],
  ] as const)("/docs/%s has no serious fault in the %s theme, and fits a telephone", async (path, theme) => {
    await page.emulateMedia({ colorScheme: theme });
    await visit(path);
    expect(await faultsOf(page)).toEqual([]);
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390);
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: null });
  });

  test("who is signed in sends them without a key, and reads the price before paying it", async () => {
    await page.goto(service.console);
    await page.getByRole("button", { name: "Open console" }).click();
    await page.getByRole("heading", { name: "Hello, local" }).waitFor();
    await visit("zh/dataq/start");
    await page.getByText("示例以您的账户发送").waitFor();
    const before = await balance();
    await sender().getByRole("button", { name: "发送" }).click();
    await sender().getByRole("button", { name: "发送，消耗 5,000 点" }).waitFor();
    expect(await balance()).toBe(before);
    await sender().getByRole("button", { name: "发送，消耗 5,000 点" }).click();
    await expect.poll(status).toBe("200 OK");
    expect(await balance()).toBe(before - 5_000);
    expect(await sender().locator("pre").textContent()).toContain('"tokens": 5000');
  });

  test("a test key is made by one click, stands in the code, costs nothing and is gone after a reload", async () => {
    const before = await balance();
    await page.getByRole("button", { name: "创建免费测试密钥" }).click();
    await expect.poll(code).toMatch(/Bearer dq_test_\w{36}"/);
    const made = /dq_test_\w+/.exec((await code())!)![0];
    expect(
      await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])"),
    ).not.toContain(made);
    await sender().getByRole("button", { name: "发送" }).click();
    await expect.poll(status).toMatch(/^(?:200|404) /);
    expect(await balance()).toBe(before);
    const { data } = (await service.call("/v1/keys")).body;
    const listed = data.find(({ name }: { name: string }) => name === "documentation");
    expect(listed).toMatchObject({ mode: "test", scopes: ["data:query"] });
    expect(Date.parse(listed.expires_at) - Date.parse(listed.created_at)).toBeLessThan(90_000_000);
    await openDocumentation(page, page.url());
    expect(await code()).toContain("Bearer $KEY");
  });

  test("every route can be found and sent from the reference", async () => {
    await visit("dataq/reference");
    const routes = page.locator("details.route");
    await routes.first().waitFor();
    expect(await routes.count()).toBeGreaterThan(50);
    await page.getByRole("searchbox").fill("/v1/balance");
    await expect.poll(() => routes.count()).toBe(1);
    await routes.first().locator("summary").click();
    await routes.first().getByRole("button", { name: "Send" }).click();
    await expect.poll(status).toBe("200 OK");
    await page.getByRole("searchbox").fill("/v1/data/query");
    await routes.first().locator("summary").first().click();
    await routes.first().getByRole("combobox").selectOption("research_paper_search");
    await expect
      .poll(() => routes.first().getByRole("textbox", { name: "Body", exact: true }).inputValue())
      .toContain('"operation": "research_paper_search"');
    await routes.first().locator("details.fields summary").click();
    expect(await faultsOf(page)).toEqual([]);
    // What can be tried stands in the place of the page's own table; the other product's routes are a table here.
    expect(await page.locator(".vp-doc table").isVisible()).toBe(false);
    await visit("locallm/reference");
    await page.locator(".http-reference.elsewhere").waitFor();
    await page.locator(".vp-doc td", { hasText: "POST /api/chat" }).first().waitFor();
    expect(await routes.count()).toBe(0);
    await visit("zh/dataq/reference");
    await routes.first().waitFor();
    await page.getByRole("searchbox").fill("退还一次调用");
    await expect.poll(() => routes.count()).toBe(1);
    expect(await routes.first().locator("summary").first().textContent()).toContain("/admin/v1/refunds");
    expect(browser.complaints).toEqual([]);
  });
});
