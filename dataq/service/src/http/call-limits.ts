import { Failure } from "@dataq/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../accounts/key.ts";
import { limitHeaders } from "../limits/limiter.ts";
import { limitsOf } from "../limits/tier.ts";
import { chinaDate } from "../sources/china-time.ts";
import { admit, type HttpParts } from "./app.ts";

/** A caller who may query, within the limits of account and key. Open until the response is out. */
export async function admitCall(
  parts: HttpParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal> {
  const principal = await admit(parts, request, "data:query");
  const now = parts.clock();
  const limits = limitsOf(principal.account.tier);
  const verdict = await parts.limiter.admit({
    requestId: request.id,
    accountId: principal.account.id,
    keyId: principal.key.id,
    limits,
    keyPerSecond: principal.key.perSecond,
    now,
    day: chinaDate(now),
  });
  reply.headers(limitHeaders(limits, verdict));
  if (verdict.refused) throw new Failure(verdict.refused, { retry_after: verdict.retryAfterS });
  const end = () => {
    parts.limiter
      .end(request.id)
      .catch((error: Error) =>
        parts.logger.warn(
          { request_id: request.id, err: error.message },
          "the call stays counted as open for a while",
        ),
      );
  };
  if (reply.raw.destroyed) end();
  else reply.raw.once("close", end);
  return principal;
}
