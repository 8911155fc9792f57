import { Failure, invalid } from "@dataq/contract";
import {
  type accountPrice,
  changedCoupon,
  type coupon as couponSchema,
  type freeTier,
  newAccountPrice,
  newCoupon,
  newFreeTier,
  newVolumeLadder,
  type Sent,
  type volumeLadder,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { findAccount } from "../../../accounts/account.ts";
import { type AuditAction, writeAudit } from "../../../accounts/audit.ts";
import { type Coupon, createCoupon, endCoupon, listCoupons } from "../../../accounts/coupon.ts";
import { inTransaction, type Transaction } from "../../../database/transaction.ts";
import { publishAccountPrice, publishFreeTier, publishVolumeLadder } from "../../../ledger/plans.ts";
import { listAccountPrices } from "../../../ledger/terms.ts";
import { check, readJson } from "../../body.ts";
import { authorOf } from "../../caller.ts";
import type { HttpParts } from "../../parts.ts";
import { assertAnnounced, assertRepeatPrice } from "./prices.ts";

/** What differs from the price list: prices of accounts, free calls, discounts by volume, and coupons. */
export function addAdminPlanRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;
  /** Publishes a version together with its line in the audit log. */
  const publish = async (
    request: Parameters<typeof authorOf>[1],
    [action, target]: readonly [AuditAction, string],
    wanted: { readonly effective_from: Date },
    write: (transaction: Transaction, actor: string) => Promise<number>,
  ): Promise<number> => {
    const author = authorOf(parts, request);
    assertAnnounced(wanted.effective_from, author.now);
    const version = await inTransaction(database, async (transaction) => {
      const published = await write(transaction, author.actor);
      await writeAudit(transaction, author, action, target, null, { ...wanted, version: published });
      return published;
    });
    parts.pipeline.terms.forget();
    return version;
  };

  app.get<{ Params: { id: string } }>("/admin/v1/accounts/:id/prices", async (request) => {
    const id = await accountId(request.params.id);
    const prices = await listAccountPrices(database, id);
    return {
      data: prices.map(
        ({ operation, version, tokens, cachedTokens, effectiveFrom }): Sent<typeof accountPrice> => ({
          operation,
          version,
          tokens,
          cached_tokens: cachedTokens,
          effective_from: effectiveFrom,
        }),
      ),
    };
  });

  app.post<{ Params: { id: string } }>(
    "/admin/v1/accounts/:id/prices",
    async (request, reply): Promise<Sent<typeof accountPrice>> => {
      const id = await accountId(request.params.id);
      const wanted = check(newAccountPrice, readJson(request));
      assertRepeatPrice(wanted);
      const version = await publish(request, ["price.account", id], wanted, (transaction, actor) =>
        publishAccountPrice(transaction, { accountId: id, ...wanted, actor }),
      );
      reply.code(201);
      return { ...wanted, version };
    },
  );

  app.post("/admin/v1/free-tiers", async (request, reply): Promise<Sent<typeof freeTier>> => {
    const wanted = check(newFreeTier, readJson(request));
    const version = await publish(request, ["price.free", wanted.operation], wanted, (transaction, actor) =>
      publishFreeTier(transaction, { ...wanted, actor }),
    );
    reply.code(201);
    return { ...wanted, version };
  });

  app.post("/admin/v1/volume-ladders", async (request, reply): Promise<Sent<typeof volumeLadder>> => {
    const wanted = check(newVolumeLadder, readJson(request));
    const version = await publish(request, ["price.volume", "volume"], wanted, (transaction, actor) =>
      publishVolumeLadder(transaction, { ...wanted, actor }),
    );
    reply.code(201);
    return { ...wanted, version };
  });

  app.get("/admin/v1/coupons", async () => ({
    data: (await listCoupons(database.reads.recent)).map(couponBody),
  }));

  app.post("/admin/v1/coupons", async (request, reply) => {
    const { expires_at: expiresAt, ...wanted } = check(newCoupon, readJson(request));
    const author = authorOf(parts, request);
    if (expiresAt !== null && expiresAt <= author.now)
      throw invalid(
        "expires_at",
        "range",
        "expires_at must be in the future",
        "send a later time",
        "请发送更晚的时间",
      );
    const made = await inTransaction(database, (transaction) =>
      createCoupon(transaction, { ...wanted, expiresAt }, author),
    );
    return reply.code(201).send(couponBody(made));
  });

  app.patch<{ Params: { code: string } }>("/admin/v1/coupons/:code", async (request) => {
    const { expires_at } = check(changedCoupon, readJson(request));
    const author = authorOf(parts, request);
    const code = request.params.code.toUpperCase();
    return couponBody(
      await inTransaction(database, (transaction) => endCoupon(transaction, code, expires_at, author)),
    );
  });

  async function accountId(id: string): Promise<string> {
    if (!(await findAccount(database, id)))
      throw new Failure("not_found", { what: `The account ${id.slice(0, 64)}` });
    return id;
  }
}

function couponBody(coupon: Coupon): Sent<typeof couponSchema> {
  const { createdAt, expiresAt, ...same } = coupon;
  return { ...same, created_at: createdAt, expires_at: expiresAt };
}
