import { Failure } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import { callerOf } from "../accounts/address.ts";
import type { Author } from "../accounts/audit.ts";
import type { Principal } from "../accounts/principal.ts";
import type { SignedIn } from "../people/people.ts";
import { assertOwnPage } from "./console/origin.ts";
import { hasCredentials, headersOf, readCredentials } from "./credentials.ts";
import type { HttpParts } from "./parts.ts";
import { scrub } from "./scrub.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set for routes that need a principal, even if it is then rejected. */
    principal: Principal | null;
    /** Set for routes that need a visitor. */
    visitor: SignedIn | null;
  }
}

/** Wrong keys that one address may send. */
const failedKeys = { perSecond: 1 / 3, burst: 20 };

/**
 * The key or the signed-in member behind a request. Wrong keys are counted by address, and refused with 429 when there
 * are too many; valid keys from the same address are not affected.
 */
export async function authenticate(parts: HttpParts, request: FastifyRequest): Promise<Principal> {
  const now = parts.clock();
  let principal: Principal;
  try {
    principal =
      (await memberOf(parts, request)) ??
      (await parts.keys.authenticate(readCredentials(request), request.ip, now, (reason) =>
        parts.logger.warn({ request_id: request.id, ip: request.ip, reason }, "API key rejected"),
      ));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "invalid_api_key") throw error;
    const waitS = await parts.limiter.take(`ip:${callerOf(request.ip)}`, 1, failedKeys, now);
    throw waitS === undefined ? error : new Failure("rate_limited", { retry_after: waitS });
  }
  request.principal = principal;
  if (principal.key) void parts.keys.noteUse(principal.key, now).catch(() => {});
  return principal;
}

/** The principal of a route that needs one. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error("This route does not authenticate its caller; see http/access.ts.");
  return request.principal;
}

/** The visitor of a route that needs one. */
export function visitorOf(request: FastifyRequest): SignedIn {
  if (!request.visitor) throw new Error("This route has no visitor; see http/access.ts.");
  return request.visitor;
}

/** Somebody who is signed in, whether they have an account or not. */
export async function findVisitor(
  { people }: Pick<HttpParts, "people">,
  request: FastifyRequest,
): Promise<SignedIn> {
  if (request.method !== "GET" && request.method !== "HEAD") assertOwnPage(request);
  const signedIn = await people.find(headersOf(request));
  if (!signedIn) throw new Failure("missing_api_key");
  return signedIn;
}

/** Who changes something through this request, for the audit log. */
export function authorOf(parts: Pick<HttpParts, "clock">, request: FastifyRequest): Author {
  const { principal, visitor } = request;
  return {
    actor: principal?.id ?? (visitor ? `user_${visitor.person.id}` : "nobody"),
    now: parts.clock(),
    ip: request.ip,
    userAgent: scrub(request.headers["user-agent"] ?? "") || undefined,
    requestId: request.id,
  };
}

/** A member who is signed in at the console. Requests that change something must come from the console's own pages. */
async function memberOf(parts: HttpParts, request: FastifyRequest): Promise<Principal | undefined> {
  if (hasCredentials(request)) return undefined;
  const member = await parts.people.principalOf(headersOf(request));
  if (member && request.method !== "GET" && request.method !== "HEAD") assertOwnPage(request);
  return member;
}
