import type { Author } from "../accounts/audit.ts";
import type { Keys } from "../accounts/key.ts";
import { openIdentity } from "../accounts/local-account.ts";
import type { Database } from "../database/database.ts";
import { withOwnDatabase } from "./own-database.ts";

/** What the operator's commands work on: the database, whether or not a service is using it. */
export interface Operator {
  readonly database: Database;
  readonly keys: Keys;
  readonly author: Author;
}

export function asOperator<Result>(run: (operator: Operator) => Promise<Result>): Promise<Result> {
  return withOwnDatabase({ applicationName: "dataq command", poolSize: 2 }, async (database, config) => {
    const now = new Date();
    const { keys } = await openIdentity(database, config.dataFolder, config.secret, now);
    return run({ database, keys, author: { actor: "operator", now } });
  });
}
