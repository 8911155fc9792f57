import type { SsoCause } from "@dataq/contract";
import type { Role } from "../accounts/scope.ts";
import type { SsoSettings } from "./sso-settings.ts";

/** What the provider says of a person. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly sub: string;
  readonly email?: string;
  readonly emailVerified: boolean;
  readonly name?: string;
};

const LIMIT_MS = 10_000;

/**
 * The claims of a person: those of the ID token, whose signature, audience and nonce better-auth has checked, and what
 * else the provider tells about them; or why they do not count.
 */
export async function claimsOf(
  {
    idToken,
    accessToken,
  }: { readonly idToken?: string | undefined; readonly accessToken?: string | undefined },
  settings: SsoSettings,
): Promise<Claims | SsoCause> {
  const own = idToken === undefined ? undefined : claimsIn(idToken);
  if (own === undefined) return "token_unverified";
  // better-auth takes the issuer from the provider's own description, which may name another one.
  if (own["iss"] !== settings.issuer) return "other_issuer";
  const { aud, azp, sub } = own;
  const isForOthersToo = Array.isArray(aud) && aud.length > 1;
  if ((isForOthersToo || azp !== undefined) && azp !== settings.client_id) return "for_others";
  if (typeof sub !== "string" || sub === "") return "person_untold";
  const hasAll =
    own["email"] !== undefined &&
    own["email_verified"] !== undefined &&
    (settings.operators === undefined || valueAt(own, settings.operators.claim) !== undefined);
  const more = hasAll || accessToken === undefined ? {} : await askAbout(sub, accessToken, settings);
  if (typeof more === "string") return more;
  const all = { ...more, ...own };
  const { email, name, email_verified } = all as Record<string, unknown>;
  return {
    ...all,
    sub,
    emailVerified: email_verified === true || email_verified === "true",
    ...(typeof email === "string" && { email }),
    ...(typeof name === "string" && { name }),
  };
}

/** The role that the claim gives. Nothing gives one by default. */
export function roleIn(
  claims: Readonly<Record<string, unknown>>,
  { operators }: SsoSettings,
): Role | undefined {
  if (operators === undefined) return undefined;
  const { claim, roles } = operators;
  const held = [valueAt(claims, claim)].flat().filter((one) => typeof one === "string");
  const order = ["owner", "finance", "support", "read-only"] as const;
  return order.find((role) => roles[role].some((value) => held.includes(value)));
}

/** Why a person has no role; undefined if no claim gives one. */
export function lackIn(
  claims: Readonly<Record<string, unknown>>,
  { operators }: SsoSettings,
): SsoCause | undefined {
  if (operators === undefined) return undefined;
  return valueAt(claims, operators.claim) === undefined ? "no_claim" : "no_value";
}

/** Where the provider describes itself. */
export function discoveryUrlOf({ issuer }: SsoSettings): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

/** Asks the provider about the person; or why its answer does not count. */
async function askAbout(
  sub: string,
  accessToken: string,
  settings: SsoSettings,
): Promise<Record<string, unknown> | SsoCause> {
  const provider = await readObject(discoveryUrlOf(settings)).catch(() => undefined);
  if (provider === undefined) return "provider_away";
  const place = provider["userinfo_endpoint"];
  if (provider["issuer"] !== settings.issuer) return "other_issuer";
  // A provider without this endpoint has told everything in the token.
  if (typeof place !== "string") return {};
  const told = await readObject(place, { authorization: `Bearer ${accessToken}` }).catch(() => undefined);
  return told?.["sub"] === sub ? told : "person_untold";
}

/** Reads an object of the provider. Undefined if it answers with an error or something else. */
export async function readObject(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown> | undefined> {
  const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(LIMIT_MS) });
  if (!answer.ok) return undefined;
  const body: unknown = await answer.json();
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : undefined;
}

function claimsIn(idToken: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()) as Record<
      string,
      unknown
    >;
  } catch {
    return undefined;
  }
}

/** The claim with this name, or else the one that the dots lead to. */
function valueAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}
