import { tokensPerCny } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import type { Principal } from "../accounts/principal.ts";
import { passByTwo } from "../business/approvals.ts";
import { readWallet } from "../ledger/wallet.ts";
import { readJson } from "./body.ts";
import { authorOf } from "./caller.ts";
import type { HttpParts } from "./parts.ts";

/** The field of a body with a sum: tokens, the new credit line in tokens, or fen. */
export type SumField = "tokens" | "credit_limit" | "amount_fen";

/**
 * Throws if a request moves a large sum and no second person has asked for the same. `field` is the field with the
 * sum. A sum that is not a number is left to the route, which refuses it. Returns the ID of a sum that may pass, which
 * counts as moved until the answer is sent.
 */
export async function assertSeenByTwo(
  parts: HttpParts,
  request: FastifyRequest,
  principal: Principal,
  field: SumField,
): Promise<string | undefined> {
  const { fourEyesFen } = parts;
  if (fourEyesFen === undefined) return undefined;
  const body = readJson(request) as Record<string, unknown>;
  const { id } = request.params as { id?: string };
  const fen = await fenOf(parts, body, field, id);
  // Nobody needs to watch a credit line being lowered.
  if (fen === 0) return undefined;
  const named = id ?? body["request_id"];
  const wanted = {
    method: request.method === "PATCH" ? ("PATCH" as const) : ("POST" as const),
    path: request.url,
    body,
    target: typeof named === "string" ? named : request.url.endsWith("/vouchers") ? "vouchers" : "accounts",
    fen,
    limitFen: fourEyesFen,
    isPerson: principal.key === null,
  };
  return passByTwo(parts.database, wanted, authorOf(parts, request));
}

/** Zero if there is no sum. */
async function fenOf(
  { database, clock }: HttpParts,
  body: Record<string, unknown>,
  field: SumField,
  id: string | undefined,
): Promise<number> {
  const sum = Number(body?.[field] ?? Number.NaN);
  if (!Number.isFinite(sum)) return 0;
  if (field === "amount_fen") return Math.abs(sum);
  const perFen = tokensPerCny / 100;
  if (field === "credit_limit") {
    const wallet = id === undefined ? undefined : await readWallet(database, id, clock());
    return Math.max(0, sum - (wallet?.creditLimit ?? 0)) / perFen;
  }
  // Of vouchers, the sum of all.
  const count = typeof body["count"] === "number" ? body["count"] : 1;
  return (Math.abs(sum) * count) / perFen;
}
