import type { Author } from "../accounts/audit.ts";
import type { Keys } from "../accounts/key.ts";
import { openIdentity } from "../accounts/local-account.ts";
import { readConfig } from "../config.ts";
import { type Database, openDatabase } from "../database/database.ts";
import { migrate } from "../database/migrations.ts";
import { migrations } from "../schema.ts";

/** What the operator's commands work on: the database itself, whether a service runs on it or not. */
export interface Operator {
  readonly database: Database;
  readonly keys: Keys;
  readonly author: Author;
}

/** Opens the database of this data folder or DATABASE_URL, and closes it whatever happens. */
export async function asOperator<Result>(run: (operator: Operator) => Promise<Result>): Promise<Result> {
  const config = readConfig();
  const database = await openDatabase({
    url: config.databaseUrl,
    folder: config.dataFolder,
    poolSize: 2,
    applicationName: "dataq command",
    progress: (line) => console.error(line),
  });
  try {
    await migrate(database, migrations);
    const now = new Date();
    const { keys } = await openIdentity(database, config.dataFolder, config.secret, now);
    return await run({ database, keys, author: { actor: "operator", now } });
  } finally {
    await database.close();
  }
}
