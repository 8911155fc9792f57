import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Config, readConfig } from "../config.ts";
import { type Database, openDatabase } from "../database/database.ts";
import { migrate } from "../database/migrations.ts";
import { migrations } from "../schema.ts";

/**
 * Runs `work` on the database of this data folder or DATABASE_URL, and always closes it. Only `serve` and `restore`
 * create a database: a mistyped DATAQ_DATA must not create an empty one that looks like lost data.
 */
export async function withOwnDatabase<Result>(
  options: {
    readonly applicationName: string;
    readonly poolSize: number;
    /** `as is` changes no table; `new` also creates the embedded database if there is none. */
    readonly tables?: "as is" | "new";
  },
  run: (database: Database, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  const { dataFolder, databaseUrl, databaseDirectUrl } = config;
  const { tables, ...rest } = options;
  if (tables !== "new" && databaseUrl === undefined && !existsSync(join(dataFolder, "postgres")))
    throw new Error(
      `No dataq database in ${dataFolder}. Check DATAQ_DATA, or run "dataq serve" once to create the database.`,
    );
  const database = await openDatabase({
    ...rest,
    url: databaseUrl,
    directUrl: databaseDirectUrl,
    folder: dataFolder,
    progress: (line) => console.error(line),
  });
  try {
    if (tables === undefined) await migrate(database, migrations);
    return await run(database, config);
  } finally {
    await database.close();
  }
}
