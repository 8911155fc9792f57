import { chinaDate, Failure, instantInChina, invalid } from "@dataq/contract";
import {
  type accountNote,
  type apiKey,
  type approval,
  type board,
  boardQuery,
  newAccountNote,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { findAccount } from "../../../accounts/account.ts";
import { type Approval, listApprovals, rejectApproval } from "../../../business/approvals.ts";
import {
  type BoardRange,
  readCohorts,
  readCustomers,
  readDays,
  readFailures,
  readMoney,
  readOperations,
  readOwed,
  readUnhappy,
  readVendors,
} from "../../../business/board.ts";
import { addNote, listNotes } from "../../../business/notes.ts";
import { inTransaction } from "../../../database/transaction.ts";
import { check, readJson } from "../../body.ts";
import { authorOf } from "../../caller.ts";
import type { HttpParts } from "../../parts.ts";
import { keyBody } from "../keys.ts";

const DAY_MS = 86_400_000;
/** A board of more days takes too long. */
const MOST_DAYS = 366;

/** The operator's business in figures, and what is known about one account. */
export function addAdminBoardRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;

  app.get("/admin/v1/board", async (request): Promise<Sent<typeof board>> => {
    const { from, to, range } = rangeOf(request.query, parts.clock());
    await parts.requestLog.flush();
    // One snapshot, so that the figures agree with each other.
    return inTransaction(database, async (transaction) => {
      await transaction.query("set transaction isolation level repeatable read read only");
      return {
        from,
        to,
        money: await readMoney(transaction, range),
        owed: await readOwed(transaction, range.to),
        customers: await readCustomers(transaction, range),
        days: await readDays(transaction, range),
        operations: await readOperations(transaction, range),
        vendors: await readVendors(transaction, range),
        failures: await readFailures(transaction, range),
        unhappy: await readUnhappy(transaction, range),
        cohorts: await readCohorts(transaction, range.to),
      };
    });
  });

  app.get<{ Params: { id: string } }>(
    "/admin/v1/accounts/:id/keys",
    async (request): Promise<{ data: Sent<typeof apiKey>[] }> => {
      const id = await accountId(request.params.id);
      return { data: (await parts.keys.list(id)).map(keyBody) };
    },
  );

  app.get<{ Params: { id: string } }>(
    "/admin/v1/accounts/:id/notes",
    async (request): Promise<{ data: Sent<typeof accountNote>[] }> => {
      const id = await accountId(request.params.id);
      return { data: await listNotes(database.reads.recent, id) };
    },
  );

  app.post<{ Params: { id: string } }>(
    "/admin/v1/accounts/:id/notes",
    async (request, reply): Promise<Sent<typeof accountNote>> => {
      const id = await accountId(request.params.id);
      const { text } = check(newAccountNote, readJson(request));
      const author = authorOf(parts, request);
      reply.code(201);
      return inTransaction(database, (transaction) => addNote(transaction, id, text, author));
    },
  );

  app.get("/admin/v1/approvals", async () => ({
    data: (await listApprovals(database)).map(approvalBody),
  }));

  app.post<{ Params: { id: string } }>("/admin/v1/approvals/:id/reject", async (request) =>
    approvalBody(await rejectApproval(database, request.params.id, authorOf(parts, request))),
  );

  async function accountId(id: string): Promise<string> {
    if (!(await findAccount(database, id)))
      throw new Failure("not_found", { what: `The account ${id.slice(0, 64)}` });
    return id;
  }
}

function approvalBody(one: Approval): Sent<typeof approval> {
  const { accountId, askedBy, askedAt, decidedBy, decidedAt, ...same } = one;
  return {
    ...same,
    account_id: accountId,
    asked_by: askedBy,
    asked_at: askedAt,
    decided_by: decidedBy,
    decided_at: decidedAt,
  };
}

function rangeOf(query: unknown, now: Date): { from: string; to: string; range: BoardRange } {
  const wanted = check(boardQuery, query);
  const to = wanted.to ?? chinaDate(now);
  const from = wanted.from ?? `${to.slice(0, 7)}-01`;
  const begin = new Date(instantInChina(from, "00:00:00"));
  const end = new Date(Date.parse(instantInChina(to, "00:00:00")) + DAY_MS);
  if (begin >= end)
    throw invalid(
      "from",
      "range",
      "from must not be after to",
      "send a date no later than to",
      "请发送不晚于 to 的日期",
    );
  if (end.getTime() - begin.getTime() > MOST_DAYS * DAY_MS)
    throw invalid(
      "from",
      "range",
      `from must be at most ${MOST_DAYS} days before to`,
      "send a later from",
      `时间范围不得超过 ${MOST_DAYS} 天`,
    );
  return { from, to, range: { from: begin, to: end } };
}
