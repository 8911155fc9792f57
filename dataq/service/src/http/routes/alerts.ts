import { type alertThresholds, changedAlertThresholds, type Sent } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { readThresholds, setThresholds } from "../../alerts/thresholds.ts";
import { inTransaction } from "../../database/transaction.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** When an account is warned. */
export function addAlertRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;

  app.get("/v1/alerts", async (request): Promise<Sent<typeof alertThresholds>> => {
    return readThresholds(database, principalOf(request).account.id);
  });

  app.patch("/v1/alerts", async (request): Promise<Sent<typeof alertThresholds>> => {
    const change = check(changedAlertThresholds, readJson(request));
    const { account } = principalOf(request);
    const author = authorOf(parts, request);
    return inTransaction(database, async (transaction) => {
      const before = await readThresholds(transaction, account.id);
      await setThresholds(transaction, account.id, change);
      const after = await readThresholds(transaction, account.id);
      await writeAudit(transaction, author, "alerts.change", account.id, { ...before }, { ...after });
      return after;
    });
  });
}
