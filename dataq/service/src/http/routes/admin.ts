import { Readable } from "node:stream";
import { Failure, invalid } from "@dataq/contract";
import {
  type account as accountSchema,
  accountsQuery,
  type accountWithWallet,
  adjustment,
  auditQuery,
  changedAccount,
  exportQuery,
  newAccount,
  newKeys,
  newPrice,
  newVouchers,
  refund,
  type Sent,
  topup,
  type verdict,
  verifyQuery,
  type voucher as voucherSchema,
  vouchersQuery,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import {
  type Account,
  createAccount,
  findAccount,
  listAccounts,
  payIn,
  setTier,
} from "../../accounts/account.ts";
import { auditColumns, readAudit, writeAudit } from "../../accounts/audit.ts";
import { lastSeal, readSealed, sealAudit, verifyAudit, verifyKept } from "../../accounts/audit-chain.ts";
import { createVouchers, listVouchers, type Voucher } from "../../accounts/voucher.ts";
import { adjust, reverse, setCreditLimit } from "../../ledger/movement.ts";
import { ownNotes } from "../../ledger/own-notes.ts";
import { publishPrice } from "../../ledger/price.ts";
import { verifyLedger } from "../../ledger/verify.ts";
import { readWallet, setFrozen, type Wallet } from "../../ledger/wallet.ts";
import { admit, type HttpParts } from "../app.ts";
import { check, readJson } from "../body.ts";
import { csvLine } from "../csv.ts";
import { scrub } from "../scrub.ts";
import { authorOf, keyBody } from "./keys.ts";

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
  const withWallet = async (account: Account): Promise<Sent<typeof accountWithWallet>> => {
    const wallet = await readWallet(database, account.id, parts.clock());
    return { ...accountBody(account), wallet: wallet ? walletBody(wallet) : null };
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
    return withWallet(account);
  });

  app.patch<{ Params: { id: string } }>("/admin/v1/accounts/:id", async (request) => {
    const admin = await admitAdmin(request);
    const { id } = await accountOf(request.params.id);
    const wanted = check(changedAccount, readJson(request));
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
    return withWallet(await accountOf(id));
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
    const { note = ownNotes.byOperator, ...rest } = check(topup, readJson(request));
    const wanted = { ...rest, note };
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
    const { expires_at: expiresAt, ...wanted } = check(newVouchers, readJson(request));
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
    const wanted = check(newPrice, readJson(request));
    const effectiveFrom = wanted.effective_from;
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

  app.get("/admin/v1/ledger/verify", async (request): Promise<Sent<typeof verdict>> => {
    await admitAdmin(request);
    const { seal } = check(verifyQuery, request.query);
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

function accountBody(account: Account): Sent<typeof accountSchema> {
  const { id, name, email, role, tier, createdAt } = account;
  return { id, name, email, role, tier, created_at: createdAt };
}

function walletBody(wallet: Wallet): Sent<typeof accountWithWallet>["wallet"] {
  return {
    balance: wallet.balance,
    trial_balance: wallet.trialBalance,
    paid_balance: wallet.paidBalance,
    credit_balance: wallet.creditBalance,
    credit_limit: wallet.creditLimit,
    held: wallet.held,
    trial_expires_at: wallet.trialExpiresAt,
    frozen: wallet.frozen,
  };
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
