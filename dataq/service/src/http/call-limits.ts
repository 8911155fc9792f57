import { chinaDate, Failure } from "@dataq/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../accounts/principal.ts";
import { limitHeaders } from "../limits/limiter.ts";
import { limitsOf, manageLimitsOf } from "../limits/tier.ts";
import { principalOf } from "./caller.ts";
import type { HttpParts } from "./parts.ts";

/**
 * Admits a call within the limits of account and key. It counts as open until the response is out, and as `cost` calls
 * for the rate.
 */
export async function admitCall(
  parts: HttpParts,
  request: FastifyRequest,
  reply: FastifyReply,
  cost = 1,
): Promise<Principal> {
  const principal = principalOf(request);
  const now = parts.clock();
  const limits = limitsOf(principal.account.tier);
  const verdict = await parts.limiter.admit({
    requestId: request.id,
    accountId: principal.account.id,
    keyId: principal.spendAs,
    limits,
    keyPerSecond: principal.perSecond,
    now,
    day: chinaDate(now),
    cost,
  });
  reply.headers(limitHeaders(limits, verdict));
  if (verdict.refused) throw new Failure(verdict.refused, { retry_after: verdict.retryAfterS });
  const end = () => {
    parts.limiter
      .end(request.id)
      .catch((error: Error) =>
        parts.logger.warn(
          { request_id: request.id, err: error.message },
          "could not end the call in the limiter",
        ),
      );
  };
  if (reply.raw.destroyed) end();
  else reply.raw.once("close", end);
  return principal;
}

/** Takes the cost of a request from the account's allowance for management. Throws `rate_limited`. */
export async function takeAllowance(
  parts: Pick<HttpParts, "limiter" | "clock">,
  { account }: Principal,
  cost: number,
): Promise<void> {
  if (cost === 0) return;
  const waitS = await parts.limiter.take(
    `manage:${account.id}`,
    cost,
    manageLimitsOf(account.tier),
    parts.clock(),
  );
  if (waitS !== undefined) throw new Failure("rate_limited", { retry_after: waitS });
}
