import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureOutput } from "../../../locallm/test/captured-output.ts";
import { chromiumPath } from "../../../testing/chromium.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import { openBrowser, type TestBrowser, visit } from "./browser.ts";
import { enter } from "./console-tour.ts";
import { environmentOf } from "./data-folder.ts";
import { faultsOf } from "./faults.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type Notice, PaymentProviders } from "./payment-providers.ts";

let folder: string;
let providers: PaymentProviders;
let service: InProcessService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-payments-"));
  providers = await PaymentProviders.start(() => Date.now());
  service = await startInProcess(providers.configure(folder), { isScripted: false });
}, 60_000);
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await providers?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const deliver = (notice: Notice, headers: Readonly<Record<string, string>> = {}) =>
  service.call(notice.path, { key: null, body: notice.body, headers: { ...notice.headers, ...headers } });

/** The key of a new account that may pay. */
async function payer(): Promise<string> {
  const { id } = await service.account(0, { tier: "trial", keys: 0 });
  const body = { scopes: ["read:account", "manage:billing"] };
  return (await service.call(`/admin/v1/accounts/${id}/keys`, { body })).body.keys[0];
}

describe("over HTTP", () => {
  test("a customer pays, is told so, and is refunded in part; nobody else sees the payment", async () => {
    const key = await payer();
    const other = await payer();
    expect((await service.call("/v1/payments/options", { key })).body).toMatchObject({
      providers: [
        { name: "stripe", least_fen: 400 },
        { name: "alipay", least_fen: 100 },
        { name: "wechat", least_fen: 100 },
        { name: "bank", least_fen: 100 },
      ],
      tokens_per_cny: 50_000,
    });
    const begin = (body: object) => service.call("/v1/payments", { key, body });
    expect((await begin({ provider: "cash", amount_fen: 1_000 })).body.error.param).toBe("provider");
    expect((await begin({ provider: "stripe", amount_fen: 10.5 })).body.error.param).toBe("amount_fen");
    const made = (await begin({ provider: "stripe", amount_fen: 1_000 })).body;
    expect(made).toMatchObject({ state: "open", tokens: 500_000, qr: null, transfer: null });
    const path = `/v1/payments/${made.id}`;
    expect((await service.call(path, { key: other })).status).toBe(404);
    const notice = providers.pay(made.id);
    expect((await deliver(notice, { "stripe-signature": "t=1,v1=00" })).body.code).toBe(
      "invalid_notification",
    );
    expect((await deliver(notice)).text).toBe("success");
    expect((await service.call(path, { key })).body).toMatchObject({ state: "paid", url: null });
    expect((await service.call("/v1/account", { key })).body.tier).toBe("standard");
    const refund = (amount_fen: number, by: string = service.key) =>
      service.call(`/admin${path}/refunds`, { key: by, body: { amount_fen, reason: "too much" } });
    expect((await refund(100, key)).body.code).toBe("scope_denied");
    expect((await refund(1_001)).body.error.param).toBe("amount_fen");
    expect((await refund(400)).body).toMatchObject({ returned_fen: 400, heard_by: "notification" });
    const list = (await service.call("/v1/payments", { key })).body;
    expect(list.data).toMatchObject([{ id: made.id, returns: [{ amount_fen: 400, tokens: 200_000 }] }]);
    expect(await service.ledger(key)).toEqual([
      ["topup", 500_000],
      ["refund", -200_000],
    ]);
    expect((await service.call("/admin/v1/ledger/verify?whole=true")).body.ok).toBe(true);
  });

  test("automatic top-up refuses less than the card's provider takes", async () => {
    const key = await payer();
    const allow = (amount_fen: number) =>
      service.call("/v1/auto-top-up", {
        key,
        method: "PATCH",
        body: { low_tokens: 1, amount_fen, most_fen: 1_000, consent: true },
      });
    expect((await allow(399)).body.error.param).toBe("amount_fen");
    expect((await service.call("/v1/auto-top-up", { key })).body.state).toBe("off");
    expect((await allow(400)).body.amount_fen).toBe(400);
  });

  test("notifications for nobody, with nothing or too much are refused", async () => {
    const post = (path: string, body: string) => service.call(path, { key: null, body });
    expect((await post("/v1/payments/cash/notify", "{}")).status).toBe(404);
    expect((await post("/v1/payments/bank/notify", "{}")).body.code).toBe("invalid_notification");
    for (const provider of ["stripe", "alipay", "wechat"]) {
      expect((await post(`/v1/payments/${provider}/notify`, "")).body.code).toBe("invalid_notification");
      expect((await post(`/v1/payments/${provider}/notify`, "x".repeat(70_000))).status).toBe(413);
    }
  });
});

