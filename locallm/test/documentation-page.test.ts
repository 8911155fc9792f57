import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumArguments, chromiumPath } from "../../testing/chromium.ts";
import { openDocumentation } from "../../testing/documentation-page.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { startServerHere, type TestServer } from "./server-process.ts";

describe.skipIf(chromiumPath === undefined)("the documentation in a browser (needs chromium)", () => {
  let store: ModelStore;
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    store = await createModelStore();
    server = await startServerHere({ models: store.folder });
    browser = await chromium.launch({ executablePath: chromiumPath!, args: [...chromiumArguments] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await store?.remove();
  });

  /** A page whose every complaint is a fault: of the policy, of a script, of a missing file. */
  async function open(path: string, width = 1440): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on(
      "response",
      (answer) => answer.status() >= 400 && faults.push(`${answer.status()} ${answer.url()}`),
    );
    page.on("pageerror", (error) => faults.push(error.message));
    await openDocumentation(page, server.url + path);
    return { page, faults };
  }

  test.each([
    ["/docs/locallm/gpu", "vulkan wheel of nobody", ""],
    ["/docs/dataq/billing", "idempotency retries", "Retries"],
    ["/docs/zh/dataq/mcp", "超出预算", "预算"],
    ["/docs/zh/locallm/gpu", "第一次回答", "第一次回答"],
  ])("%s finds “%s”", async (path, question, heading) => {
    const { page, faults } = await open(path);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(question);
    const first = page.getByRole("option").first();
    if (heading === "") {
      await expect.poll(() => page.getByRole("status").last().textContent()).toContain("Nothing found");
      expect(await page.getByRole("option").count()).toBe(0);
    } else {
      await expect.poll(() => first.locator("strong").textContent()).toBe(heading);
      await page.keyboard.press("Enter");
      await expect.poll(() => page.url()).toContain("#");
    }
    expect(faults).toEqual([]);
    await page.close();
  });

  test("an address without a page says so in the reader's language, and to programs in JSON", async () => {
    for (const [path, words] of [
      ["/docs/no/such", "There is no such page"],
      ["/docs/zh/no/such", "没有这一页"],
    ] as const) {
      const { page } = await open(path);
      await page.getByText(words).waitFor();
      await page.close();
    }
    const { status, headers } = await fetch(`${server.url}/docs/no/such`);
    expect([status, headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
  });

  test("the switch of languages stays on the page", async () => {
    const { page, faults } = await open("/docs/zh/dataq/scaling");
    await expect.poll(() => page.locator("h1").textContent()).toContain("从一台机器到多台");
    await page.locator(".VPNavBarTranslations button").hover();
    await page.locator(".VPNavBarTranslations").getByRole("link", { name: "English" }).click();
    await expect.poll(() => page.url()).toBe(`${server.url}/docs/dataq/scaling`);
    await expect.poll(() => page.locator("h1").textContent()).toContain("From one machine to many");
    expect(faults).toEqual([]);
    await page.close();
  });

  test("code and page can be copied, the theme changes, and no page is wider than a telephone", async () => {
    const { page, faults } = await open("/docs/dataq/mcp", 390);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
    await page.locator("div[class*=language-] > button.copy").first().click();
    await expect.poll(clipboard).toContain('"mcpServers"');
    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await expect.poll(clipboard).toMatch(/^# MCP/);
    const width = () => page.evaluate<number>("document.documentElement.scrollWidth");
    expect(await width()).toBe(390);
    const background = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    const before = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(background).not.toBe(before);
    expect(faults).toEqual([]);
    await page.close();
  });
});
