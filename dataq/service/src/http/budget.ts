import { invalid } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import type { Principal } from "../accounts/principal.ts";
import type { SessionBudget } from "../ledger/session-spend.ts";

/**
 * The budget of the caller's session, if it has one: the X-Tokens-Budget header, or the key's own if that is lower. It
 * holds for the session that X-Session-Id names, or for everything that the key does without naming a session.
 */
export function readBudget(request: FastifyRequest, principal: Principal): SessionBudget | undefined {
  const budget = request.headers["x-tokens-budget"];
  const id = request.headers["x-session-id"];
  if (budget !== undefined && !(typeof budget === "string" && /^\d{1,15}$/.test(budget)))
    throw invalid(
      "X-Tokens-Budget",
      "type",
      "X-Tokens-Budget must be a whole number of tokens",
      "send a whole number, such as 20000",
      "请发送整数，例如 20000",
    );
  if (id !== undefined && !(typeof id === "string" && /^[\x21-\x7e]{1,128}$/.test(id)))
    throw invalid(
      "X-Session-Id",
      "format",
      "X-Session-Id must be 1 to 128 printable ASCII characters without spaces",
      "send 1 to 128 printable ASCII characters without spaces",
      "请发送 1 到 128 个可打印的 ASCII 字符，不含空格",
    );
  const limits = [budget === undefined ? null : Number(budget), principal.sessionBudget];
  const tokens = Math.min(...limits.filter((limit) => limit !== null));
  // The minimum of an empty list.
  if (tokens === Number.POSITIVE_INFINITY) return undefined;
  return { session: id === undefined ? `key ${principal.spendAs}` : `id ${id}`, tokens };
}
