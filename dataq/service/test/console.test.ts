import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, openBrowser, settle, type TestBrowser, visit } from "./browser.ts";
import { makePast, sights, signUp } from "./console-tour.ts";
import { faultsOf } from "./faults.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

describe.skipIf(!chromiumPath)("the console in Debian's chromium", () => {
  let service: ServiceProcess;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    service = await startService();
    // The samples are made at the first question; that is not what is tried here.
    await service.call("/v1/data/query", {
      body: { operation: "legal_cases", params: { query: "民间借贷" } },
    });
    browser = await openBrowser(service.url);
    page = browser.page;
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const account = async () =>
    (await service.call("/admin/v1/accounts")).body.data.find(
      (one: { name: string }) => one.name === "Wang Fang",
    );
  let key = "";

  test("sign up: the account has its trial", async () => {
    await visit(page, "/keys");
    expect(page.url()).toContain("/console/sign-in");
    await page.getByRole("link", { name: "Create account" }).click();
    await page.getByLabel("Name").fill("Wang Fang");
    await page.getByLabel("E-mail").fill("wang@example.com");
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Hello, Wang Fang" }).waitFor();
    await page.getByText("2,000,000 tokens").first().waitFor();
  });

  test("a key is shown once, and works", async () => {
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Make a key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("report");
    await dialog.getByRole("button", { name: "Make a key" }).click();
    key = (await page.getByTestId("new-key").textContent())!;
    expect(key).toMatch(/^dq_live_[0-9A-Za-z]{36}$/);
    await page.getByLabel("I have kept the key").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("report").first().waitFor();
    expect(await page.content()).not.toContain(key);
    expect((await service.call("/v1/balance", { key })).status).toBe(200);
  });

  test("the playground says the price, charges it, and shows its ledger rows", async () => {
    await visit(page, "/playground?operation=legal_cases");
    expect(await page.getByTestId("price").textContent()).toContain("5,000 tokens");
    await page.getByRole("button", { name: "Send the call" }).click();
    expect(await page.getByTestId("charged").textContent()).toContain("5,000 tokens charged");
    // Asked again, it is half the price, and that is said before.
    await page.getByText("You asked this lately").waitFor();
    expect(await page.getByTestId("price").textContent()).toContain("2,500 tokens");
    await page.getByRole("link", { name: "Ledger rows" }).click();
    await page.getByText("On the ledger").waitFor();
    await page.getByText("−5,000").waitFor();
    await page.getByText("Held", { exact: true }).first().waitFor();
    await page.getByText("Charged", { exact: true }).first().waitFor();
    expect((await service.call("/v1/balance", { key })).body.balance).toBe(1_995_000);
  });

  test("an empty balance is explained, and a voucher mends it", async () => {
    const { id } = await account();
    await service.call(`/admin/v1/accounts/${id}/adjust`, { body: { tokens: -1_995_000, reason: "test" } });
    await visit(page, "/");
    await page.getByText("The balance is used up").waitFor();
    await visit(page, "/playground?operation=research_paper_search");
    await page.getByText("The balance does not cover it.").waitFor();
    await page.getByRole("button", { name: "Send the call" }).click();
    await page.getByText("The balance does not cover this call. Top up").waitFor();

    const { body } = await service.call("/admin/v1/vouchers", { body: { tokens: 50_000 } });
    await visit(page, "/top-up");
    await page.getByLabel("Code").fill(body.codes[0]);
    await page.getByRole("button", { name: "Redeem" }).click();
    await page.getByText("50,000 tokens (¥1.00) were added.").waitFor();
    await visit(page, "/playground?operation=research_paper_search");
    await page.getByText("49,500 tokens are left after it.").waitFor();
    await page.getByRole("button", { name: "Send the call" }).click();
    await page.getByTestId("charged").waitFor();
  });

  test("a rotated key goes on for its grace, a revoked one stops at once", async () => {
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Rotate: report" }).click();
    await page.getByLabel("The old key works for").selectOption({ label: "1 hour" });
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const next = (await page.getByTestId("new-key").textContent())!;
    await page.getByLabel("I have kept the key").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("Ends soon").waitFor();
    for (const text of [key, next])
      expect((await service.call("/v1/balance", { key: text })).status).toBe(200);
    const { body } = await service.call("/admin/v1/audit?limit=50");
    expect(body.data.find(({ action }: { action: string }) => action === "key.rotate").after.grace_s).toBe(
      3600,
    );

    await page
      .getByRole("row")
      .filter({ hasText: "In force" })
      .getByRole("button", { name: "Revoke" })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByText("Revoked", { exact: true }).waitFor();
    expect((await service.call("/v1/balance", { key: next })).status).toBe(401);
    expect((await service.call("/v1/balance", { key })).status).toBe(200);
  });

  test("a language is one press away, and stays", async () => {
    await page.getByRole("button", { name: "切换为中文" }).click();
    await page.getByRole("heading", { name: "API 密钥" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "API 密钥" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    await page.getByRole("button", { name: "Switch to English" }).click();
    await page.getByRole("heading", { name: "API keys" }).waitFor();
  });

  test("by keyboard alone: past the navigation, into a dialog, out of it, back where it was", async () => {
    await visit(page, "/keys");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the page");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Make a key");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await page.evaluate("document.activeElement.closest('[role=dialog]') !== null")).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Make a key");
  });

  test("signing out ends it", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await visit(page, "/keys");
    expect(page.url()).toContain("/console/sign-in");
  });

  test("the printed link lets the owner in; an import shows its way to the end", async () => {
    await page.goto(service.console);
    await page.getByRole("button", { name: "Enter the console" }).click();
    await page.getByRole("heading", { name: "Hello, local" }).waitFor();
    expect(page.url()).not.toContain("token");

    const path = join(service.folder, "journals.jsonl");
    const journal = (n: number) => ({ journal_id: `j${n}`, name: `学报${n}`, issn: null, language: "zh" });
    writeFileSync(path, Array.from({ length: 20 }, (_, n) => JSON.stringify(journal(n))).join("\n"));
    await visit(page, "/admin/sources");
    await page.getByRole("combobox", { name: "Operation" }).selectOption("research_journal_search");
    await page.getByLabel("File, address or package").fill(path);
    await page.getByRole("button", { name: "Start the import" }).click();
    await page.getByText("Running").waitFor();
    await page
      .getByText(/^(Done|Failed)$/)
      .first()
      .waitFor({ timeout: 60_000 });
    const { body } = await service.call("/admin/v1/jobs");
    expect(body.data[0]).toMatchObject({ operation: "research_journal_search", from: path, state: "done" });
  });

  test("every second page: no serious fault, nothing wider than the screen, no complaint (all: npm run proof -- console)", async () => {
    const past = await makePast(service);
    const sessions = {
      nobody: "",
      newcomer: await signUp(service.url, "newcomer@example.com", "Newcomer 新来的"),
      owner: await (async () => {
        const cookies = await browser.context.cookies(service.url);
        return decodeURIComponent(cookies.find(({ name }) => name === "dataq.session_token")!.value);
      })(),
    };
    // Each page in one look, in turn: `npm run proof -- console` has every page and state in every look.
    const looks = [
      { theme: "dark", language: "zh", width: 360 },
      { theme: "light", language: "zh", width: 1440 },
      { theme: "dark", language: "en", width: 1440 },
      { theme: "light", language: "en", width: 360 },
    ] as const;
    const found: string[] = [];
    const pages = sights(past.requestId, past.accountId).filter(
      ({ isState }, index) => !isState && index % 2 === 0,
    );
    for (const [index, sight] of pages.entries()) {
      const look = looks[index % looks.length]!;
      await browser.wear(look);
      await browser.signIn(sessions[sight.who]);
      await sight.go(page);
      for (const fault of await faultsOf(page)) found.push(`${sight.name}: ${fault}`);
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        found.push(`${sight.name}: too wide`);
    }
    expect(found).toEqual([]);
    expect(browser.complaints).toEqual([]);
  }, 400_000);

  test("stored texts stay texts", async () => {
    await visit(page, "/admin/accounts");
    await page.getByText("<script>document.title='broken'</script>").waitFor();
    await visit(page, "/keys");
    await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
    expect(await page.title()).toBe("dataq");
    expect(browser.complaints).toEqual([]);
  });

  test("the first page's scripts are below 200 kB compressed", async () => {
    await browser.signIn("");
    const sizes: number[] = [];
    page.on("response", async (response) => {
      if (response.url().endsWith(".js")) sizes.push(Number(response.headers()["content-length"]));
    });
    await page.route("**/*.js", (route) =>
      route.continue({ headers: { ...route.request().headers(), "accept-encoding": "gzip" } }),
    );
    await visit(page, "/sign-in");
    await settle(page);
    await page.unroute("**/*.js");
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
  });
});
