import { closing } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { inTransaction } from "../../database/transaction.ts";
import { closeAccount } from "../../leaving/closing.ts";
import { exportAccount } from "../../leaving/export.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** What an account takes with it, and its end. */
export function addLeavingRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database, exports } = parts;

  app.get("/v1/account/export", async (request, reply) => {
    const { account } = principalOf(request);
    const file = { accountId: account.id, name: "account", format: "jsonl" } as const;
    await parts.requestLog.flush();
    return exports.send(reply, file, exportAccount(database, account.id), () =>
      writeAudit(database, authorOf(parts, request), "export.account", account.id, null, null),
    );
  });

  app.post("/v1/account/close", async (request, reply) => {
    const { confirm, give_up_tokens } = check(closing, readJson(request));
    const { account } = principalOf(request);
    const author = authorOf(parts, request);
    const wanted = { confirm, giveUpTokens: give_up_tokens };
    await inTransaction(database, (transaction) => closeAccount(transaction, account.id, wanted, author));
    return reply.code(204).send();
  });
}
