import { newVouchers, type Sent, type voucher as voucherSchema, vouchersQuery } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { createVouchers, listVouchers, type Voucher } from "../../../accounts/voucher.ts";
import { inTransaction } from "../../../database/transaction.ts";
import { check, readJson } from "../../body.ts";
import { authorOf } from "../../caller.ts";
import type { HttpParts } from "../../parts.ts";

/** Vouchers, for operators. */
export function addAdminVoucherRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;

  app.post("/admin/v1/vouchers", async (request, reply) => {
    const { expires_at: expiresAt, ...wanted } = check(newVouchers, readJson(request));
    const author = authorOf(parts, request);
    const codes = await inTransaction(database, (transaction) =>
      createVouchers(transaction, { ...wanted, expiresAt }, author),
    );
    reply.code(201).header("cache-control", "no-store");
    return { tokens: wanted.tokens, batch: wanted.batch, codes };
  });

  app.get("/admin/v1/vouchers", async (request) => {
    const { cursor, limit, state } = check(vouchersQuery, request.query);
    const [ms, digest] = cursor?.split(".") ?? [];
    const before = ms && digest ? { createdAt: new Date(Number(ms)), digest } : undefined;
    const found = await listVouchers(database, { limit: limit + 1, now: parts.clock(), state, before });
    const shown = found.slice(0, limit);
    const last = shown.at(-1)?.place;
    return {
      data: shown.map(voucherBody),
      next_cursor: found.length > limit && last ? `${last.createdAt.getTime()}.${last.digest}` : null,
    };
  });
}

function voucherBody(voucher: Voucher): Sent<typeof voucherSchema> {
  const { hint, tokens, batch, createdAt, expiresAt, redeemedAt, redeemedBy } = voucher;
  return {
    hint,
    tokens,
    batch,
    created_at: createdAt,
    expires_at: expiresAt,
    redeemed_at: redeemedAt,
    redeemed_by: redeemedBy,
  };
}
