import { Failure } from "@dataq/contract";
import fc from "fast-check";
import type { Database } from "../src/database/database.ts";
import { gatherStatements, type RunStatement } from "../src/ledger/gather.ts";
import { charge, hold } from "../src/ledger/hold.ts";
import { recover } from "../src/ledger/instance.ts";
import {
  adjust,
  expireTrial,
  grantTrial,
  openWallet,
  reverse,
  setCreditLimit,
  topUp,
} from "../src/ledger/movement.ts";
import { sealEntries } from "../src/ledger/seal.ts";
import { settle } from "../src/ledger/settlement.ts";
import { verifyLedger } from "../src/ledger/verify.ts";
import { readWallet, setFrozen } from "../src/ledger/wallet.ts";

/** What a movement takes from each part of a wallet. */
interface Parts {
  readonly trial: number;
  readonly paid: number;
  readonly credit: number;
}

/** The ledger without a database. The real one must agree with it step by step. */
class Model {
  trial = 0;
  paid = 0;
  credit = 0;
  limit = 0;
  trialEndsMs = Number.POSITIVE_INFINITY;
  hadTrial = false;
  frozen = false;
  readonly references = new Set<string>();
  readonly open = new Map<string, Parts & { readonly endsMs: number }>();
  readonly captured = new Map<string, Parts | "refunded">();

  get balance(): number {
    return this.trial + this.paid + this.credit;
  }

  /** Returns undefined on success, or else the code of the failure. */
  take(requestId: string, tokens: number, nowMs: number, settled: boolean): string | undefined {
    if (this.frozen) return "account_frozen";
    if (nowMs >= this.trialEndsMs) this.trial = 0;
    if (this.balance < tokens) return "insufficient_balance";
    const trial = Math.min(this.trial, tokens);
    const paid = Math.min(this.paid, tokens - trial);
    const credit = tokens - trial - paid;
    this.trial -= trial;
    this.paid -= paid;
    this.credit -= credit;
    if (settled) this.captured.set(requestId, { trial, paid, credit });
    else this.open.set(requestId, { trial, paid, credit, endsMs: nowMs + HOLD_MS });
    return undefined;
  }

  end(requestId: string, captures: boolean): boolean {
    const held = this.open.get(requestId);
    if (!held) return false;
    this.open.delete(requestId);
    if (captures) this.captured.set(requestId, held);
    else this.giveBack(held);
    return true;
  }

  giveBack(parts: Parts): void {
    const credit = Math.min(parts.credit, this.limit - this.credit);
    this.trial += parts.trial;
    this.credit += credit;
    this.paid += parts.paid + parts.credit - credit;
  }

  /** Refunds tokens, last spent first. Returns undefined, or the code of the failure. */
  refund(requestId: string, tokens: number): string | undefined {
    const parts = this.captured.get(requestId);
    if (parts === "refunded") return "already_exists";
    if (!parts || parts.trial + parts.paid + parts.credit < tokens) return "not_found";
    const credit = Math.min(parts.credit, tokens);
    const paid = Math.min(parts.paid, tokens - credit);
    this.giveBack({ trial: tokens - credit - paid, paid, credit });
    this.captured.set(requestId, "refunded");
    return undefined;
  }

  fill(tokens: number): void {
    const credit = Math.min(tokens, this.limit - this.credit);
    this.credit += credit;
    this.paid += tokens - credit;
  }
}

/** Something that happens to one of the accounts. `pick` and `size` choose the details. */
export interface Step {
  readonly kind: Kind;
  readonly account: number;
  readonly pick: number;
  readonly size: number;
}

const kinds = [
  ...Array<"hold">(9).fill("hold"),
  ...Array<"capture">(6).fill("capture"),
  ...Array<"charge">(3).fill("charge"),
  ...Array<"void">(3).fill("void"),
  ...Array<"topup">(2).fill("topup"),
  ...Array<"adjust">(2).fill("adjust"),
  "topup",
  "grant",
  "adjust",
  "credit",
  "reverse",
  "freeze",
  "wait",
  "expire",
  "recover",
] as const;
type Kind = (typeof kinds)[number];

