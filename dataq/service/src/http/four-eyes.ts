import { tokensPerCny } from "@dataq/contract";
import { type Route, routes } from "@dataq/contract/wire";
import type { FastifyRequest } from "fastify";
import type { Principal } from "../accounts/principal.ts";
import { passByTwo } from "../business/approvals.ts";
import { readWallet } from "../ledger/wallet.ts";
import { check, readJson } from "./body.ts";
import { authorOf } from "./caller.ts";
import type { HttpParts } from "./parts.ts";

/**
 * What a request moves or gives away. The field of its body with a sum: tokens, the new credit line in tokens, or fen.
 * `offer`: a price, free calls, a discount or a package, whose sum nobody knows. `coupon`: a sum if it gives tokens to a
 * number of accounts, otherwise an offer. `expires_at`: an offer again if that is ahead.
 */
export type Watched = "tokens" | "credit_limit" | "amount_fen" | "coupon" | "expires_at" | "offer";

type Body = Readonly<Record<string, unknown>>;

const TOKENS_PER_FEN = tokensPerCny / 100;

/** What each route reads, by its method and path as the app has them. */
const bodies = new Map(
  Object.values<Route>(routes).map(({ method, path, body }) => [
    `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
    body,
  ]),
);

/**
 * Throws if a request moves a large sum, or makes an offer, and no second person has asked for the same. Returns the ID
 * of a sum that may pass.
 */
export async function assertSeenByTwo(
  parts: HttpParts,
  request: FastifyRequest,
  principal: Principal,
  watched: Watched,
): Promise<string | undefined> {
  const { fourEyesFen } = parts;
  if (fourEyesFen === undefined) return undefined;
  const route = request.routeOptions.url!;
  const body = readJson(request) as Record<string, unknown>;
  // Nobody should wait for the approval of what would be refused.
  check(bodies.get(`${request.method} ${route}`)!, body);
  const { id } = request.params as { id?: string };
  const fen = await fenOf(parts, body, watched, id);
  // Nobody needs to watch a credit line being lowered.
  if (fen === 0) return undefined;
  const wanted = {
    method: request.method === "PATCH" ? ("PATCH" as const) : ("POST" as const),
    path: request.url.split("?", 1)[0]!,
    body,
    target: id ?? (body["request_id"] as string | undefined) ?? (fen === null ? "offers" : unowned(route)),
    fen,
    limitFen: fourEyesFen,
    isPerson: principal.key === null,
  };
  return passByTwo(parts.database, wanted, authorOf(parts, request));
}

/** What no account has yet. Tokens of a coupon are given like those of vouchers. */
function unowned(route: string): "accounts" | "vouchers" {
  return route === "/admin/v1/accounts" ? "accounts" : "vouchers";
}

/** Null for an offer; zero if there is no sum. */
async function fenOf(
  { database, clock }: HttpParts,
  body: Body,
  watched: Watched,
  id: string | undefined,
): Promise<number | null> {
  const of = (field: string) => (body[field] as number | null | undefined) ?? 0;
  switch (watched) {
    case "offer":
      return null;
    case "amount_fen":
      return of("amount_fen");
    case "credit_limit": {
      const wallet = id === undefined ? undefined : await readWallet(database, id, clock());
      return Math.max(0, of("credit_limit") - (wallet?.creditLimit ?? 0)) / TOKENS_PER_FEN;
    }
    case "expires_at":
      return new Date(body["expires_at"] as string) > clock() ? null : 0;
    case "coupon":
      return body["kind"] === "tokens" && of("most") > 0 ? (of("value") * of("most")) / TOKENS_PER_FEN : null;
    case "tokens":
      // Of vouchers, the sum of all.
      return (Math.abs(of("tokens")) * ((body["count"] as number | undefined) ?? 1)) / TOKENS_PER_FEN;
  }
}
