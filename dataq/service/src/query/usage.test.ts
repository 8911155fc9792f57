import type { UsageGroup } from "@dataq/contract/wire";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFullSize } from "../../../../testing/test-size.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { charge, hold } from "../ledger/hold.ts";
import { openWallet, reverse, topUp } from "../ledger/movement.ts";
import { settle } from "../ledger/settlement.ts";
import { listRequests, RequestLog } from "./request-log.ts";
import { sumUsage } from "./usage.ts";
import { sumNewUsage } from "./usage-sums.ts";

let folder: string;
let database: Database;
let log: RequestLog;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  log = new RequestLog(database, (error) => {
    throw error;
  });
}, 60_000);
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});

const offsets = ["08:00", "00:00", "05:30", "05:45", "-03:30", "12:45", "-09:30"];
const groupings: readonly (readonly UsageGroup[])[] = [
  [],
  ["day"],
  ["operation"],
  ["key"],
  ["day", "operation", "key"],
  ["code"],
  ["day", "code"],
  ["day", "operation", "key", "code"],
];

/** Sums over every entry and every line of the log, without any prepared sums. */
async function bruteForce(
  accountId: string,
  range: { from: string; to: string; groups: readonly string[]; offset: string },
): Promise<unknown[]> {
  const names = range.groups.join(", ");
  const found = await database.query(
    `with money as (
       select h.request_id as id, h.at, h.operation, h.key_id, h.cached,
              (select -sum(tokens) from entry e where e.request_id = h.request_id) as tokens
       from entry h where h.account_id = $1 and h.kind = 'hold'
     ), joined as (
       select coalesce(m.at, c.at) as at, case when m.id is null then c.operation else m.operation end as operation,
              case when m.id is null then c.key_id else m.key_id end as key, coalesce(m.cached, false) as cached,
              coalesce(m.tokens, 0) as tokens, c.status >= 400 as is_failed,
              case when c.status >= 400 then coalesce(c.code, c.status::text) end as code
       from money m full join (select * from request where account_id = $1) c using (id)
     ), dated as (select *, to_char(at at time zone 'UTC' + $4::interval, 'YYYY-MM-DD') as day from joined)
     select ${names ? `${names},` : ""} count(*)::int as calls, (count(*) filter (where tokens > 0))::int as billed_calls,
            (count(*) filter (where cached and tokens > 0))::int as cached_calls,
            (count(*) filter (where is_failed))::int as failed_calls, coalesce(sum(tokens), 0)::bigint as tokens
     from dated where day between $2 and $3 ${names ? `group by ${names} order by ${names}` : ""}`,
    [accountId, range.from, range.to, range.offset],
  );
  return found.rows;
}

const step = fc.record({
  what: fc.constantFrom(
    "call",
    "charge",
    "free",
    "open",
    "settle",
    "reverse",
    "log",
    "old log",
    "sum",
    "top up",
  ),
  later: fc.constantFrom(0, 1, 899_999, 900_000, 1_800_001, 7_300_000, 86_400_000),
  key: fc.constantFrom("key_a", "key_b"),
  operation: fc.constantFrom("legal_laws", "legal_cases"),
  status: fc.constantFrom(200, 404, 503),
  pick: fc.nat(99),
  piece: fc.constantFrom(1, 2, 10_000),
});

