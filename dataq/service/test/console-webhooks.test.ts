import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chromiumPath } from "../../../scripts/chromium.ts";
import { openBrowser, type TestBrowser, visit } from "./browser.ts";
import { signUp } from "./console-tour.ts";
import { faultsOf } from "./faults.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

describe.skipIf(!chromiumPath)("webhooks and watches in the console, in Debian's chromium", () => {
  let service: InProcessService;
  let receiver: Receiver;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    [service, receiver] = await Promise.all([startInProcess(), startReceiver()]);
    service.nowMs = Date.now();
    browser = await openBrowser(service.url);
    page = browser.page;
    await browser.wear({ theme: "light", language: "en", width: 1280 });
    await browser.signIn(await signUp(service.url, "hooks@example.com", "Hooks"));
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await receiver?.[Symbol.asyncDispose]();
  });

  test("a webhook is created, its secret is shown once, and a message can be sent again", async () => {
    await visit(page, "/webhooks");
    await page.getByText("No webhooks yet").waitFor();
    await page.getByRole("button", { name: "Create webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Endpoint").fill(receiver.url);
    await dialog.getByLabel("New records of a watch").check();
    // Customers get no events of operators.
    expect(await dialog.textContent()).not.toContain("Import done");
    await dialog.getByRole("button", { name: "Create webhook" }).click();
    const secret = (await page.getByTestId("new-secret").textContent())!;
    expect(secret).toMatch(/^whsec_/);
    await page.getByLabel("I have saved the secret").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: receiver.url }).waitFor();
    expect(await page.content()).not.toContain(secret);

    const account = await service.database.query<{ id: string }>(
      "select account_id as id from webhook where url = $1",
      [receiver.url],
    );
    receiver.answer({ status: 200, body: "thank you" });
    await service.database.query("select webhook_send($1, 'balance.low', '', '{\"balance\": 5}', now())", [
      account.rows[0]!.id,
    ]);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 });
    await page.getByRole("link", { name: receiver.url }).click();
    await page.getByText("Delivered").waitFor();
    await page.getByRole("button", { name: /^Show/ }).click();
    await page.getByText("thank you").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Send again/ }).click();
    await page.getByText("The message is sent again.").waitFor();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 10_000 });
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids[1]).toBe(ids[0]);
  });

  test("a watch is created with its first answer, in Chinese too", async () => {
    await browser.wear({ theme: "light", language: "zh", width: 390 });
    await visit(page, "/webhooks");
    await page.getByRole("button", { name: "创建监控" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("名称").fill("合同");
    await dialog.getByLabel("query").fill("found 合同");
    await dialog.getByRole("button", { name: "创建监控" }).click();
    await page.getByText("首次查询到 1 条记录，消耗 5,000 点数。").waitFor();
    await page.getByText("5,000 / 100,000").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "停用: 合同" }).click();
    await page.getByRole("button", { name: "启用: 合同" }).waitFor();
    expect(browser.complaints).toEqual([]);
  });
});
