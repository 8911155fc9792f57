import { Readable } from "node:stream";
import { Failure, invalid, operations } from "@dataq/contract";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import {
  type Account,
  createAccount,
  findAccount,
  listAccounts,
  payIn,
  setTier,
  tiers,
} from "../../accounts/account.ts";
import { auditColumns, readAudit, writeAudit } from "../../accounts/audit.ts";
import {
  lastSeal,
  readSealed,
  sealAudit,
  sealPattern,
  verifyAudit,
  verifyKept,
} from "../../accounts/audit-chain.ts";
import { scopes } from "../../accounts/scope.ts";
import { createVouchers, listVouchers, type Voucher, voucherStates } from "../../accounts/voucher.ts";
import { adjust, reverse, setCreditLimit } from "../../ledger/movement.ts";
import { ownNotes } from "../../ledger/own-notes.ts";
import { publishPrice } from "../../ledger/price.ts";
import { verifyLedger } from "../../ledger/verify.ts";
import { readWallet, setFrozen } from "../../ledger/wallet.ts";
import { admit, type HttpParts } from "../app.ts";
import { check, readJson } from "../body.ts";
import { csvLine } from "../csv.ts";
import { scrub } from "../scrub.ts";
import { authorOf, keyBody } from "./keys.ts";
import { exportQuery } from "./ledger.ts";

const tokens = z.number().int().min(0).max(1e12);
const reason = z.string().trim().min(1).max(500);
const newAccount = z.strictObject({
  name: z.string().trim().min(1).max(200),
  email: z.email().max(254).optional(),
  tokens: tokens.optional(),
  keys: z.number().int().min(0).max(100).default(1),
  tier: z.enum(tiers).optional(),
});
const newKeys = z.strictObject({
  count: z.number().int().min(1).max(100).default(1),
  mode: z.enum(["live", "test"]).optional(),
  name: z.string().max(100).optional(),
  scopes: z.array(z.enum(scopes)).min(1).optional(),
  monthly_cap: tokens.nullable().optional(),
});
/** One that an operator kept elsewhere. */
const keptSeal = z.strictObject({ seal: z.string().toLowerCase().regex(sealPattern).optional() });
const adjustment = z.strictObject({ tokens: z.number().int().min(-1e12).max(1e12), reason });
const topup = z.strictObject({
  tokens: tokens.min(1),
  reference: z.string().trim().min(1).max(200),
  note: z.string().trim().min(1).max(500).default(ownNotes.byOperator),
});
const change = z.strictObject({
  tier: z.enum(tiers).optional(),
  frozen: z.boolean().optional(),
  credit_limit: tokens.optional(),
});
const vouchers = z.strictObject({
  tokens: tokens.min(1),
  count: z.number().int().min(1).max(10_000).default(1),
  batch: z.string().trim().min(1).max(100).default("manual"),
  expires_at: z.iso.datetime({ offset: true }).optional(),
});
const refund = z.strictObject({ request_id: z.string().max(64), tokens: tokens.min(1), reason });
const price = z.strictObject({
  operation: z.enum(operations.map((operation) => operation.name)),
  tokens: tokens.min(1),
  cached_tokens: tokens.min(1).nullable(),
  effective_from: z.iso.datetime({ offset: true }),
});
const accountsQuery = z.strictObject({
  cursor: z.string().max(64).optional(),
  /** Part of a name or an e-mail, or a whole id. */
  search: z.string().trim().min(1).max(254).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});