const HOLD_MS = 60_000;
const COMPARE_EVERY = 250;
const OPERATION = "legal_laws";
/** Versions of the price in the table: what is captured must be one of these. */
const prices = [
  { tokens: 5_000, cached: 2_500 },
  { tokens: 70, cached: 35 },
  { tokens: 1, cached: 1 },
];
const sizes = [1, 35, 70, 2_500, 5_000, 12_345, 1_000_000];

export const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...kinds),
  account: fc.nat({ max: 999 }),
  pick: fc.nat({ max: 1_000 }),
  size: fc.nat({ max: sizes.length - 1 }),
});

/** Publishes the model's prices. Returns what runs the statements of the steps: combined, as in a service. */
export async function prepareModel(database: Database): Promise<RunStatement> {
  for (const [index, price] of prices.entries())
    await database.pool.query(
      "insert into price values ($1, $2, $3, $4, 'epoch', 'test') on conflict do nothing",
      [OPERATION, index + 1, price.tokens, price.cached],
    );
  return gatherStatements(database);
}

let serial = 0;

/**
 * Plays the steps on this many new accounts, on the ledger and on the model, and throws at a difference. Steps for
 * the same account, its requests or the same payment keep their order; others run at the same time.
 */
export async function playSteps(
  database: Database,
  steps: readonly Step[],
  statements: RunStatement,
  accounts: number,
): Promise<void> {
  const run = ++serial;
  const ids = Array.from(
    { length: accounts },
    (_, n) => `model_${process.pid}_${run}_${String(n).padStart(2, "0")}`,
  );
  const models = ids.map(() => new Model());
  // Requests with the index of their account, even after the hold has ended. So a second end is queued after
  // the first, because only the statements of one account keep their order.
  const requests: { readonly requestId: string; readonly place: number }[] = [];
  const underWay = new UnderWay();
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  await Promise.all(ids.map((id) => openWallet(database, id, new Date(nowMs))));

  for (const [index, step] of steps.entries()) {
    const place = step.account % accounts;
    const id = ids[place]!;
    const model = models[place]!;
    const now = new Date(nowMs);
    const why = { actor: "model", note: step.kind, now };
    const size = sizes[step.size]!;
    const version = step.pick % prices.length;
    const price = prices[version]!;
    const cached = step.pick % 2 === 1;
    const tokens = cached ? price.cached : price.tokens;
    const requestId = `req_${run}_${index}`;
    const known = requests[step.pick % Math.max(1, requests.length)] ?? { requestId: "req_none", place };
    const owner = ids[known.place]!;
    const owning = models[known.place]!;
    const request = {
      requestId,
      accountId: id,
      keyId: "key_model",
      operation: OPERATION,
      tokens,
      priceVersion: version + 1,
      cached,
      instanceId: 0,
      now,
      deadline: new Date(nowMs + HOLD_MS),
    };
    const at = `step ${index} ${step.kind}`;
    switch (step.kind) {
      case "hold":
      case "charge": {
        await underWay.wait(id);
        const isCharge = step.kind === "charge";
        const expected = model.take(requestId, tokens, nowMs, isCharge);
        if (expected === undefined) requests.push({ requestId, place });
        underWay.add([id], async () =>
          equal(
            at,
            await codeOf(() =>
              isCharge
                ? charge(database, request, undefined, statements)
                : hold(database, request, statements),
            ),
            expected,
          ),
        );
        break;
      }
      case "capture":
      case "void": {
        await underWay.wait(owner);
        const held = owning.open.get(known.requestId);
        const whole = held ? held.trial + held.paid + held.credit : 1;
        const expected = owning.end(known.requestId, step.kind === "capture");
        const end = { kind: step.kind, tokens: whole, note: at, now, accountId: owner };
        underWay.add([owner], async () =>
          equal(
            at,
            (await settle(database, known.requestId, end, undefined, statements)) !== undefined,
            expected,
          ),
        );
        break;
      }
      case "topup": {
        const reference = `pay_${run}_${step.pick % 40}`;
        await underWay.wait(id, reference);
        const isNew = !models.some((one) => one.references.has(reference));
        if (isNew) {
          model.references.add(reference);
          model.fill(size);
        }
        underWay.add([id, reference], async () =>
          equal(at, await topUp(database, id, size, reference, why), isNew),
        );
        break;
      }
      case "grant": {
        await underWay.wait(id);
        const expiresAt = new Date(nowMs + 3_600_000);
        const isNew = !model.hadTrial;
        if (isNew) {
          model.hadTrial = true;
          model.trial += size;
          model.trialEndsMs = expiresAt.getTime();
        }
        underWay.add([id], async () =>
          equal(at, await grantTrial(database, id, { tokens: size, expiresAt }, why), isNew),
        );
        break;
      }
      case "adjust": {
        await underWay.wait(id);
        const change = step.pick % 2 === 0 ? size : -size;
        const fits = change >= 0 || model.trial + model.paid >= -change;
        if (fits && change >= 0) model.paid += change;
        else if (fits) {
          const paid = Math.min(model.paid, -change);
          model.paid -= paid;
          model.trial -= -change - paid;
        }
        underWay.add([id], async () =>
          equal(
            at,
            await codeOf(() => adjust(database, id, change, why)),
            fits ? undefined : "invalid_params",
          ),
        );
        break;
      }
      case "credit": {
        await underWay.wait(id);
        const change = Math.max(size - model.limit, -model.credit);
        model.credit += change;
        model.limit += change;
        underWay.add([id], () => setCreditLimit(database, id, size, why));
        break;
      }
      case "reverse": {
        await underWay.wait(owner);
        const expected = owning.refund(known.requestId, size);
        underWay.add([owner], async () =>
          equal(at, await codeOf(() => reverse(database, known.requestId, size, why)), expected),
        );
        break;
      }
      case "freeze": {
        await underWay.wait(id);
        model.frozen = step.pick % 4 === 0;
        const { frozen } = model;
        underWay.add([id], () => setFrozen(database, id, frozen));
        break;
      }
      case "wait":
        nowMs += step.pick * 100;
        break;
      case "expire":
        await underWay.wait(id);
        if (nowMs >= model.trialEndsMs) model.trial = 0;
        underWay.add([id], () => expireTrial(database, id, now));
        break;
      case "recover":
        await underWay.end();
        for (const one of models)
          for (const [open, { endsMs }] of one.open) if (endsMs < nowMs) one.end(open, false);
        await recover(database, now);
        break;
    }
    if (index % COMPARE_EVERY === 0) {
      await underWay.end();
      await compare(database, at, ids, models);
    }
  }
  await underWay.end();
  await compare(database, "the end", ids, models);
  for (const { open } of models) open.clear();
  await recover(database, new Date(nowMs + 2 * HOLD_MS));
  await Promise.all(ids.map((id) => readWallet(database, id, new Date(nowMs))));
}

