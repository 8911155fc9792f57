import { invalid } from "@dataq/contract";
import { newPrice } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../../accounts/audit.ts";
import { inTransaction } from "../../../database/transaction.ts";
import { publishPrice } from "../../../ledger/price.ts";
import { check, readJson } from "../../body.ts";
import { authorOf } from "../../caller.ts";
import type { HttpParts } from "../../parts.ts";

/** A price takes effect only after every instance has read it. */
const PRICE_NOTICE_MS = 60_000;

/** Prices, for operators. */
export function addAdminPriceRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.post("/admin/v1/prices", async (request, reply) => {
    const wanted = check(newPrice, readJson(request));
    const { operation, tokens, cached_tokens: cachedTokens, effective_from: effectiveFrom } = wanted;
    const author = authorOf(parts, request);
    assertAnnounced(effectiveFrom, author.now);
    assertRepeatPrice(wanted);
    const version = await inTransaction(parts.database, async (transaction) => {
      const price = { operation, tokens, cachedTokens, effectiveFrom, actor: author.actor };
      const published = await publishPrice(transaction, price);
      const after = { ...wanted, version: published };
      await writeAudit(transaction, author, "price.publish", operation, null, after);
      return published;
    });
    parts.pipeline.prices.forget();
    return reply.code(201).send({ ...wanted, version });
  });
}

/** Throws unless what is published counts late enough for every instance to have read it. */
export function assertAnnounced(effectiveFrom: Date, now: Date): void {
  if (effectiveFrom.getTime() < now.getTime() + PRICE_NOTICE_MS)
    throw invalid(
      "effective_from",
      "range",
      "effective_from must be at least one minute in the future",
      "send a later time",
      "请发送更晚的时间",
    );
}

/** Throws if a repeat would cost more than a call. */
export function assertRepeatPrice(price: {
  readonly tokens: number | null;
  readonly cached_tokens: number | null;
}): void {
  if (price.cached_tokens !== null && price.cached_tokens > (price.tokens ?? 0))
    throw invalid(
      "cached_tokens",
      "range",
      "cached_tokens must not exceed tokens",
      "send a number that is not greater than tokens",
      "不得超过 tokens",
    );
}
