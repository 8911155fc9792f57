import { Failure } from "@dataq/contract";
import fc from "fast-check";
import type { Database } from "../src/database/database.ts";
import { charge, hold, settle } from "../src/ledger/hold.ts";
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
import { verifyLedger } from "../src/ledger/verify.ts";
import { readWallet, setFrozen } from "../src/ledger/wallet.ts";

/** The ledger as one would write it without a database: what the real one must agree with, step by step. */
class Model {
  trial = 0;
  paid = 0;
  credit = 0;
  limit = 0;
  trialEndsMs = Number.POSITIVE_INFINITY;
  hadTrial = false;
  frozen = false;
  readonly references = new Set<string>();
  readonly open = new Map<string, { trial: number; paid: number; credit: number; endsMs: number }>();
  readonly captured = new Map<string, number>();

  get balance(): number {
    return this.trial + this.paid + this.credit;
  }

  /** Undefined when it succeeds, else the failure's code. */
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
    if (settled) this.captured.set(requestId, tokens);
    else this.open.set(requestId, { trial, paid, credit, endsMs: nowMs + HOLD_MS });
    return undefined;
  }

  end(requestId: string, captures: boolean): boolean {
    const held = this.open.get(requestId);
    if (!held) return false;
    this.open.delete(requestId);
    if (captures) this.captured.set(requestId, held.trial + held.paid + held.credit);
    else {
      const credit = Math.min(held.credit, this.limit - this.credit);
      this.trial += held.trial;
      this.credit += credit;
      this.paid += held.paid + held.credit - credit;
    }
    return true;
  }

  fill(tokens: number): void {
    const credit = Math.min(tokens, this.limit - this.credit);
    this.credit += credit;
    this.paid += tokens - credit;
  }
}

/** One thing that happens to one of the accounts; `pick` and `size` choose what is left open. */
export interface Step {
  readonly kind: Kind;
  readonly account: number;
  readonly pick: number;
  readonly size: number;
}

const kinds = [
  "hold",
  "hold",
  "hold",
  "charge",
  "capture",
  "capture",
  "void",
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
const COMPARE_EVERY = 7;
const OPERATION = "legal_laws";
/** Versions of the price, as the table has them: what is captured must be one of these. */
const prices = [
  { tokens: 5_000, cached: 2_500 },
  { tokens: 70, cached: 35 },
  { tokens: 1, cached: 1 },
];
const sizes = [1, 35, 70, 2_500, 5_000, 12_345, 1_000_000];

export const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...kinds),
  account: fc.nat({ max: 2 }),
  pick: fc.nat({ max: 1_000 }),
  size: fc.nat({ max: sizes.length - 1 }),
});

export async function prepareModel(database: Database): Promise<void> {
  for (const [index, price] of prices.entries())
    await database.pool.query(
      "insert into price values ($1, $2, $3, $4, 'epoch', 'test') on conflict do nothing",
      [OPERATION, index + 1, price.tokens, price.cached],
    );
}

let serial = 0;

/** Plays the steps on three fresh accounts, on the ledger and on the model, and throws where they differ. */
export async function playSteps(database: Database, steps: readonly Step[]): Promise<void> {
  const run = ++serial;
  const ids = [0, 1, 2].map((n) => `model_${process.pid}_${run}_${n}`);
  const models = ids.map(() => new Model());
  const requests: string[] = [];
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  for (const id of ids) await openWallet(database, id, new Date(nowMs));

  for (const [index, step] of steps.entries()) {
    const id = ids[step.account]!;
    const model = models[step.account]!;
    const now = new Date(nowMs);
    const why = { actor: "model", note: step.kind, now };
    const size = sizes[step.size]!;
    const version = step.pick % prices.length;
    const price = prices[version]!;
    const cached = step.pick % 2 === 1;
    const tokens = cached ? price.cached : price.tokens;
    const requestId = `req_${run}_${index}`;
    const known = requests[step.pick % Math.max(1, requests.length)] ?? "req_none";
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
        const take = step.kind === "hold" ? hold : charge;
        const expected = model.take(requestId, tokens, nowMs, step.kind === "charge");
        equal(at, await codeOf(() => take(database, request)), expected);
        if (expected === undefined) requests.push(requestId);
        break;
      }
      case "capture":
      case "void": {
        const owner = models.find((one) => one.open.has(known) || one.captured.has(known));
        const held = owner?.open.get(known);
        const whole = held ? held.trial + held.paid + held.credit : 1;
        const expected = owner?.end(known, step.kind === "capture") ?? false;
        const ended = await settle(database, known, {
          kind: step.kind,
          tokens: whole,
          note: at,
          now,
          accountId: id,
        });
        equal(at, ended !== undefined, expected);
        break;
      }
      case "topup": {
        const reference = `pay_${run}_${step.pick % 40}`;
        const isNew = !models.some((one) => one.references.has(reference));
        if (isNew) {
          model.references.add(reference);
          model.fill(size);
        }
        equal(at, await topUp(database, id, size, reference, why), isNew);
        break;
      }
      case "grant": {
        const endsMs = nowMs + 3_600_000;
        const isNew = !model.hadTrial;
        if (isNew) {
          model.hadTrial = true;
          model.trial += size;
          model.trialEndsMs = endsMs;
        }
        equal(at, await grantTrial(database, id, { tokens: size, expiresAt: new Date(endsMs) }, why), isNew);
        break;
      }
      case "adjust": {
        const change = step.pick % 2 === 0 ? size : -size;
        const fits = change >= 0 || model.trial + model.paid >= -change;
        if (fits && change >= 0) model.paid += change;
        else if (fits) {
          const paid = Math.min(model.paid, -change);
          model.paid -= paid;
          model.trial -= -change - paid;
        }
        equal(
          at,
          await codeOf(() => adjust(database, id, change, why)),
          fits ? undefined : "insufficient_balance",
        );
        break;
      }
      case "credit": {
        const change = Math.max(size - model.limit, -model.credit);
        model.credit += change;
        model.limit += change;
        await setCreditLimit(database, id, size, why);
        break;
      }
      case "reverse": {
        const owner = models.find((one) => one.captured.has(known));
        const captured = owner?.captured.get(known) ?? 0;
        const fits = captured >= size;
        if (owner && fits) {
          owner.paid += size;
          owner.captured.set(known, 0);
        }
        equal(at, (await reverse(database, known, size, why)) !== undefined, fits);
        break;
      }
      case "freeze":
        model.frozen = step.pick % 4 === 0;
        await setFrozen(database, id, model.frozen);
        break;
      case "wait":
        nowMs += step.pick * 100;
        break;
      case "expire":
        if (nowMs >= model.trialEndsMs) model.trial = 0;
        await expireTrial(database, id, now);
        break;
      case "recover":
        for (const one of models)
          for (const [open, { endsMs }] of one.open) if (endsMs < nowMs) one.end(open, false);
        await recover(database, now);
        break;
    }
    if (index % COMPARE_EVERY === 0) await compare(database, at, ids, models);
  }
  await compare(database, "the end", ids, models);
  for (const { open } of models) open.clear();
  await recover(database, new Date(nowMs + 2 * HOLD_MS));
  for (const id of ids) await readWallet(database, id, new Date(nowMs));
}

/** Every law over everything that was played. */
export async function checkLaws(database: Database): Promise<void> {
  await sealEntries(database, new Date());
  const broken = (await verifyLedger(database)).filter(({ breaches }) => breaches.length > 0);
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
