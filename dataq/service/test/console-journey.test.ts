import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openBrowser, type TestBrowser, visit } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type LetterBox, openLetterBox } from "./letter-box.ts";
import { codeOf } from "./totp.ts";

/** A customer of a hosted service, from the first visit to a new password, in one browser. */
describe.skipIf(!chromiumPath)("a customer's journey, in Debian's chromium", () => {
  let box: LetterBox;
  let service: InProcessService;
  let browser: TestBrowser;
  let page: Page;
  let key = "";
  let verification = "";

  beforeAll(async () => {
    box = await openLetterBox();
    service = await startInProcess({ DATAQ_MODE: "hosted", SMTP_URL: box.url });
    service.nowMs = Date.now();
    browser = await openBrowser(service.url);
    page = browser.page;
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await box?.close();
  });

  const email = "wang@example.com";
  const person = async () =>
    (await service.call("/console/api/people")).body.data.find(
      (one: { email: string }) => one.email === email,
    );
  /** Moves the clock of the service and of the page. */
  const moveClock = async (ms: number) => {
    service.nowMs += ms;
    await page.clock.setFixedTime(service.nowMs);
  };

  test("sign-up sends an email in both languages and needs its link", async () => {
    await visit(page, "/keys");
    await page.waitForURL("**/console/sign-in?*");
    await page.getByRole("link", { name: "Create account" }).click();
    // No tokens are promised before the approval.
    await page.getByText("Approved accounts receive trial tokens.").waitFor();
    expect(await page.textContent("main, body")).not.toContain("2,000,000");
    await page.getByLabel("Name").fill("Wang Fang");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText(`We sent a link to ${email}.`).waitFor();

    const letter = await box.next(email);
    expect(letter).toMatchObject({
      from: "console@dataq.example",
      subject: "dataq: verify your address · 验证邮箱",
    });
    expect(letter.text).toContain("Open this link to verify your address.");
    expect(letter.text).toContain("请打开以下链接验证邮箱");
    expect(letter.link).toMatch(/\/console\/verify#token=\S{40,}$/);
    expect(new URL(letter.link).origin).toBe(service.url);
    verification = letter.link;

    await visit(page, "/sign-in");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("or the address is not verified yet").waitFor();
    // A sign-in attempt sends it again.
    expect((await box.next(email)).link).toContain("/console/verify#token=");
  });

  test("a sign-in does not say whether an unverified address is known", async () => {
    const signIn = async (address: string, password: string) => {
      const body = { email: address, password };
      const headers = { "x-console": "1" };
      const answer = await service.call("/console/auth/sign-in/email", { key: null, body, headers });
      return { status: answer.status, body: answer.body, cookies: answer.headers.getSetCookie() };
    };
    const unknown = await signIn("nobody@example.com", "correct horse battery");
    expect(unknown).toMatchObject({ status: 401, body: { code: "INVALID_EMAIL_OR_PASSWORD" }, cookies: [] });
    expect(await signIn(email, "correct horse battery")).toEqual(unknown);
    expect(await signIn(email, "another long password")).toEqual(unknown);
    expect((await box.next(email)).link).toContain("/console/verify#token=");
  });

  test("the email's link verifies once; then the operator's approval grants the trial", async () => {
    await page.goto(verification);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("Your email address is verified.").waitFor();
    expect(page.url()).not.toContain("token");
    await page.getByRole("link", { name: "Go to console" }).click();
    await page.getByRole("heading", { name: "Awaiting approval" }).waitFor();
    const token = new URL(verification).hash.slice("#token=".length);
    const again = await fetch(`${service.url}/console/auth/verify-email?token=${token}`, {
      headers: { "x-console": "1" },
    });
    expect(again.headers.getSetCookie().join()).not.toContain("session_token=");

    expect(await person()).toMatchObject({ is_verified: true, is_approved: false, account_id: null });
    await service.call(`/console/api/people/${(await person()).id}/approve`, { body: {} });
    await visit(page, "/");
    await page.getByRole("heading", { name: "Hello, Wang Fang" }).waitFor();
    await page.getByText("2,000,000 tokens").first().waitFor();
    // This owner gets alerts by email.
    await visit(page, "/settings");
    await page.getByRole("heading", { name: "Alerts" }).waitFor();
    expect(await page.getByText("These emails reach nobody").count()).toBe(0);
  });

  test("a new key is shown once and works", async () => {
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Create API key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("report");
    await dialog.getByRole("button", { name: "Create API key" }).click();
    key = (await page.getByTestId("new-key").textContent())!;
    expect(key).toMatch(/^dq_live_[0-9A-Za-z]{36}$/);
    await page.getByLabel("I have saved the key").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("report").first().waitFor();
    expect(await page.content()).not.toContain(key);
    expect((await service.call("/v1/balance", { key })).status).toBe(200);
  });

  test("the playground shows the price, charges it and links to the ledger entries", async () => {
    await visit(page, "/playground?operation=legal_cases");
    const price = page.getByTestId("price");
    await price.getByText("5,000 tokens").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByTestId("charged").filter({ hasText: "5,000 tokens charged" }).waitFor();
    // A repeat costs half, and the page says so beforehand.
    await page.getByText("you made this call recently").waitFor();
    await price.getByText("2,500 tokens").waitFor();
    await page.getByRole("link", { name: "Call details" }).click();
    await page.getByText("Ledger entries").waitFor();
    await page.getByText("−5,000").waitFor();
    await page.getByText("Held", { exact: true }).first().waitFor();
    await page.getByText("Charged", { exact: true }).first().waitFor();
    expect((await service.call("/v1/balance", { key })).body.balance).toBe(1_995_000);
  });

  test("explains an empty balance, and a voucher tops it up", async () => {
    const { account_id } = await person();
    const taken = { tokens: -1_995_000, reason: "test" };
    await service.call(`/admin/v1/accounts/${account_id}/adjust`, { body: taken });
    await visit(page, "/");
    await page.getByText("Your balance is used up").waitFor();
    await visit(page, "/playground?operation=research_paper_search");
    await page.getByText("Your balance is too low.").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Your balance is too low for this call").waitFor();
    await page.getByText("Your balance is 0 tokens. This call costs 500; you need 500 more.").waitFor();

    const { body } = await service.call("/admin/v1/vouchers", { body: { tokens: 50_000, batch: "journey" } });
    await page.getByRole("main").getByRole("link", { name: "Top up" }).click();
    // The playground, which may still be shown, has a "code" too.
    await page.getByRole("textbox", { name: "Code" }).fill(body.codes[0]);
    await page.getByRole("button", { name: "Redeem" }).click();
    await page.getByText("Added 50,000 tokens (¥1.00).").waitFor();
    const { data } = (await service.call("/admin/v1/vouchers?state=redeemed")).body;
    expect(data).toEqual([
      expect.objectContaining({ batch: "journey", tokens: 50_000, redeemed_by: account_id }),
    ]);
    expect(JSON.stringify(data)).not.toContain(body.codes[0]);

    await visit(page, "/playground?operation=research_paper_search");
    await page.getByText("49,500 tokens left after this call.").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByTestId("charged").waitFor();
  });

  test("a rotated key works until its grace period ends; a revoked key stops at once", async () => {
    const answers = async (text: string) => (await service.call("/v1/balance", { key: text })).status;
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Rotate: report" }).click();
    await page.getByLabel("Old key keeps working for").selectOption({ label: "1 hour" });
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const next = (await page.getByTestId("new-key").textContent())!;
    await page.getByLabel("I have saved the key").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("Expiring soon").waitFor();
    await moveClock(3_599_000);
    for (const text of [key, next]) expect(await answers(text)).toBe(200);
    await moveClock(2_000);
    expect(await answers(key)).toBe(401);
    expect(await answers(next)).toBe(200);
    await page.reload();
    await page.getByText("Expired", { exact: true }).waitFor();

    const row = page.getByRole("row").filter({ hasText: "Active" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByText("Revoked", { exact: true }).waitFor();
    expect(await answers(next)).toBe(401);
  });

  test("a reported leak revokes the key and notifies the owner by email", async () => {
    const accounts = (await service.call("/admin/v1/accounts")).body.data;
    const { id } = accounts.find((account: { email: string | null }) => account.email === email);
    const made = (await service.call(`/admin/v1/accounts/${id}/keys`, { body: { name: "in a paste" } })).body;
    const [leaked] = made.keys;
    await service.call("/v1/keys/leak-report", { key: null, body: { key: leaked } });
    const letter = await box.next(email, "leaked");
    expect(letter.subject).toBe("dataq: one of your API keys was leaked · API 密钥泄露");
    expect(letter.text).toContain(`"in a paste" (…${leaked.slice(-4)})`);
    expect(letter.text).not.toContain(leaked.slice(8, -4));
    expect(letter.link).toBe(`${service.url}/console/keys`);
    expect((await service.call("/v1/balance", { key: leaked })).status).toBe(401);
  });

  test("switches the language and remembers it", async () => {
    await page.getByRole("button", { name: "切换为中文" }).click();
    await page.getByRole("heading", { name: "API 密钥" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "API 密钥" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    await page.getByRole("button", { name: "Switch to English" }).click();
    await page.getByRole("heading", { name: "API keys" }).waitFor();
  });

  test("works by keyboard: skip link, dialog, focus returned", async () => {
    await visit(page, "/keys");
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await expect.poll(focused).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Create API key");
    await page.keyboard.press("Enter");
    await page.locator("[role=dialog] :focus, [role=dialog]:focus").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(focused).toBe("Create API key");
  });

  test("Ctrl-K leads to pages, operations, keys and the documentation by keyboard alone", async () => {
    await visit(page, "/usage");
    const goTo = async (text: string, name: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Page, operation" }).fill(text);
      await page.getByRole("option", { name }).first().waitFor();
      await page.keyboard.press("Enter");
    };
    await goTo("webh", "Webhooks Page");
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    await goTo("引注核查", "Citation check Operation");
    await page.waitForURL("**/console/playground?operation=legal_citation_check");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Page, operation" }).fill("no such thing");
    await page.getByText("Nothing found.").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await goTo("refunds", "Refunds");
    await page.waitForURL("**/docs/dataq/billing#refunds-of-calls");
  });

  test("an invited person verifies their address, joins once and sees the account", async () => {
    const invited = "li@example.com";
    await visit(page, "/settings");
    await page.getByLabel("Email").fill(invited);
    await page.getByLabel("Role", { exact: true }).selectOption("read-only");
    await page.getByRole("button", { name: "Invite member" }).click();
    const link = (await page.getByText("/console/join#token=").textContent())!;

    await using guest = await openBrowser(service.url);
    await guest.wear({ theme: "light", language: "en", width: 1280 });
    await guest.page.goto(link);
    await guest.page.getByRole("link", { name: "Create account" }).click();
    await guest.page.waitForURL("**/console/sign-up*");
    expect(guest.page.url()).not.toContain("token");
    await guest.page.getByLabel("Name").fill("Li Na");
    await guest.page.getByLabel("Email").fill(invited);
    await guest.page.getByLabel("Password").fill("correct horse battery");
    await guest.page.getByRole("button", { name: "Create account" }).click();
    await guest.page.getByText("Then open your invitation link again.").waitFor();
    await guest.page.goto((await box.next(invited)).link);
    await guest.page.getByRole("button", { name: "Verify" }).click();
    await guest.page.getByRole("link", { name: "Go to console" }).click();
    await guest.page.getByRole("button", { name: "Join" }).click();
    await guest.page.getByRole("heading", { name: "Hello, Li Na" }).waitFor();
    await guest.page.getByText("49,500 tokens").first().waitFor();
    // Who may only read is told so, and is offered no form that ends in a refusal.
    for (const path of ["/keys", "/top-up", "/playground", "/invoices", "/webhooks"]) {
      await visit(guest.page, path);
      await guest.page.getByText("Your role does not allow this action.").first().waitFor();
      expect(
        await guest.page
          .locator("main")
          .getByRole("button", { name: /^(Create|Redeem|Send|Request|Save|Add)/ })
          .count(),
      ).toBe(0);
    }
    await guest.page.goto(link);
    await guest.page.getByRole("button", { name: "Join" }).click();
    await guest.page.getByRole("alert").waitFor();
    const other = guest.page.getByRole("button", { name: "Sign in with another account" });
    await expect.poll(() => other.getAttribute("class")).toContain("bg-accent");

    await page.reload();
    await expect.poll(() => page.getByLabel("Role of Li Na").inputValue()).toBe("read-only");

    await visit(guest.page, "/settings");
    await guest.page.getByRole("button", { name: "Leave" }).click();
    await guest.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await guest.page.getByRole("dialog").waitFor({ state: "detached" });
    await guest.page.getByRole("button", { name: "Leave" }).click();
    await guest.page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
    await guest.page.getByRole("heading", { name: "Awaiting approval" }).waitFor();
    expect(guest.complaints).toEqual([]);
    await visit(page, "/settings");
    await page.getByRole("listitem").filter({ hasText: email }).waitFor();
    expect(await page.getByLabel("Role of Li Na").count()).toBe(0);
  });

  test("a password reset by email ends every session", async () => {
    const other = await browser.context.cookies(service.url);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await visit(page, "/keys");
    await page.waitForURL("**/console/sign-in?*");

    const ask = async (address: string) => {
      await visit(page, "/forgot");
      await page.getByLabel("Email").fill(address);
      await page.getByRole("button", { name: "Send reset link" }).click();
      await page.getByText("If an account has this email address").waitFor();
    };
    await ask("nobody.here@example.com");
    await ask(email);
    const letter = await box.next(email, "password");
    expect(letter.subject).toBe("dataq: choose a new password · 重置密码");
    expect(letter.text).toContain("It works once, for one hour");
    expect(letter.text).toContain("请打开以下链接重置密码");
    expect(box.letters.filter(({ to }) => to === "nobody.here@example.com")).toEqual([]);

    await page.goto(letter.link);
    await page.getByLabel("New password").fill("a wholly different one");
    await page.getByRole("button", { name: "Save password" }).click();
    await page.getByText("Password changed.").waitFor();
    await browser.context.addCookies(other);
    await visit(page, "/keys");
    await page.waitForURL("**/console/sign-in?*");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill("a wholly different one");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    expect(browser.complaints).toEqual([]);
  });

  test("enables two-factor authentication, and the next sign-in asks for a code", async () => {
    await visit(page, "/settings");
    const factor = page.locator("section").filter({ hasText: "Two-factor authentication" });
    await factor.getByLabel("Password").fill("a wholly different one");
    await factor.getByRole("button", { name: "Enable" }).click();
    const secret = (await factor.getByTestId("totp-secret").textContent())!;
    await factor.getByLabel("Code").fill(codeOf(secret));
    await factor.getByRole("button", { name: "Verify and enable" }).click();
    await factor.getByText("On", { exact: true }).waitFor();

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill("a wholly different one");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Code").fill("000000");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Code").fill(codeOf(secret));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Hello, Wang Fang" }).waitFor();
    expect(browser.complaints).toEqual([]);
  });

  test("the log contains no link and no mail password", () => {
    const secrets = box.letters.map(({ link }) => new URL(link).hash.slice("#token=".length));
    for (const secret of secrets.filter((text) => text !== "")) expect(service.log()).not.toContain(secret);
    expect(service.log()).not.toContain(new URL(box.url).password);
  });
});
