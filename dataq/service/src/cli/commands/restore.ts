import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { counted } from "@dataq/contract";
import { Command } from "commander";
import { findSecret } from "../../accounts/local-account.ts";
import { restoreBackup } from "../../backup/restore.ts";
import { migrations } from "../../schema.ts";
import { withOwnDatabase } from "../own-database.ts";

/** `dataq restore <file>` */
export function restoreCommand(): Command {
  return new Command("restore")
    .description("restore a backup into an empty database, and verify its ledger (docs/dataq/backups.md)")
    .argument("<file>", "a file that `dataq backup` made")
    .addHelpText(
      "after",
      `
Examples:
  mkdir -m 700 /srv/dataq && cp /safe/secret /srv/dataq/secret
  DATAQ_DATA=/srv/dataq dataq restore /backups/dataq-2026-11-22.tar
  DATABASE_URL=postgres://… DATAQ_SECRET=… dataq restore /backups/dataq.tar`,
    )
    .action(async (path: string) => {
      const file = resolve(path);
      if (!existsSync(file)) throw new Error(`${file} was not found. Check the path of the backup.`);
      await withOwnDatabase(
        { applicationName: "dataq restore", poolSize: 2, tables: "new" },
        async (database, config) => {
          const secret = await findSecret(config.dataFolder, config.secret);
          const progress = (line: string) => console.error(line);
          const report = await restoreBackup(database, file, { migrations, secret, progress });
          console.log(
            `Restored ${counted(report.rows, "row")} as of ${report.takenAt.toISOString()}. ${counted(report.covers.entries, "entry", "entries")} of the ledger verified. Start the service with: dataq serve`,
          );
        },
      );
    });
}
