import type { FastifyInstance, FastifyRequest } from "fastify";
import { isLoopback } from "../accounts/address.ts";
import { type Action, authorise } from "../accounts/principal.ts";
import { forgetSum } from "../business/approvals.ts";
import { readJson } from "./body.ts";
import { takeAllowance } from "./call-limits.ts";
import { authenticate, findVisitor } from "./caller.ts";
import { assertSeenByTwo, type Watched } from "./four-eyes.ts";
import { isLocalHost } from "./host.ts";
import type { HttpParts } from "./parts.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** A sum that was let through. */
    passedSum: string | undefined;
  }
}

/**
 * Who may use a route. `public`: everybody. `visitor`: a user who is signed in at the console, with or
 * without an account. `local or operator`: everybody on this machine, and operators from elsewhere. An
 * action: a principal who is authorised for it (`accounts/principal.ts`).
 */
export type Access = "public" | "visitor" | "local or operator" | Action;

export interface RouteAccess {
  readonly access: Access;
  /** What a request takes from the account's allowance for management; see `manageLimitsOf`. */
  readonly cost: number;
  /** What fields of the body need besides `access`. */
  readonly fields?: Readonly<Record<string, Action>>;
  /** Whether maintenance refuses it: what asks a source or moves a customer's money. Operators are let through. */
  readonly pauses?: true;
  /** What it moves or gives away, which needs a second person if it is large or an offer. */
  readonly watched?: Watched;
  /** Why a public route may do more than read. Without it, a public route is a GET. */
  readonly why?: string;
}

