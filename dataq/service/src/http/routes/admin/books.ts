import { auditQuery, exportQuery, refund, type Sent, type verdict, verifyQuery } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { auditColumns, readAudit, writeAudit } from "../../../accounts/audit.ts";
import { lastSeal, readSealed, sealAudit } from "../../../accounts/audit-chain.ts";
import { verifyBooks } from "../../../accounts/verify.ts";
import type { Queries } from "../../../database/database.ts";
import { inTransaction } from "../../../database/transaction.ts";
import { reverse } from "../../../ledger/movement.ts";
import { check, readJson } from "../../body.ts";
import { authorOf, principalOf } from "../../caller.ts";
import { csvLine } from "../../csv.ts";
import type { HttpParts } from "../../parts.ts";
import { scrub } from "../../scrub.ts";

/** Refunds, the audit log and the check of the ledger, for operators. */
export function addAdminBookRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;

  app.post("/admin/v1/refunds", async (request) => {
    const wanted = check(refund, readJson(request));
    const author = authorOf(parts, request);
    const why = { actor: author.actor, note: wanted.reason, now: author.now };
    const { balance } = await inTransaction(database, async (transaction) => {
      await writeAudit(transaction, author, "ledger.reverse", wanted.request_id, null, wanted);
      return reverse(transaction, wanted.request_id, wanted.tokens, why);
    });
    return { request_id: wanted.request_id, balance };
  });

  app.get("/admin/v1/audit", async (request) => {
    const { cursor, limit } = check(auditQuery, request.query);
    const lines = await readAudit(database.reads.recent, limit + 1, cursor);
    const shown = lines.slice(0, limit);
    return { data: shown, next_cursor: lines.length > limit ? String(shown.at(-1)!.id) : null };
  });

  app.get("/admin/v1/audit/export", async (request, reply) => {
    const { account } = principalOf(request);
    const { format } = check(exportQuery, request.query);
    const lines = auditLines(database.longReads, format);
    return parts.exports.send(reply, { accountId: account.id, name: "audit", format }, lines, async () => {
      await writeAudit(database, authorOf(parts, request), "export.audit", "audit", null, { format });
      while (await sealAudit(database, parts.clock()));
    });
  });

  app.get("/admin/v1/ledger/verify", async (request): Promise<Sent<typeof verdict>> => {
    const { seal, whole } = check(verifyQuery, request.query);
    const end = parts.exports.begin(principalOf(request).account.id);
    try {
      const { findings, covers } = await verifyBooks(
        database,
        seal === undefined ? [] : [seal],
        whole ? "whole" : "new",
        parts.clock(),
      );
      const ok = findings.every(({ breaches }) => breaches.length === 0);
      return { ok, findings, covers, seal: (await lastSeal(database)) ?? null };
    } finally {
      end();
    }
  });
}

/** Every line in the order of the chain, each with the hash of the chain after it. */
async function* auditLines(queries: Queries, format: "csv" | "jsonl"): AsyncGenerator<string> {
  if (format === "csv") yield csvLine([...auditColumns, "sha256"]);
  for await (const line of readSealed(queries)) {
    if (format === "csv")
      yield scrub(csvLine([...auditColumns.map((name) => cellOf(line[name])), line.sha256]));
    else {
      const columns = auditColumns.map((name) => [name, line[name]]);
      yield scrub(`${JSON.stringify({ ...Object.fromEntries(columns), sha256: line.sha256 })}\n`);
    }
  }
}

/** `before` and `after` are JSON in a cell of CSV. */
function cellOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && !(value instanceof Date)
    ? JSON.stringify(value)
    : value;
}
