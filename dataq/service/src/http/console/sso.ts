import { Failure, type SsoCause, ssoCauses } from "@dataq/contract";
import { type Sent, type SsoRefusal, ssoRefusals, ssoStart, type startedSso } from "@dataq/contract/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { AUTH_PATH, SSO_PATH } from "../../people/auth-names.ts";
import { type Arrival, codeIn, type SingleSignOn } from "../../people/sso.ts";
import { check, readJson } from "../body.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";
import { assertOwnPage } from "./origin.ts";
import { innerRequest, passCookies } from "./sign-in.ts";

/** What a provider answers with, and nothing else that somebody puts into the address. */
const answers = ["code", "state", "iss", "error"] as const;

const LOGOUT_BYTES = 16_384;

/** better-auth's reasons to refuse somebody; all others are a failure of the exchange. */
const reasons: Readonly<Record<string, SsoRefusal>> = {
  account_not_linked: "mail_taken",
  access_denied: "cancelled",
  login_required: "cancelled",
  state_mismatch: "expired",
  state_not_found: "expired",
};

/** What better-auth's failures of the exchange mean. */
const causes: Readonly<Record<string, SsoCause>> = {
  issuer_mismatch: "other_issuer",
  invalid_code: "code_refused",
  oauth_provider_not_found: "provider_away",
  unable_to_get_user_info: "token_unverified",
  email_not_found: "no_mail",
};

/**
 * Single sign-on: the way to the provider and the return from it. The return is a link on another site, so the browser
 * brings only the cookie with the state. It sends the browser on to a page, whose own requests have the session.
 */
export function addSsoRoutes(
  app: FastifyInstance,
  parts: Pick<HttpParts, "people" | "database" | "clock" | "logger">,
): void {
  const { people, logger } = parts;
  const tellCause = ({ id }: FastifyRequest, why: Why & { readonly reason?: SsoRefusal }) => {
    const text = why.cause && ssoCauses[why.cause].en;
    logger.warn({ request_id: id, ...why, ...(text && { text }) }, "single sign-on failed");
  };

  app.post("/console/api/sso", async (request, reply): Promise<Sent<typeof startedSso>> => {
    assertOwnPage(request);
    const sso = ssoOf(people.sso);
    const { next } = check(ssoStart, readJson(request));
    // The cookie must be at the address that the provider sends people back to.
    const own = new URL(sso.returnUrl);
    if (request.headers.host !== own.host) return { url: `${own.origin}/console/sign-in` };
    const wish = {
      provider: sso.providerId,
      // better-auth takes only some characters.
      callbackURL: `/console/?next=${Buffer.from(next).toString("base64url")}`,
      errorCallbackURL: "/console/sign-in",
      disableRedirect: true,
    };
    const auth = await people.auth();
    const body = Buffer.from(JSON.stringify(wish));
    const answer = await auth.handler(innerRequest(request, `${AUTH_PATH}/sign-in/social`, body));
    await passCookies(request, reply, answer);
    if (answer.status !== 200) {
      tellCause(request, { cause: "provider_away" });
      throw new Failure("unavailable", { retry_after: 30 });
    }
    return { url: ((await answer.json()) as { url: string }).url };
  });

  app.get(`${SSO_PATH}/return`, async (request: FastifyRequest, reply) => {
    const sso = ssoOf(people.sso);
    const auth = await people.auth();
    const told = new URL(request.url, sso.returnUrl).searchParams;
    const query = new URLSearchParams(
      answers.flatMap((name) => {
        const value = told.get(name);
        return value === null ? [] : [[name, value] as [string, string]];
      }),
    );
    const path = `${AUTH_PATH}/callback/${sso.providerId}?${query}`;
    const { result, arrival } = await sso.arrive(() => auth.handler(innerRequest(request, path)));
    const author = authorOf(parts, request);
    const target = new URL(result.headers.get("location") ?? "/", sso.returnUrl);
    const error = target.searchParams.get("error");
    const session = result.headers.getSetCookie().find((one) => one.startsWith("dataq.session_token="));
    if (session === undefined || error !== null) {
      const refusal = refusalOf(error ?? "");
      // Whoever the provider no longer lets in loses what it gave them.
      if (arrival.personId !== undefined)
        await sso.settle(arrival.personId, {}, author, people.tellOfEndedKeys);
      const why = causeOf(arrival, error ?? "", refusal === "failed" ? told.get("error") : null);
      tellCause(request, { reason: refusal, ...why });
      await writeAudit(parts.database, author, "login.failure", "sso", null, { reason: refusal, ...why });
      return reply.header("cache-control", "no-store").redirect(`/console/sign-in#sso=${refusal}`);
    }
    const signedIn = await people.find(new Headers({ cookie: session.split(";", 1)[0]! }));
    if (!signedIn)
      throw new Failure("internal_error", {}, new Error("there is no session after single sign-on"));
    const { id } = signedIn.person;
    const actor = `user_${id}`;
    await sso.settle(id, arrival, { ...author, actor }, people.tellOfEndedKeys);
    if (arrival.role === undefined) await people.admit(id);
    await writeAudit(parts.database, { ...author, actor }, "login.success", actor, null, { by: "sso" });
    await passCookies(request, reply, result);
    const next = Buffer.from(target.searchParams.get("next") ?? "", "base64url").toString();
    return reply.redirect(`/console${next}`);
  });

  // OpenID Connect Back-Channel Logout: the provider itself says that somebody has left.
  app.post(`${SSO_PATH}/logout`, { bodyLimit: LOGOUT_BYTES }, async (request, reply) => {
    const sso = ssoOf(people.sso);
    await sso.logOut(tokenIn(request.body), authorOf(parts, request));
    return reply.header("cache-control", "no-store").send();
  });
}

function tokenIn(body: unknown): string {
  const token = new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : "").getAll("logout_token");
  if (token.length === 1) return token[0]!;
  throw new Failure("invalid_logout_token", {
    reason: "the form has no logout_token",
    zh: { reason: "表单中没有 logout_token" },
  });
}

function ssoOf(sso: SingleSignOn | undefined): SingleSignOn {
  if (!sso) throw new Failure("not_found", { what: "Single sign-on" });
  return sso;
}

function refusalOf(error: string): SsoRefusal {
  return ssoRefusals.find((one) => one === error) ?? reasons[error] ?? "failed";
}

/** What the operator is told and the person is not. */
interface Why {
  readonly cause?: SsoCause;
  /** With which code or status the provider refused it. */
  readonly said?: string;
}

function causeOf({ cause, said }: Arrival, error: string, told: string | null): Why {
  // The provider's own answer in the address; anybody can write there, so that only a code is taken.
  const refused = told === null ? undefined : codeIn(told);
  if (refused !== undefined && refused === error) return { cause: "provider_refused", said: refused };
  const found = cause ?? causes[error];
  return { ...(found && { cause: found }), ...(said !== undefined && { said }) };
}