const vouchersQuery = z.strictObject({
  /** Milliseconds and digest of the last one shown. */
  cursor: z
    .string()
    .regex(/^\d{1,14}\.[0-9a-f]{64}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
  state: z.enum(voucherStates).optional(),
});
const auditQuery = z.strictObject({
  cursor: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

/** A price takes effect only when every instance has surely read it. */
const PRICE_NOTICE_MS = 60_000;

/** For the operator: keys of the admin scope, on accounts of the admin role. */
export function addAdminRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;
  const admitAdmin = async (request: Parameters<typeof admit>[1]) => {
    const principal = await admit(parts, request, "admin");
    if (principal.account.role !== "admin") throw new Failure("scope_denied", { scope: "admin" });
    return principal;
  };
  const accountOf = async (id: string): Promise<Account> => {
    const account = await findAccount(database, id);
    if (!account) throw new Failure("not_found", { what: `The account ${id.slice(0, 64)}` });
    return account;
  };

  app.get("/admin/v1/accounts", async (request) => {
    await admitAdmin(request);
    const { cursor, limit, search } = check(accountsQuery, request.query);
    const accounts = await listAccounts(database, limit + 1, { after: cursor, search });
    const shown = accounts.slice(0, limit);
    return { data: shown.map(accountBody), next_cursor: accounts.length > limit ? shown.at(-1)!.id : null };
  });

  app.post("/admin/v1/accounts", async (request, reply) => {
    await admitAdmin(request);
    const wanted = check(newAccount, readJson(request));
    const author = authorOf(parts, request);
    const account = await createAccount(database, wanted, author);
    const keys: string[] = [];
    for (let i = 0; i < wanted.keys; i++) keys.push((await parts.keys.create(account.id, {}, author)).text);
    reply.code(201).header("cache-control", "no-store");
    return { account_id: account.id, keys };
  });

  app.get<{ Params: { id: string } }>("/admin/v1/accounts/:id", async (request) => {
    await admitAdmin(request);
    const account = await accountOf(request.params.id);
    return { ...accountBody(account), wallet: await readWallet(database, account.id, parts.clock()) };
  });

  app.patch<{ Params: { id: string } }>("/admin/v1/accounts/:id", async (request) => {
    const admin = await admitAdmin(request);
    const { id } = await accountOf(request.params.id);
    const wanted = check(change, readJson(request));
    const author = authorOf(parts, request);
    if (wanted.tier) await setTier(database, id, wanted.tier, author);
    if (wanted.frozen !== undefined) {
      await setFrozen(database, id, wanted.frozen);
      await writeAudit(
        database,
        author,
        wanted.frozen ? "account.freeze" : "account.unfreeze",
        id,
        null,
        null,
      );
    }
    if (wanted.credit_limit !== undefined) {
      const why = { actor: admin.key.id, note: ownNotes.creditLine, now: author.now };
      await setCreditLimit(database, id, wanted.credit_limit, why);
      await writeAudit(database, author, "account.credit", id, null, { credit_limit: wanted.credit_limit });
    }
    return { ...accountBody(await accountOf(id)), wallet: await readWallet(database, id, parts.clock()) };
  });

  app.post<{ Params: { id: string } }>("/admin/v1/accounts/:id/keys", async (request, reply) => {
    await admitAdmin(request);
    const { id } = await accountOf(request.params.id);
    const { count, monthly_cap, ...wanted } = check(newKeys, readJson(request, {}));
    const data = [];
    for (let i = 0; i < count; i++) {
      const made = await parts.keys.create(
        id,
        { ...wanted, monthlyCap: monthly_cap },
        authorOf(parts, request),
      );
      data.push({ ...keyBody(made.key), key: made.text });
    }
    reply.code(201).header("cache-control", "no-store");
    return { account_id: id, keys: data.map(({ key }) => key), data };
  });

  app.post<{ Params: { id: string } }>("/admin/v1/accounts/:id/adjust", async (request) => {
    const admin = await admitAdmin(request);
    const { id } = await accountOf(request.params.id);
    const wanted = check(adjustment, readJson(request));
    const author = authorOf(parts, request);
    const why = { actor: admin.key.id, note: wanted.reason, now: author.now };
    const { balance } = await adjust(database, id, wanted.tokens, why);
    await writeAudit(database, author, "ledger.adjust", id, null, wanted);
    return { account_id: id, balance };
  });

  app.post<{ Params: { id: string } }>("/admin/v1/accounts/:id/topups", async (request, reply) => {
    await admitAdmin(request);
    const { id } = await accountOf(request.params.id);
    const wanted = check(topup, readJson(request));
    const author = authorOf(parts, request);
    const payment = { ...wanted, reference: `manual:${wanted.reference}` };
    if (!(await payIn(database, id, payment, author)))
      throw new Failure("already_exists", { what: `A top-up with the reference ${wanted.reference}` });
    await writeAudit(database, author, "ledger.topup", id, null, wanted);
    const { balance } = (await readWallet(database, id, author.now))!;
    return reply.code(201).send({ account_id: id, tokens: wanted.tokens, balance });
  });

  app.post("/admin/v1/refunds", async (request) => {
    const admin = await admitAdmin(request);
    const wanted = check(refund, readJson(request));
    const author = authorOf(parts, request);
    const why = { actor: admin.key.id, note: wanted.reason, now: author.now };
    const balance = await reverse(database, wanted.request_id, wanted.tokens, why);
    if (!balance)
      throw new Failure("not_found", {
        what: "A capture of that request which is not reversed yet and as large",
      });
    await writeAudit(database, author, "ledger.reverse", wanted.request_id, null, wanted);
    return { request_id: wanted.request_id, balance: balance.balance };
  });

  app.post("/admin/v1/vouchers", async (request, reply) => {
    await admitAdmin(request);
    const { expires_at, ...wanted } = check(vouchers, readJson(request));
    const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
    const codes = await createVouchers(database, { ...wanted, expiresAt }, authorOf(parts, request));
    reply.code(201).header("cache-control", "no-store");
    return { tokens: wanted.tokens, batch: wanted.batch, codes };
  });

  app.get("/admin/v1/vouchers", async (request) => {
    await admitAdmin(request);
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

  app.post("/admin/v1/prices", async (request, reply) => {
    const admin = await admitAdmin(request);
    const wanted = check(price, readJson(request));
    const effectiveFrom = new Date(wanted.effective_from);
    if (effectiveFrom.getTime() < parts.clock().getTime() + PRICE_NOTICE_MS)
      throw invalid(
        "effective_from",
        "range",
        "effective_from must be at least one minute in the future",
        "send a later time",
        "请发送更晚的时间",
      );
    const { operation, tokens: listTokens, cached_tokens: cachedTokens } = wanted;
    if (cachedTokens !== null && cachedTokens > listTokens)
      throw invalid(
        "cached_tokens",
        "range",
        "cached_tokens must not exceed tokens",
        "send at most tokens",
        "不得超过 tokens",
      );
    const version = await publishPrice(database, {
      operation,
      tokens: listTokens,
      cachedTokens,
      effectiveFrom,
      actor: admin.key.id,
    });
    parts.pipeline.prices.forget();
    await writeAudit(database, authorOf(parts, request), "price.publish", operation, null, {
      ...wanted,
      version,
    });
    return reply.code(201).send({ ...wanted, version });
  });

  app.get("/admin/v1/audit", async (request) => {
    await admitAdmin(request);
    const { cursor, limit } = check(auditQuery, request.query);
    const lines = await readAudit(database, limit + 1, cursor);
    const shown = lines.slice(0, limit);
    return { data: shown, next_cursor: lines.length > limit ? String(shown.at(-1)!.id) : null };
  });

  app.get("/admin/v1/audit/export", async (request, reply) => {
    await admitAdmin(request);
    const { format } = check(exportQuery, request.query);
    await writeAudit(database, authorOf(parts, request), "export.audit", "audit", null, { format });
    while (await sealAudit(database, parts.clock()));
    reply.header("content-disposition", `attachment; filename="audit.${format}"`);
    reply.type(format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8");
    return reply.send(Readable.from(auditExport(database, format)));
  });

  app.get("/admin/v1/ledger/verify", async (request) => {
    await admitAdmin(request);
    const { seal } = check(keptSeal, request.query);
    const findings = [...(await verifyLedger(database)), await verifyAudit(database)];
    if (seal !== undefined) findings.push(await verifyKept(database, [seal]));
    const ok = findings.every(({ breaches }) => breaches.length === 0);
    return { ok, findings, seal: (await lastSeal(database)) ?? null };
  });
}

/** Every line in the order of the chain, with the hash that the chain has after it. */
async function* auditExport(
  database: HttpParts["database"],
  format: "csv" | "jsonl",
): AsyncGenerator<string> {
  if (format === "csv") yield csvLine([...auditColumns, "sha256"]);
  for await (const line of readSealed(database)) {
    if (format === "csv")
      yield scrub(csvLine([...auditColumns.map((name) => textOf(line[name])), line.sha256]));
    else {
      const columns = auditColumns.map((name) => [name, line[name]]);
      yield scrub(`${JSON.stringify({ ...Object.fromEntries(columns), sha256: line.sha256 })}\n`);
    }
  }
}

/** `before` and `after` are JSON in a cell of CSV. */
function textOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && !(value instanceof Date)
    ? JSON.stringify(value)
    : value;
}

function accountBody(account: Account): object {
  const { id, name, email, role, tier, createdAt } = account;
  return { id, name, email, role, tier, created_at: createdAt };
}

function voucherBody(voucher: Voucher): object {
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
