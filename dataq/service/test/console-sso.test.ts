import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { type Language, openBrowser, type TestBrowser } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { CLIENT, type SsoProvider, startSsoProvider } from "./sso-provider.ts";

const boss = { email: "boss@example.com", email_verified: true, name: "Wei", groups: ["bosses"] };

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "dataq-console-sso-"));
  let provider: SsoProvider;
  let service: InProcessService;
  let browser: TestBrowser;

  beforeAll(async () => {
    provider = await startSsoProvider();
    const settings = join(folder, "sso.json");
    writeFileSync(
      settings,
      JSON.stringify({
        name: "Example Login",
        issuer: provider.issuer,
        ...CLIENT,
        scopes: ["openid", "profile", "email", "groups"],
        mail_domains: ["example.com"],
        operators: { claim: "groups", roles: { owner: ["bosses"] } },
      }),
    );
    service = await startInProcess({ DATAQ_SSO: settings }, { isScripted: false });
    provider.admit(service.url);
    provider.people.set("boss", boss);
    provider.present = "boss";
    browser = await openBrowser(service.url);
  }, 60_000);
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const buttons = { zh: "使用 Example Login 登录", en: "Sign in with Example Login" } as const;
  /** Presses the button of the sign-in page, which leads to another site and back. */
  async function begin(language: Language, next: string): Promise<void> {
    const { page } = browser;
    await browser.wear({ theme: "light", language, width: 1440 });
    await page.goto(`/console/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByRole("button", { name: buttons[language] }).click();
  }

  test("somebody comes back from another site and is signed in", async () => {
    const { page } = browser;
    for (const language of ["zh", "en"] as const) {
      await begin(language, "/settings");
      await page.waitForURL(`${service.url}/console/settings`);
      await page.getByText(boss.email).first().waitFor();
      await browser.signIn("");
    }
  });

  test("whoever is not let in is told little, and the operator what to do", async () => {
    const { page } = browser;
    provider.people.set("boss", { ...boss, groups: [] });
    await begin("en", "/");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("no role");
    expect(await page.locator("body").textContent()).not.toContain("operators.claim");
    provider.people.set("boss", boss);
    await begin("en", "/admin/integrity");
    await page.waitForURL(`${service.url}/console/admin/integrity`);
    await page.getByText("none of the values in operators.roles").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await browser.wear({ theme: "light", language: "zh", width: 1440 });
    await page.reload();
    await page.getByText("没有 operators.roles 列出的值").waitFor();
  });
});