describe("dataq payments test", () => {
  const run = (...words: string[]) => {
    const environment = { ...environmentOf(service.folder), DATAQ_BASE_URL: service.url };
    return captureOutput(environment, () => runCommandLine(["payments", "test", ...words]));
  };
  /** The trade that the command begins, once it is there. */
  const begun = async () => {
    const known = new Set(providers.trades.keys());
    for (;;) {
      const id = [...providers.trades.keys()].find((one) => !known.has(one));
      if (id !== undefined) return id;
      await sleep(20);
    }
  };

  test("walks through a payment and its refund, and says that the notification came", async () => {
    const walk = run("wechat", "--yes");
    const id = await begun();
    await deliver(providers.pay(id));
    const { code, out, err } = await walk;
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("This pays 1.00 CNY by wechat");
    expect(out).toContain("weixin://wxpay/");
    expect(out).toContain("2. Paid: 50000 tokens were credited.\n   The notification of wechat arrived");
    expect(out).toContain("4. Refunded, and the ledger verifies. wechat works.");
    expect(providers.balanceFen(id)).toBe(0);
  });

  test("says what is wrong: not set up, not confirmed, a refused refund", async () => {
    expect((await run("cash")).err).toContain("Allowed choices are stripe, alipay, wechat");
    expect((await run("alipay")).err).toContain("nothing was paid. Add --yes");
    const walk = run("alipay", "--yes");
    const id = await begun();
    providers.refusesRefunds = true;
    await deliver(providers.pay(id));
    const { code, err } = await walk;
    providers.refusesRefunds = false;
    expect(code).toBe(1);
    expect(err).toContain("Alipay did not accept this. Retry later");
  });
});

