import { chinaDate, Failure, invalid } from "@dataq/contract";
import {
  type entry,
  exportQuery,
  ledgerQuery,
  type requestDetail,
  requestsQuery,
  type Sent,
  usageQuery,
} from "@dataq/contract/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { findAccount } from "../../accounts/account.ts";
import { writeAudit } from "../../accounts/audit.ts";
import { holds } from "../../accounts/scope.ts";
import type { Queries } from "../../database/database.ts";
import {
  chainNext,
  chainStart,
  type Entry,
  entriesOfRequest,
  entryColumns,
  listEntries,
  readEntries,
} from "../../ledger/entry.ts";
import { currentNote } from "../../ledger/own-notes.ts";
import { findAnyRequest, findRequest, listRequests } from "../../query/request-log.ts";
import { readUsage } from "../../query/usage.ts";
import { check } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import { csvLine } from "../csv.ts";
import type { HttpParts } from "../parts.ts";
import { scrub } from "../scrub.ts";

/** Routes that show how tokens were spent: by ledger entry, by day and operation, and by call. */
export function addLedgerRoutes(app: FastifyInstance, parts: HttpParts): void {
  const entriesOf = async (accountId: string, query: unknown) => {
    const { cursor, limit } = check(ledgerQuery, query);
    const entries = await listEntries(parts.database.reads.recent, accountId, limit + 1, cursor);
    const shown = entries.slice(0, limit);
    return {
      data: shown.map(lineOf),
      next_cursor: entries.length > limit ? String(shown.at(-1)!.seq) : null,
    };
  };
  app.get("/v1/ledger", async (request) => entriesOf(principalOf(request).account.id, request.query));
  app.get("/admin/v1/accounts/:id/ledger", async (request) =>
    entriesOf(await viewed(parts, request), request.query),
  );

  app.get("/v1/ledger/export", async (request, reply) => {
    const { account } = principalOf(request);
    const { format } = check(exportQuery, request.query);
    const lines = ledgerLines(parts.database.longReads, account.id, format);
    return parts.exports.send(reply, { accountId: account.id, name: "ledger", format }, lines, () =>
      writeAudit(parts.database, authorOf(parts, request), "export.ledger", account.id, null, { format }),
    );
  });

  app.get("/v1/usage", async (request) => ({
    data: (await usageOf(parts, principalOf(request).account.id, request.query)).rows,
  }));
  app.get("/admin/v1/accounts/:id/usage", async (request) => ({
    data: (await usageOf(parts, await viewed(parts, request), request.query)).rows,
  }));

  app.get("/v1/usage.csv", async (request, reply) => {
    const { groups, rows } = await usageOf(parts, principalOf(request).account.id, request.query);
    const columns = [...groups, "calls", "billed_calls", "cached_calls", "failed_calls", "tokens"] as const;
    reply.type("text/csv; charset=utf-8");
    return csvLine(columns) + rows.map((row) => csvLine(columns.map((column) => row[column]))).join("");
  });

  const requestsOf = async (accountId: string, query: unknown) => {
    const { cursor, limit, ...filter } = check(requestsQuery, query);
    await parts.requestLog.flush();
    const rows = await listRequests(parts.database, accountId, {
      limit: limit + 1,
      before: cursor,
      ...filter,
    });
    const shown = rows.slice(0, limit);
    return { data: shown, next_cursor: rows.length > limit ? shown.at(-1)!.id : null };
  };
  app.get("/v1/requests", async (request) => requestsOf(principalOf(request).account.id, request.query));
  app.get("/admin/v1/accounts/:id/requests", async (request) =>
    requestsOf(await viewed(parts, request), request.query),
  );

  app.get<{ Params: { id: string } }>(
    "/v1/requests/:id",
    async (request): Promise<Sent<typeof requestDetail>> => {
      const { account, scopes } = principalOf(request);
      await parts.requestLog.flush();
      const { id } = request.params;
      // Operators see the calls of all accounts, and why a source failed.
      const isOperator = account.role === "admin" && holds(scopes, "admin:read");
      const any = isOperator ? await findAnyRequest(parts.database, id) : undefined;
      const found = any ?? (await findRequest(parts.database, account.id, id));
      const entries = await entriesOfRequest(parts.database, any?.account_id ?? account.id, id);
      if (!found && entries.length === 0) throw new Failure("not_found", { what: "The request" });
      return {
        ...(found ?? { id, at: entries[0]!.at, operation: entries[0]!.operation }),
        entries: entries.map(lineOf),
      };
    },
  );
}

/** An entry as the account sees it. */
function lineOf(line: Entry): Sent<typeof entry> {
  const {
    account_id,
    seq,
    at,
    kind,
    request_id,
    operation,
    key_id,
    tokens,
    balance_after,
    price_version,
    note,
  } = line;
  return {
    id: `${account_id}.${seq}`,
    at,
    kind,
    request_id,
    operation,
    key_id,
    tokens,
    balance_after,
    price_version,
    note: currentNote(note),
  };
}

/** The account that an operator looks at. The audit log says so, once an hour for each operator and account. */
async function viewed(parts: HttpParts, request: FastifyRequest): Promise<string> {
  const { id } = request.params as { id: string };
  const { database } = parts;
  if (!(await findAccount(database, id)))
    throw new Failure("not_found", { what: `The account ${id.slice(0, 64)}` });
  const author = authorOf(parts, request);
  const known = await database.query(
    "select from audit where action = 'account.view' and actor = $1 and target = $2 and at > $3 limit 1",
    [author.actor, id, new Date(author.now.getTime() - 3_600_000)],
  );
  if (known.rowCount === 0) await writeAudit(database, author, "account.view", id, null, null);
  return id;
}

async function usageOf(parts: HttpParts, accountId: string, query: unknown) {
  const { from, to, group_by } = check(usageQuery, query);
  const today = chinaDate(parts.clock());
  const last = to ?? today;
  const first = from ?? chinaDate(new Date(Date.parse(last) - 29 * 86_400_000));
  if (first > last)
    throw invalid(
      "from",
      "range",
      "from must not be after to",
      "send a date no later than to",
      "请发送不晚于 to 的日期",
    );
  await parts.requestLog.flush();
  const groups = group_by;
  return { groups, rows: await readUsage(parts.database, accountId, { from: first, to: last, groups }) };
}

/** Every column of every entry, with the hash of the chain after it. */
async function* ledgerLines(
  queries: Queries,
  accountId: string,
  format: "csv" | "jsonl",
): AsyncGenerator<string> {
  if (format === "csv") yield csvLine([...entryColumns, "sha256"]);
  let hash = chainStart(accountId);
  for await (const entry of readEntries(queries, accountId)) {
    hash = chainNext(hash, entry);
    const sha256 = hash.toString("hex");
    const values = entryColumns.map((column) => entry[column]);
    yield scrub(
      format === "csv" ? csvLine([...values, sha256]) : `${JSON.stringify({ ...entry, sha256 })}\n`,
    );
  }
}