/** Every route. The service does not start if a route has no row here. */
export const routeAccess: Readonly<Record<string, RouteAccess>> = {
  "GET /": row("public"),
  "GET /healthz": row("public"),
  "GET /readyz": row("public"),
  "GET /metrics": row("local or operator"),

  "GET /docs": row("public"),
  "GET /docs/errors/:code": row("public"),
  "GET /docs/*": row("public"),
  "GET /llms.txt": row("public"),
  "GET /openapi.json": row("public"),
  "GET /capabilities.json": row("public"),
  "GET /v1/catalog": row("public"),
  "GET /v1/catalog/:operation": row("public"),
  "GET /v1/pricing": row("public"),
  "GET /v1/status": row("public"),
  "GET /status": row("public"),

  "POST /v1/try": {
    ...open("it answers from what is here, for free, within limits of its own; it writes nothing"),
    pauses: true,
  },

  // Calls have limits of their own; see call-limits.ts.
  "POST /v1/data/query": row("data.query", 0),
  "POST /v1/data/estimate": row("data.query", 0),
  // A tool calls another route, with the access and the cost of that route; see routes/mcp.ts.
  "POST /mcp": row("data.query", 0),

  "GET /v1/balance": row("account.read"),
  "GET /v1/account": row("account.read"),
  "GET /v1/account/export": row("account.own", 20),
  "POST /v1/account/close": row("account.own"),
  "GET /v1/ledger": row("account.read"),
  "GET /v1/ledger/export": row("account.read", 20),
  "GET /v1/usage": row("account.read", 10),
  "GET /v1/usage.csv": row("account.read", 10),
  "GET /v1/requests": row("account.read"),
  "GET /v1/requests/:id": row("account.read"),
  "POST /v1/vouchers/redeem": { ...row("account.pay"), pauses: true },
  "GET /v1/prices": row("account.read", 5),

  "GET /v1/auto-top-up": row("account.read", 5),
  "PATCH /v1/auto-top-up": row("account.pay", 5),
  "DELETE /v1/auto-top-up": row("account.pay"),
  "GET /v1/packages": row("account.read", 5),
  "GET /v1/payments/options": row("account.read"),
  "GET /v1/payments": row("account.read"),
  "GET /v1/payments/:id": row("account.read"),
  "POST /v1/payments": { ...row("account.pay"), pauses: true },
  "GET /v1/payments/:id/receipt": row("account.read", 5),
  "GET /v1/statements/:month": row("account.read", 10),
  "GET /v1/statements/:month/pdf": row("account.read", 10),
  "GET /v1/invoices/buyer": row("account.read"),
  "PATCH /v1/invoices/buyer": row("account.pay"),
  "GET /v1/invoices": row("account.read"),
  "POST /v1/invoices": row("account.pay"),
  "POST /v1/payments/:provider/notify": open(
    "the provider's signature is the proof; without it nothing is read",
  ),

  "GET /v1/keys": row("keys.manage"),
  "POST /v1/keys": row("keys.manage"),
  "PATCH /v1/keys/:id": row("keys.manage"),
  "POST /v1/keys/:id/rotate": row("keys.manage"),
  "DELETE /v1/keys/:id": row("keys.manage"),
  "GET /v1/projects": row("account.read"),
  "POST /v1/projects": row("account.pay"),
  "PATCH /v1/projects/:id": row("account.pay"),
  "DELETE /v1/projects/:id": row("account.pay"),
  "POST /v1/keys/leak-report": open("the leaked key in the body is the proof; the report only revokes it"),

  "GET /v1/members": row("account.read"),
  "POST /v1/members/invitations": row("members.manage"),
  "DELETE /v1/members/invitations/:id": row("members.manage"),
  "PATCH /v1/members/:id": row("members.manage"),
  "DELETE /v1/members/:id": row("members.remove"),

  "GET /v1/webhooks": row("webhooks.manage"),
  "POST /v1/webhooks": row("webhooks.manage"),
  "PATCH /v1/webhooks/:id": row("webhooks.manage"),
  "DELETE /v1/webhooks/:id": row("webhooks.manage"),
  "POST /v1/webhooks/:id/rotate": row("webhooks.manage"),
  "GET /v1/webhooks/:id/deliveries": row("webhooks.manage"),
  "POST /v1/webhooks/:id/deliveries/:message/redeliver": row("webhooks.manage", 5),
  "GET /v1/watches": row("webhooks.manage"),
  // It asks the question, so it is limited like a call.
  "POST /v1/watches": { ...row("webhooks.manage", 0), pauses: true },
  "PATCH /v1/watches/:id": row("webhooks.manage"),
  "DELETE /v1/watches/:id": row("webhooks.manage"),
  "GET /v1/alerts": row("account.read"),
  "PATCH /v1/alerts": row("webhooks.manage"),

  "GET /admin/v1/accounts": row("service.read"),
  "POST /admin/v1/accounts": { ...row("service.operate"), watched: "tokens" },
  "GET /admin/v1/accounts/:id": row("service.read"),
  "PATCH /admin/v1/accounts/:id": {
    ...row("service.read"),
    fields: { tier: "service.support", frozen: "service.support", credit_limit: "service.finance" },
    watched: "credit_limit",
  },
  "POST /admin/v1/accounts/:id/keys": row("service.operate"),
  "POST /admin/v1/accounts/:id/adjust": { ...row("service.finance"), watched: "tokens" },
  "POST /admin/v1/accounts/:id/topups": { ...row("service.finance"), watched: "tokens" },
  "POST /admin/v1/refunds": { ...row("service.refund"), watched: "tokens" },
  "GET /admin/v1/payments": row("service.read"),
  "POST /admin/v1/payments/:id/confirm": { ...row("service.finance"), watched: "amount_fen" },
  "POST /admin/v1/payments/:id/refunds": { ...row("service.finance"), watched: "amount_fen" },
  "GET /admin/v1/invoices": row("service.read"),
  "GET /admin/v1/invoices/export": row("service.read", 20),
  "POST /admin/v1/invoices/:id/issue": row("service.finance"),
  "POST /admin/v1/invoices/:id/corrections": row("service.finance"),
  "GET /admin/v1/vouchers": row("service.read"),
  "POST /admin/v1/vouchers": { ...row("service.finance"), watched: "tokens" },
  "POST /admin/v1/prices": { ...row("service.finance"), watched: "offer" },
  "GET /admin/v1/maintenance": row("service.read"),
  "POST /admin/v1/maintenance": row("service.support"),
  "GET /admin/v1/approvals": row("service.read"),
  "POST /admin/v1/approvals/:id/reject": row("service.refund"),
  "GET /admin/v1/board": row("service.read", 50),
  "GET /admin/v1/accounts/:id/keys": row("service.read"),
  "GET /admin/v1/accounts/:id/usage": row("service.read", 10),
  "GET /admin/v1/accounts/:id/requests": row("service.read"),
  "GET /admin/v1/accounts/:id/ledger": row("service.read"),
  "GET /admin/v1/accounts/:id/notes": row("service.read"),
  "POST /admin/v1/accounts/:id/notes": row("service.note"),
  "GET /admin/v1/accounts/:id/prices": row("service.read"),
  "POST /admin/v1/accounts/:id/prices": { ...row("service.finance"), watched: "offer" },
  "POST /admin/v1/free-tiers": { ...row("service.finance"), watched: "offer" },
  "POST /admin/v1/volume-ladders": { ...row("service.finance"), watched: "offer" },
  "POST /admin/v1/packages": { ...row("service.finance"), watched: "offer" },
  "DELETE /admin/v1/packages/:id": row("service.finance"),
  "GET /admin/v1/coupons": row("service.read"),
  "POST /admin/v1/coupons": { ...row("service.finance"), watched: "coupon" },
  "PATCH /admin/v1/coupons/:code": { ...row("service.finance"), watched: "expires_at" },
  "GET /admin/v1/audit": row("service.read"),
  "GET /admin/v1/audit/export": row("service.read", 20),
  "GET /admin/v1/ledger/verify": row("service.read", 50),
  "GET /admin/v1/jobs": row("service.read"),
  "POST /admin/v1/imports": row("service.operate"),
  "POST /admin/v1/index/refresh": row("service.operate"),
  "GET /admin/v1/jobs/:id": row("service.read"),
  "POST /admin/v1/uploads": row("service.operate"),
  // A large file is uploaded in thousands of pieces.
  "POST /admin/v1/uploads/:id": row("service.operate", 0),
  "GET /admin/v1/open-data": row("service.read"),
  "POST /admin/v1/open-data/:name": row("service.operate"),
  "GET /admin/v1/datasets": row("service.read"),
  "GET /admin/v1/datasets/:operation/:name": row("service.read"),
  "POST /admin/v1/datasets/:operation/:name/remove": row("service.operate"),
  "POST /admin/v1/datasets/:operation/:name/restore": row("service.operate"),
  "GET /admin/v1/connectors": row("service.read"),
  "GET /admin/v1/vendors": row("service.read"),
  "POST /admin/v1/connectors": row("service.operate"),
  "DELETE /admin/v1/connectors/:name": row("service.operate"),
  "POST /admin/v1/connectors/:operation/test": row("service.operate"),

  "GET /console": row("public"),
  "GET /console/*": row("public"),
  "GET /console/auth/*": row("public"),
  "POST /console/auth/*": open("better-auth authorises these itself; none of them reaches the ledger"),
  "POST /console/api/sso": open("it only begins a sign-in, of which the provider decides"),
  "GET /console/sso/return": row("public"),
  "POST /console/sso/logout": open("the provider's signature is the proof; the token only ends sessions"),
  "GET /console/api/session": row("public"),
  "GET /console/api/sessions": row("visitor"),
  "DELETE /console/api/sessions/:id": row("visitor"),
  "POST /console/api/join": row("visitor"),
  "POST /console/api/account": row("visitor"),
  "POST /console/api/terms": row("visitor"),
  "GET /console/api/people": row("service.read"),
  "POST /console/api/people/:id/approve": row("service.support"),
  "POST /console/api/people/:id/reset-link": row("service.support"),
  "GET /console/api/models/tags": row("service.operate"),
  "GET /console/api/models/ps": row("service.operate"),
  "POST /console/api/models/pull": row("service.operate"),
  "POST /console/api/models/chat": row("service.operate"),
};

