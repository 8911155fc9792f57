import type { Page } from "playwright-core";
import { settle, visit } from "./browser.ts";
import { callUrl, type ServiceProcess } from "./service-process.ts";

/** One thing to look at: a page in one of its states. */
export interface Sight {
  readonly name: string;
  readonly who: "nobody" | "newcomer" | "owner";
  /** A further state of a page that is in the list already. */
  readonly isState?: true;
  go(page: Page): Promise<void>;
}

const page = (name: string, path: string, who: Sight["who"] = "owner"): Sight => ({
  name,
  who,
  go: (at) => visit(at, path),
});

/** Every page, and every state that a page has beside its usual one. */
export function sights(requestId: string, accountId: string): readonly Sight[] {
  return [
    page("sign-in", "/sign-in", "nobody"),
    page("sign-up", "/sign-up", "nobody"),
    page("forgot", "/forgot", "nobody"),
    page("reset", "/reset#token=x", "nobody"),
    page("reset-broken-link", "/reset", "nobody"),
    page("verify", "/verify#token=x", "nobody"),
    page("pending", "/pending", "nobody"),
    page("enter", "/enter#token=x", "nobody"),
    {
      name: "sign-in-wrong",
      isState: true,
      who: "nobody",
      async go(at) {
        await visit(at, "/sign-in");
        await at.locator("input[name=email]").fill("nobody@example.com");
        await at.locator("input[name=password]").fill("not the password");
        await at.locator("button[type=submit]").click();
        await at.locator("[role=alert]").waitFor();
      },
    },
    page("overview-empty", "/", "newcomer"),
    page("keys-empty", "/keys", "newcomer"),
    page("usage-empty", "/usage", "newcomer"),
    page("requests-empty", "/requests", "newcomer"),
    page("settings-newcomer", "/settings", "newcomer"),
    page("overview", "/"),
    page("playground", "/playground?operation=legal_cases"),
    {
      name: "playground-list",
      isState: true,
      who: "owner",
      async go(at) {
        await visit(at, "/playground?operation=legal_cases");
        await ask(at);
      },
    },
    {
      name: "playground-tree",
      isState: true,
      who: "owner",
      async go(at) {
        await visit(at, "/playground?operation=legal_cases");
        await ask(at);
        await at.getByRole("tab").nth(1).click();
      },
    },
    {
      name: "playground-single",
      isState: true,
      who: "owner",
      async go(at) {
        await visit(at, "/playground?operation=enterprise_company_detail");
        await ask(at);
      },
    },
    {
      name: "playground-error",
      isState: true,
      who: "owner",
      async go(at) {
        await visit(at, "/playground?operation=enterprise_company_detail");
        await at.locator("main input").first().fill("123");
        await at.locator("button[type=submit]").click();
        await at.locator("[role=alert]").waitFor();
      },
    },
    page("keys", "/keys"),
    {
      name: "keys-make",
      isState: true,
      who: "owner",
      async go(at) {
        await visit(at, "/keys");
        await at.locator("main header button").first().click();
        await at.getByRole("dialog").waitFor();
      },
    },
    page("usage", "/usage"),
    page("requests", "/requests"),
    page("request", `/requests/${requestId}`),
    page("request-missing", "/requests/req_none"),
    page("ledger", "/ledger"),
    page("top-up", "/top-up"),
    page("pricing", "/pricing"),
    page("operation", "/pricing/legal_cases"),
    page("quick-start", "/quick-start"),
    page("settings", "/settings"),
    page("admin-accounts", "/admin/accounts"),
    page("admin-account", `/admin/accounts/${accountId}`),
    page("admin-vouchers", "/admin/vouchers"),
    page("admin-prices", "/admin/prices"),
    page("admin-sources", "/admin/sources"),
    {
      name: "admin-integrity",
      isState: true,
      who: "owner",
      async go(at) {
        await visit(at, "/admin/integrity");
        await at.locator("main header button").first().click();
        await at.locator("[role=status]").first().waitFor();
        await settle(at);
      },
    },
    page("admin-models", "/admin/models"),
    page("missing", "/no/such/page"),
    {
      name: "service-away",
      isState: true,
      who: "owner",
      async go(at) {
        await at.route("**/v1/**", (route) => route.abort());
        await at.goto("/console/ledger");
        await at.locator("[role=alert]").first().waitFor();
        await at.unroute("**/v1/**");
      },
    },
  ];
}

async function ask(at: Page): Promise<void> {
  await at.getByTestId("price").waitFor();
  await at.locator("button[type=submit]").click();
  await at.getByTestId("charged").waitFor();
  await settle(at);
}

/** An account with a past: keys with long names, calls that went well, were cached and failed, some money. */
export async function makePast(service: ServiceProcess): Promise<{ requestId: string; accountId: string }> {
  const ask = (body: object, key?: string) => service.call("/v1/data/query", { body, ...(key && { key }) });
  const first = await ask({ operation: "legal_laws", params: { query: "民法典 第五百七十七条" } });
  for (let i = 0; i < 2; i++) await ask({ operation: "legal_cases", params: { query: "民间借贷" } });
  await ask({ operation: "research_paper_search", params: { query: "人工智能" } });
  await ask({ operation: "enterprise_company_detail", params: { tax_id: "91350100M000100Y4Z" } });
  await ask({ operation: "content_hot_rank", params: { platform: "weibo" } });
  const long =
    "a very long name of a key that somebody gave to it because they could 非常非常非常长的密钥名称".slice(
      0,
      90,
    );
  await service.call("/v1/keys", { body: { name: long, monthly_cap: 5_000_000 } });
  const soon = new Date(Date.now() + 2 * 86_400_000).toISOString();
  await service.call("/v1/keys", { body: { name: "nightly report", mode: "test", expires_at: soon } });
  const { body: gone } = await service.call("/v1/keys", { body: { name: "<img src=x onerror=alert(1)>" } });
  await service.call(`/v1/keys/${gone.id}`, { method: "DELETE" });
  const { body: made } = await service.call("/admin/v1/accounts", {
    body: {
      name: "<script>document.title='broken'</script> 北京某某信息科技股份有限公司",
      email: "a.very.long.address.of.somebody@subdomain.of.a.company.example.com",
      tokens: 1000,
    },
  });
  await ask({ operation: "legal_laws", params: { query: "公司法" } }, made.keys[0]);
  return { requestId: first.body.request_id, accountId: made.account_id };
}

/** Signs somebody up over the wire and gives their cookie. */
export async function signUp(url: string, email: string, name: string): Promise<string> {
  const { headers } = await callUrl(`${url}/console/auth/sign-up/email`, {
    body: { name, email, password: "correct horse battery" },
    headers: { "x-console": "1" },
  });
  return sessionOf(headers);
}

export async function enter(service: ServiceProcess): Promise<string> {
  const token = new URL(service.console).hash.slice("#token=".length);
  const { headers } = await callUrl(`${service.url}/console/auth/local-link/enter`, {
    body: { token },
    headers: { "x-console": "1" },
  });
  return sessionOf(headers);
}

function sessionOf(headers: Headers): string {
  const cookie = headers.getSetCookie().find((line) => line.startsWith("dataq.session_token="));
  if (!cookie) throw new Error("No session was given.");
  return decodeURIComponent(cookie.split(";", 1)[0]!.slice("dataq.session_token=".length));
}