test("prepared sums and the live rest equal the sums over all calls, in every time zone and range", async () => {
  let serial = 0;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const accountId = `acc_${++serial}`;
      let nowMs = Date.parse("2026-02-27T15:45:00Z");
      await openWallet(database, accountId, new Date(nowMs));
      await topUp(database, accountId, 1e9, accountId, { actor: "t", note: "t", now: new Date(nowMs) });
      const open: string[] = [];
      const captured: string[] = [];
      const unlogged: { readonly id: string; readonly at: Date }[] = [];
      for (const { what, later, key, operation, status, pick, piece } of steps) {
        nowMs += later;
        const now = new Date(nowMs);
        const why = { actor: "t", note: "t", now };
        const requestId = `req_${++serial}`;
        const cached = pick % 2 === 0;
        const rest = { priceVersion: 1, instanceId: 0, now, deadline: now, cached };
        const call = { requestId, accountId, keyId: key, operation, tokens: 100, ...rest };
        if (what === "charge" || what === "call" || what === "open") {
          // A line can be written before the hold, whose outcome was unknown for a while.
          if (pick % 5 === 0) await write(accountId, requestId, now, status, "key_late", null);
          else unlogged.push({ id: requestId, at: new Date(nowMs + 899_999) });
          if (what === "charge") captured.push(requestId);
          else open.push(requestId);
          await (what === "charge" ? charge(database, call) : hold(database, call));
        } else if (what === "free") {
          await write(accountId, requestId, now, status, key, pick % 3 === 0 ? null : operation);
        } else if (what === "settle" && open.length > 0) {
          const id = open.splice(pick % open.length, 1)[0]!;
          const kind = pick % 3 === 0 ? "void" : "capture";
          await settle(database, id, { kind, tokens: 60, note: "t", now, accountId });
          if (kind === "capture") captured.push(id);
        } else if (what === "reverse" && captured.length > 0) {
          const id = captured.splice(pick % captured.length, 1)[0]!;
          await reverse(database, id, pick % 2 === 0 ? 60 : 30, why);
        } else if (what === "log" && unlogged.length > 0) {
          const { id, at } = unlogged.splice(pick % unlogged.length, 1)[0]!;
          await write(accountId, id, at, status, key, operation);
        } else if (what === "old log") {
          // A service of an older version does not count.
          const { id, at } = unlogged.splice(0, 1)[0] ?? { id: requestId, at: now };
          await database.query(
            `insert into request (id, at, account_id, key_id, mode, route, operation, status, cached, latency_ms)
             values ($1, $2, $3, $4, 'live', '/', $5, $6, false, 1)`,
            [id, at, accountId, key, operation, status],
          );
        } else if (what === "sum") {
          await sumNewUsage(database, pick % 2 === 0 ? undefined : new Date(nowMs - 7_300_000), piece);
        } else if (what === "top up") {
          await topUp(database, accountId, 5, requestId, why);
        }
      }
      runs++;
      for (const [place, offset] of offsets.entries())
        for (const [index, groups] of groupings.entries()) {
          // The runs take turns with the pairs of a time zone and a grouping.
          if (!isFullSize && (place + index + runs) % 3 !== 0) continue;
          const from = `2026-02-${26 + (index % 3)}`;
          const to = ["2026-02-28", "2026-03-01", "2026-04-30"][(index + serial) % 3]!;
          const range = { from, to, groups, offset };
          expect(await sumUsage(database, accountId, range)).toEqual(await bruteForce(accountId, range));
        }
    }),
    { numRuns: isFullSize ? 300 : 15, seed: 18 },
  );
  // With everything summed, the result is the same.
  await sumNewUsage(database);
  const left = await database.query("select from request where is_held is null");
  expect(left.rowCount).toBe(0);
  const wide = { from: "2026-01-01", to: "2026-12-31", groups: ["day", "key"] as const, offset: "05:45" };
  for (const accountId of ["acc_1"])
    expect(await sumUsage(database, accountId, wide)).toEqual(await bruteForce(accountId, wide));
}, 600_000);

async function write(
  accountId: string,
  id: string,
  at: Date,
  status: number,
  keyId: string,
  operation: string | null,
): Promise<void> {
  const code = status >= 400 ? `code_${status}` : null;
  const rest = { mode: "live", route: "/", code, reason: null, cached: false, latencyMs: 1 } as const;
  log.add({ id, at, accountId, keyId, operation, status, clientRequestId: null, ...rest });
  await log.flush();
}

test("lines that are written while their holds are summed are counted once", async () => {
  const now = new Date("2026-05-01T00:00:00Z");
  await openWallet(database, "busy", now);
  await topUp(database, "busy", 1e9, "busy", { actor: "t", note: "t", now });
  const ids = Array.from({ length: 60 }, (_, n) => `busy_${n}`);
  const rest = { priceVersion: 1, cached: false, instanceId: 0, now, deadline: now };
  await Promise.all(
    ids.map(async (requestId, n) => {
      const call = {
        requestId,
        accountId: "busy",
        keyId: "key",
        operation: "legal_laws",
        tokens: 10,
        ...rest,
      };
      const line = write("busy", requestId, now, 503, "key", null);
      await Promise.all([line, hold(database, call), n % 4 === 0 && sumNewUsage(database)]);
    }),
  );
  await sumNewUsage(database);
  const range = { from: "2026-05-01", to: "2026-05-01", groups: ["operation"] as const, offset: "00:00" };
  expect(await sumUsage(database, "busy", range)).toEqual([
    { operation: "legal_laws", calls: 60, billed_calls: 60, cached_calls: 0, failed_calls: 60, tokens: 600 },
  ]);
});

test("filters of the list of calls, alone and together, select what a look at every call selects", async () => {
  const now = new Date("2026-06-01T00:00:00Z");
  const [statuses, keys, names] = [
    [200, 404, 503, 202],
    ["key_x", "key_y"],
    ["legal_laws", "legal_cases", null],
  ];
  for (let n = 0; n < 48; n++)
    await write(
      "filtered",
      `filter_${n + 100}`,
      now,
      statuses[n % 4]!,
      keys[(n % 2) ^ ((n >> 3) % 2)]!,
      names[n % 3]!,
    );
  const all = await listRequests(database, "filtered", { limit: 100 });
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 48 }, (_, n) => `filter_${147 - n}`));
  for (const status of [undefined, 200, 404, 499, 202])
    for (const key of [undefined, "key_x", "key_none"])
      for (const operation of [undefined, "legal_laws", "legal_none"])
        for (const before of [undefined, "filter_120"])
          expect(
            await listRequests(database, "filtered", { limit: 5, status, key, operation, before }),
          ).toEqual(
            all
              .filter(
                (row) =>
                  (status === undefined || row.status === status) &&
                  (key === undefined || row.key_id === key) &&
                  (operation === undefined || row.operation === operation) &&
                  (before === undefined || row.id < before),
              )
              .slice(0, 5),
          );
});
