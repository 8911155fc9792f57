import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openBrowser } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import { startInProcess } from "./in-process.ts";
import { CLIENT, startSsoProvider } from "./sso-provider.ts";

test.skipIf(chromiumPath === undefined)(
  "a browser comes back from another site and is signed in",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "dataq-console-sso-"));
    const settings = join(folder, "sso.json");
    await using provider = await startSsoProvider();
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
    await using service = await startInProcess({ DATAQ_SSO: settings }, { isScripted: false });
    rmSync(folder, { recursive: true });
    provider.admit(service.url);
    const boss = { email: "boss@example.com", email_verified: true, name: "Wei", groups: ["bosses"] };
    provider.people.set("boss", boss);
    provider.present = "boss";
    await using browser = await openBrowser(service.url);
    const { page } = browser;
    for (const [language, label] of [
      ["zh", "使用 Example Login 登录"],
      ["en", "Sign in with Example Login"],
    ] as const) {
      await browser.wear({ theme: "light", language, width: 1440 });
      await page.goto("/console/sign-in?next=%2Fsettings");
      await page.getByRole("button", { name: label }).click();
      await page.waitForURL(`${service.url}/console/settings`);
      await page.getByText(boss.email).first().waitFor();
      await browser.signIn("");
    }
    provider.people.set("boss", { ...boss, groups: [] });
    await page.goto("/console/sign-in");
    await page.getByRole("button", { name: "Sign in with Example Login" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("no role");
    // The person is told no more, and the operator what to do.
    expect(await page.locator("body").textContent()).not.toContain("operators.claim");
    provider.people.set("boss", boss);
    for (const [language, words] of [
      ["en", "none of the values in operators.roles"],
      ["zh", "没有 operators.roles 列出的值"],
    ] as const) {
      await browser.wear({ theme: "light", language, width: 1440 });
      await page.goto("/console/sign-in?next=%2Fadmin%2Fintegrity");
      await page.getByRole("button", { name: "Example Login" }).click();
      await page.waitForURL(`${service.url}/console/admin/integrity`);
      await page.getByText(words).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await browser.signIn("");
    }
  },
);
