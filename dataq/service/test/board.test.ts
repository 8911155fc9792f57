import { chinaDate } from "@dataq/contract";
import type { Board } from "@dataq/contract/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;
const DAY = 86_400_000;
const CREDIT = 50_000;

beforeAll(async () => {
  service = await startInProcess();
});
afterAll(() => service?.[Symbol.asyncDispose]());

let serial = 0;
const fresh = () => ({ operation: "legal_laws", params: { query: `found board ${++serial}` } });
const ask = async (key: string, body: object) => (await service.call("/v1/data/query", { key, body })).body;
const boardOf = async (range = ""): Promise<Board> => {
  const { status, body } = await service.call(`/admin/v1/board${range}`);
  expect(status, JSON.stringify(body) + service.log().slice(-1_500)).toBe(200);
  return body;
};

/** Entries of customers, as they are stored. */
async function entries(): Promise<Record<string, number & string & Date>[]> {
  const found = await service.database.query<Record<string, number & string & Date>>(
    "select e.* from entry e join account a on a.id = e.account_id and a.role = 'customer' order by at, seq",
  );
  return found.rows;
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

test("every figure of the board agrees with the ledger, the request log and the vendors, on every range of days", async () => {
  const trial = await service.account(0, { tokens: undefined });
  const payer = await service.account(3_000_000);
  // Almost without paid tokens, so that calls run into the credit line.
  const debtor = await service.account(7_000);
  await service.call(`/admin/v1/accounts/${debtor.id}`, { method: "PATCH", body: { credit_limit: CREDIT } });
  const keys = [trial, payer, debtor].map((one) => one.keys[0]!);
  const requests: string[] = [];
  for (let day = 0; day < 4; day++) {
    const known = fresh();
    for (const key of keys) {
      for (const body of [known, known, fresh(), { ...fresh(), operation: "enterprise_search" }])
        requests.push((await ask(key, body)).request_id);
      await ask(key, { queries: [fresh(), known, fresh()] });
    }
    await ask(keys[1]!, { operation: "legal_laws", params: { query: "fail:upstream_error x" } });
    await ask(keys[1]!, { operation: "legal_laws", params: { query: "past_end x" } });
    await service.database.query(
      `insert into vendor_request (id, contract, operation, request_id, sent_at, cost_fen, outcome, status, ms)
       values ($1, 'north', 'legal_laws', null, $2, 12.5, 'answered', 200, 30),
              ($1 || 'b', 'south', 'legal_laws', null, $2, 0, 'failed', 500, 900),
              ($1 || 'c', 'south', 'legal_laws', null, $2, 2.5, 'failed', null, 900)`,
      [`v${day}`, new Date(service.nowMs)],
    );
    if (day === 1) {
      const topup = { tokens: 123_457, reference: "bank 1", note: "by bank" };
      await service.call(`/admin/v1/accounts/${payer.id}/topups`, { body: topup });
    }
    if (day === 2)
      // In part and as a whole; calls that were free cannot be refunded.
      for (const [place, tokens] of [
        [0, 700],
        [4, 5_000],
      ] as const)
        await service.call("/admin/v1/refunds", {
          body: { request_id: requests[place], tokens, reason: "sorry" },
        });
    service.nowMs += DAY;
  }
  const all = await entries();
  const first = chinaDate(all[0]!["at"]!);
  const last = chinaDate(new Date(service.nowMs));
  const whole = await boardOf(`?from=${first}&to=${last}`);

  const earned = sum(all.map(({ earnings }) => earnings!));
  expect(whole.money.earned).toBe(earned);
  // By slices of wallets: what calls took of paid tokens and credit, and did not give back.
  const ofCalls = all.filter(({ request_id }) => request_id !== null);
  expect(whole.money.earned_paid).toBe(-sum(ofCalls.map(({ paid, credit }) => paid! + credit!)));
  expect(whole.money.earned_trial).toBe(-sum(ofCalls.map(({ trial: part }) => part!)));
  expect(whole.money.earned_trial).toBeGreaterThan(0);
  expect(whole.money.paid_in).toBe(123_457);
  expect(whole.money.vouchers).toBe(3_007_000);
  expect(whole.money.vendor_cost_fen).toBe(60);
  const wallets = await service.database.query<{ paid: number; trial: number; drawn: number }>(
    `select sum(paid)::bigint as paid, sum(trial)::bigint as trial, sum(credit_limit - credit)::bigint as drawn
     from wallet join account a on a.id = account_id and a.role = 'customer'`,
  );
  expect(whole.owed).toEqual({
    paid: wallets.rows[0]!.paid,
    trial: wallets.rows[0]!.trial,
    held: 0,
    credit_drawn: wallets.rows[0]!.drawn,
  });
  expect(whole.owed.credit_drawn).toBeGreaterThan(0);
  expect(whole.customers).toMatchObject({ active: 3, paying: 2, new: 3, total: 3 });

  // Parts add up to the whole: operations, days, and single days of the board.
  expect(sum(whole.operations.map((row) => row.earned))).toBe(earned);
  expect(sum(whole.operations.map((row) => row.earned_trial))).toBe(whole.money.earned_trial);
  expect(sum(whole.operations.map((row) => row.vendor_cost_fen))).toBe(60);
  expect(sum(whole.days.map((row) => row.earned_paid + row.earned_trial))).toBe(earned);
  expect(sum(whole.days.map((row) => row.calls))).toBe(sum(whole.operations.map((row) => row.calls)));
  const singles = await Promise.all(whole.days.map(({ day }) => boardOf(`?from=${day}&to=${day}`)));
  for (const name of ["earned", "earned_paid", "earned_trial", "paid_in", "vendor_cost_fen"] as const)
    expect(sum(singles.map(({ money }) => money[name])), name).toBe(whole.money[name]);
  expect(singles.map(({ owed }) => owed.paid).at(-1)).toBe(whole.owed.paid);

  expect(whole.vendors).toEqual([
    expect.objectContaining({
      contract: "north",
      requests: 4,
      failed: 0,
      cost_fen: 50,
      unsure_fen: 0,
      p50_ms: 30,
    }),
    expect.objectContaining({
      contract: "south",
      requests: 8,
      failed: 8,
      cost_fen: 10,
      unsure_fen: 10,
      p95_ms: 900,
    }),
  ]);
  expect(whole.failures).toContainEqual({ operation: "legal_laws", code: "upstream_error", calls: 4 });
  expect(whole.unhappy).toEqual([expect.objectContaining({ account_id: payer.id, failed: 4 })]);
  expect(whole.cohorts).toEqual([
    { month: first.slice(0, 7), accounts: 1, called: 1, paid: 0, earned_paid: 0 },
  ]);
}, 60_000);

test("an account's page: keys without texts, calls, ledger and notes, and the audit log says who looked", async () => {
  const { id, keys } = await service.account(100_000);
  await ask(keys[0]!, fresh());
  const get = async (what: string) => (await service.call(`/admin/v1/accounts/${id}/${what}`)).body.data;
  expect(JSON.stringify(await get("keys"))).not.toContain(keys[0]!.slice(9, 30));
  expect(await get("requests")).toHaveLength(1);
  expect((await get("ledger")).map(({ kind }: { kind: string }) => kind)).toEqual([
    "capture",
    "hold",
    "topup",
  ]);
  expect(await get("usage?group_by=operation")).toMatchObject([{ operation: "legal_laws", calls: 1 }]);
  const text = "Rang: 发票抬头 <b>wrong</b>";
  const made = await service.call(`/admin/v1/accounts/${id}/notes`, { body: { text } });
  expect(made.status).toBe(201);
  expect(await get("notes")).toMatchObject([{ text, actor: expect.stringMatching(/^key_/) }]);
  expect((await service.call("/admin/v1/accounts/acc_none/requests")).status).toBe(404);
  const audit = (await service.call("/admin/v1/audit")).body.data;
  // Three lists were read, and one line says so.
  const about = audit.filter(({ target }: { target: string }) => target === id);
  expect(about.map(({ action }: { action: string }) => action)).toEqual([
    "account.note",
    "account.view",
    "account.create",
  ]);
  // The customer sees nothing of the note.
  expect((await service.call("/admin/v1/accounts", { key: keys[0]! })).status).toBe(403);
});
