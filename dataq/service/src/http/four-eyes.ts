import { tokensPerCny } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import type { Principal } from "../accounts/principal.ts";
import { passByTwo } from "../business/approvals.ts";
import { readJson } from "./body.ts";
import { authorOf } from "./caller.ts";
import type { HttpParts } from "./parts.ts";

/**
 * Throws if a request moves a large sum and no second person has asked for the same. `field` is the field with the
 * sum. A sum that is not a number is left to the route, which refuses it.
 */
export async function assertSeenByTwo(
  parts: HttpParts,
  request: FastifyRequest,
  principal: Principal,
  field: "tokens" | "amount_fen",
): Promise<void> {
  const { fourEyesFen } = parts;
  if (fourEyesFen === undefined) return;
  const body = readJson(request) as Record<string, unknown>;
  const sum = Math.abs(Number(body?.[field]));
  if (!Number.isFinite(sum)) return;
  // Of vouchers, the sum of all.
  const count = typeof body["count"] === "number" ? body["count"] : 1;
  const fen = field === "tokens" ? (sum * count) / (tokensPerCny / 100) : sum;
  const { id } = request.params as { id?: string };
  const named = id ?? body["request_id"];
  const wanted = {
    path: request.url,
    body,
    target: typeof named === "string" ? named : "vouchers",
    fen,
    limitFen: fourEyesFen,
    isPerson: principal.key === null,
  };
  await passByTwo(parts.database, wanted, authorOf(parts, request));
}