/** Finds out who sends a request, and refuses what they may not do, before the route runs. */
export function enforceAccess(app: FastifyInstance, parts: HttpParts): void {
  app.addHook("onRoute", ({ url, method }) => {
    for (const one of [method].flat()) {
      const found = routeAccess[nameOf(one, url)];
      if (found === undefined) throw new Error(`The route ${one} ${url} has no row in http/access.ts.`);
      if (mayDoTooMuch(one, found))
        throw new Error(
          `The route ${one} ${url} is public and not a GET: its row in http/access.ts must say why.`,
        );
    }
  });

  app.decorateRequest("passedSum", undefined);
  app.addHook("onSend", async ({ passedSum }, { statusCode }) => {
    // After an error of the service, money may have moved.
    if (passedSum !== undefined && statusCode >= 400 && statusCode < 500)
      await forgetSum(parts.database, passedSum);
  });

  app.addHook("preHandler", async (request) => {
    if (request.is404 || request.routeOptions.url === undefined) return;
    const { access, cost, fields, watched, pauses } =
      routeAccess[nameOf(request.method, request.routeOptions.url)]!;
    if (access === "public") {
      if (pauses) await parts.maintenance.assertOff(parts.clock());
      return;
    }
    if (access === "visitor") {
      request.visitor = await findVisitor(parts, request);
      return;
    }
    if (access === "local or operator") {
      if (!isFromHere(request)) authorise(await authenticate(parts, request), "service.read");
      return;
    }
    const principal = await authenticate(parts, request);
    authorise(principal, access, (request.params as { id?: string }).id);
    for (const [field, action] of Object.entries(fields ?? {}))
      if (hasField(request, field)) authorise(principal, action);
    if (access === "data.query") await parts.terms.assertAccepted(principal.account, parts.clock());
    if (watched !== undefined) request.passedSum = await assertSeenByTwo(parts, request, principal, watched);
    if (pauses && principal.account.role !== "admin") await parts.maintenance.assertOff(parts.clock());
    await takeAllowance(parts, principal, cost);
  });
}

/** Whether the body names a field, whatever its value. */
function hasField(request: FastifyRequest, field: string): boolean {
  const body = readJson(request);
  return typeof body === "object" && body !== null && field in body;
}

/**
 * A request that a proxy on this machine forwards is not local. Nor is one from a page that reached this machine
 * under another name.
 */
function isFromHere(request: FastifyRequest): boolean {
  const { headers, ip } = request;
  const isForwarded = (headers["x-forwarded-for"] ?? headers["forwarded"]) !== undefined;
  return isLoopback(ip) && !isForwarded && isLocalHost(headers.host);
}

/** A HEAD request is a GET request without the answer's body. */
function nameOf(method: string, url: string): string {
  return `${method === "HEAD" ? "GET" : method} ${url}`;
}

/** Whether a route that everybody may use could change something, and nobody said why it may. */
export function mayDoTooMuch(method: string, { access, why = "" }: RouteAccess): boolean {
  return access === "public" && method !== "GET" && method !== "HEAD" && why === "";
}

function open(why: string): RouteAccess {
  return { access: "public", cost: 1, why };
}

function row(access: Access, cost = 1): RouteAccess {
  return { access, cost, ...(access === "data.query" && { pauses: true }) };
}