describe.skipIf(!chromiumPath)("in the console, in Debian's chromium", () => {
  let browser: TestBrowser;
  let page: Page;
  beforeAll(async () => {
    browser = await openBrowser(service.url);
    page = browser.page;
    await browser.wear({ theme: "light", language: "en", width: 1280 });
    await browser.signIn(await enter(service));
  }, 60_000);
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test("a QR code is shown until the payment arrives", async () => {
    await visit(page, "/top-up");
    await page.getByLabel("Other amount (yuan)").fill("12.34");
    await page.getByText("You get 617,000 tokens.").waitFor();
    await page.getByText("Alipay", { exact: true }).click();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue to payment" }).click();
    await page.getByRole("img", { name: "Scan the code with the app of Alipay." }).waitFor();
    await page.getByText("¥12.34").first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const id = new URL(page.url()).searchParams.get("payment")!;
    await deliver(providers.pay(id));
    await page.getByText("Added 617,000 tokens (¥12.34).").waitFor();
    await page.getByRole("row").filter({ hasText: "¥12.34" }).getByText("Paid", { exact: true }).waitFor();
  });

  test("a bank transfer is confirmed and refunded by the operator", async () => {
    await visit(page, "/top-up");
    await page.getByText("Bank transfer", { exact: true }).click();
    await page.getByRole("button", { name: "Continue to payment" }).click();
    await page.getByText("6222 0000 0000 0000").waitFor();
    const back = page.url();
    await visit(page, "/admin/payments");
    await page.getByRole("button", { name: "Confirm" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount").fill("20");
    await dialog.getByLabel("Number of the transfer").fill("ICBC 20260310 7");
    await dialog.getByRole("button", { name: "Confirm" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Refund" }).first().click();
    await dialog.getByLabel("Amount").fill("5");
    await dialog.getByLabel("Number of the transfer").fill("ICBC 20260311 1");
    await dialog.getByLabel("Reason").fill("a wrong amount");
    await dialog.getByRole("button", { name: "Refund" }).click();
    await page.getByText("¥5.00 returned").waitFor();
    await page.goto(back);
    await page.getByText("Added 1,000,000 tokens (¥20.00).").waitFor();
    await page.getByText("¥5.00 returned").waitFor();
    expect(browser.complaints).toEqual([]);
  });

  test("what does not fit about a payment, and a frozen account, are told in Chinese, too", async () => {
    const key = await payer();
    const begin = async (provider: string) =>
      (await service.call("/v1/payments", { key, body: { provider, amount_fen: 1_000 } })).body.id as string;
    const [other, disputed, old] = [await begin("alipay"), await begin("stripe"), await begin("wechat")];
    (providers.trades.get(other) as { amountFen: number }).amountFen = 321;
    for (const id of [other, disputed, old])
      expect((await deliver(providers.pay(id))).text).toMatch(/success/i);
    await deliver(providers.dispute(disputed));
    expect((await service.call("/v1/balance", { key })).body.frozen).toBe(true);
    await service.database.query("update payment set trouble = 'paid a second time, as 42' where id = $1", [
      old,
    ]);
    const list = (await service.call("/admin/v1/payments")).body.data as { id: string; trouble: unknown }[];
    const troubleOf = (id: string) => list.find((payment) => payment.id === id)!.trouble;
    expect(troubleOf(other)).toMatchObject({ code: "other_amount", amount: 321, currency: "CNY" });
    expect(troubleOf(old)).toEqual({ code: "other", text: "paid a second time, as 42" });
    expect(troubleOf(disputed)).toBeNull();

    await browser.wear({ theme: "light", language: "zh", width: 1280 });
    await visit(page, "/admin/payments");
    await page.getByText("收到 ¥3.21，流水号").waitFor();
    await page.getByText("旧版本的记录：paid a second time, as 42").waitFor();
    await page.getByText("银行撤回 ¥10.00").waitFor();
    await page.getByText("请在期限内到支付平台申诉").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const { id: own } = (await service.call("/v1/account")).body;
    const freeze = (frozen: boolean) =>
      service.call(`/admin/v1/accounts/${own}`, { method: "PATCH", body: { frozen } });
    await freeze(true);
    for (const place of ["/", "/top-up"]) {
      await visit(page, place);
      await page.getByText("请先联系运营方，暂勿充值").waitFor();
    }
    expect(await faultsOf(page)).toEqual([]);
    await freeze(false);
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });

  test("a charge that Stripe does not take is not sent, and a cheap package needs another way to pay", async () => {
    const cheap = { tokens: 200_000, price_fen: 399, days: 30 };
    expect((await service.call("/admin/v1/packages", { body: cheap })).status).toBe(201);
    await visit(page, "/top-up");
    const buy = page.getByRole("button", { name: "Buy for ¥3.99" });
    await buy.waitFor();
    expect(await buy.isDisabled()).toBe(true);
    await page.getByText("Not by Stripe, which takes ¥4.00 or more.").waitFor();
    await page.getByLabel("Payment method").selectOption("Alipay");
    expect(await buy.isEnabled()).toBe(true);
    const charge = page.getByLabel("Charge", { exact: true });
    await charge.fill("3.99");
    await page.getByText("A charge must be at least ¥4.00.").waitFor();
    expect(await charge.evaluate((field) => field.matches(":valid"))).toBe(false);
    await charge.fill("4");
    await page.getByText("below ¥20.00 the card is charged ¥4.00, at most 125 times").waitFor();
    expect(await charge.evaluate((field) => field.matches(":valid"))).toBe(true);
    expect(await faultsOf(page)).toEqual([]);
  });

  test("a discount says what customers pay before it is published", async () => {
    await visit(page, "/admin/prices");
    const steps = page.getByLabel("Steps");
    await steps.fill("1000 5\n10000 88");
    await page.getByText("from ¥1,000.00, 5% off: customers pay 95%; from ¥10,000.00, 88% off").waitFor();
    await steps.fill("1000 95");
    await page.getByText("a whole percentage from 1 to 90").waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  test("the owner of the first start is told that alerts reach nobody, and what to do", async () => {
    for (const [language, words] of [
      ["zh", ["提醒邮件没有人能收到", "用您的邮箱邀请自己为所有者", "请设置 SMTP_URL 并重启"]],
      ["en", ["These emails reach nobody", "Invite yourself as an owner with yours", "Set SMTP_URL"]],
    ] as const) {
      await browser.wear({ theme: "light", language, width: 1280 });
      await visit(page, "/settings");
      for (const each of words) await page.getByText(each).waitFor();
      expect(await faultsOf(page)).toEqual([]);
    }
    // With an owner who has an address, only the mail server is missing.
    const { id: account } = (await service.call("/v1/account")).body;
    await service.database.query(
      `insert into people."user" ("id", "name", "email", "emailVerified", "accountId")
       values ('u_boss', 'Boss', 'boss@example.com', true, $1)`,
      [account],
    );
    const join = `insert into people.member values ('u_boss', $1, $2, now())
      on conflict (user_id, account_id) do update set role = excluded.role`;
    const asked = page.getByText("Invite yourself as an owner with yours");
    for (const [role, count] of [
      ["developer", 1],
      ["owner", 0],
    ] as const) {
      await service.database.query(join, [account, role]);
      await visit(page, "/settings");
      await page.getByText("Set SMTP_URL").waitFor();
      expect(await asked.count()).toBe(count);
    }
  });

  test("the audit log shows whole IDs, at the width of a telephone, too", async () => {
    const { id } = await service.account(0);
    for (const width of [1280, 360]) {
      await browser.wear({ theme: "light", language: "en", width });
      await visit(page, "/admin/integrity");
      await page.getByText(id, { exact: true }).first().waitFor();
      // What is cut off is wider than its place.
      const cut = await page.evaluate(
        `[...document.querySelectorAll("main td code")].filter((code) => code.scrollWidth > code.clientWidth).length`,
      );
      expect(cut).toBe(0);
      expect(await faultsOf(page)).toEqual([]);
    }
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });

  test("maintenance begins only after a question", async () => {
    const isOn = async () => (await service.call("/v1/status", { key: null })).body.data.maintenance !== null;
    await visit(page, "/admin/board");
    const begin = page.getByRole("button", { name: "Begin maintenance" });
    const dialog = page.getByRole("dialog");
    await begin.click();
    await dialog.getByText("refused at once").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await isOn()).toBe(false);
    await page.getByLabel("Notice in English").fill("A new disk.");
    await begin.click();
    await dialog.getByRole("button", { name: "Begin maintenance" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await service.call("/v1/status", { key: null })).body.data.maintenance).toMatchObject({
      message: { en: "A new disk." },
    });
    await service.call("/admin/v1/maintenance", { body: { on: false } });
    expect(await isOn()).toBe(false);
  });

  test("an invoice is requested for a payment and issued; the statement has what was paid", async () => {
    await visit(page, "/invoices");
    await page.getByText("Save the invoice details first.").waitFor();
    await page.getByLabel("Name on the invoice").fill("北京某某科技有限公司");
    const taxNumber = page.getByLabel("Tax number");
    await taxNumber.fill("91350100M000100Y42");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("the check character of the first 17 is 3").waitFor();
    await taxNumber.fill("91350100m000100y43");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Invoice over ¥0.00").waitFor();
    await page.getByRole("checkbox", { name: "¥12.34" }).check();
    await page.getByText("Invoice over ¥12.34").waitFor();
    await page.getByRole("button", { name: "Request an invoice" }).click();
    await page
      .getByRole("row")
      .filter({ hasText: "¥12.34" })
      .getByText("Requested", { exact: true })
      .waitFor();
    await page.getByRole("checkbox", { name: "¥12.34" }).waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "Payment by Alipay" }).getByText("617,000").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await visit(page, "/admin/invoices");
    await page.getByRole("button", { name: "Record the number" }).click();
    await page.getByRole("dialog").getByLabel("Invoice number").fill("26112000000012345678");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await faultsOf(page)).toEqual([]);
    await visit(page, "/invoices");
    await page.getByText("26112000000012345678").waitFor();
  });

  test("what goes back of that payment is issued in red, and the customer sees it", async () => {
    const { data } = (await service.call("/admin/v1/invoices?state=issued")).body;
    const refund = { amount_fen: 234, reason: "complaint" };
    await service.call(`/admin/v1/payments/${data[0].payments[0]}/refunds`, { body: refund });
    await visit(page, "/admin/invoices");
    await page.locator("main select").first().selectOption({ label: "To correct" });
    await page.getByText("¥2.34 went back since: issue a red invoice").waitFor();
    await page.getByRole("button", { name: "Record a red invoice" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Amount (yuan)").inputValue()).toBe("2.34");
    await dialog.getByLabel("Invoice number").fill("26112000000012345679");
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("No invoices").waitFor();
    await visit(page, "/invoices");
    await page.getByText(/Red invoice of \d{4}-\d{2}-\d{2}: −¥2\.34/).waitFor();
    await page.getByText("26112000000012345679").waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  test("without email, the operator is asked for a reset link and no email is promised", async () => {
    await page.context().clearCookies();
    await visit(page, "/forgot");
    await page.getByRole("heading", { name: "Reset password" }).waitFor();
    expect(await page.getByText("We will send a reset link").count()).toBe(0);
    await page.getByLabel("Email").fill("somebody@example.com");
    await page.getByRole("button", { name: "Send reset link" }).click();
    await page.getByText("Ask the operator for a reset link").waitFor();
    expect(await page.getByText("we have sent it a link").count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
  });
});