/** Steps that have started, by the accounts and payments that they use. */
class UnderWay {
  readonly #running = new Map<string, Promise<unknown>>();

  /** Waits until no step that uses one of these is running. Throws what such a step threw. */
  async wait(...touched: readonly string[]): Promise<void> {
    for (const name of touched) await this.#running.get(name);
  }

  add(touched: readonly string[], run: () => Promise<unknown>): void {
    const running = run();
    // The error is thrown to whoever waits for the step.
    running.catch(() => {});
    for (const name of touched) this.#running.set(name, running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#running.values());
    this.#running.clear();
  }
}

/** Every law, over everything that was played. */
export async function checkLaws(database: Database): Promise<void> {
  await sealEntries(database, new Date());
  const broken = (await verifyLedger(database)).findings.filter(({ breaches }) => breaches.length > 0);
  if (broken.length > 0) throw new Error(`Broken laws: ${JSON.stringify(broken)}`);
}

function sumHeld({ open }: Model): number {
  return [...open.values()].reduce((sum, { trial, paid, credit }) => sum + trial + paid + credit, 0);
}

async function compare(
  database: Database,
  at: string,
  ids: readonly string[],
  models: readonly Model[],
): Promise<void> {
  const found = await database.pool.query({
    name: "model-wallets",
    text: `select trial, paid, credit, credit_limit as limit, held from wallet
           where account_id = any($1) order by account_id`,
    values: [ids],
  });
  const expected = models.map((model) => {
    const { trial, paid, credit, limit } = model;
    return { trial, paid, credit, limit, held: sumHeld(model) };
  });
  equal(at, found.rows, expected);
}

async function codeOf(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

function equal(at: string, real: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(real), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${at}: the ledger says ${a}, the model ${b}`);
}
