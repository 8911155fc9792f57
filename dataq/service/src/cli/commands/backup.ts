import { join, resolve } from "node:path";
import { counted } from "@dataq/contract";
import { Command } from "commander";
import { megabytes, writeBackup } from "../../backup/backup.ts";
import { withOwnDatabase } from "../own-database.ts";

/** `dataq backup <file>` */
export function backupCommand(): Command {
  return new Command("backup")
    .description("write a backup of the database while services run (docs/dataq/backups.md)")
    .argument("<file>", "the file to create, such as dataq-2026-11-22.tar")
    .addHelpText(
      "after",
      `
Examples:
  dataq backup /backups/dataq-$(date +%F).tar
  DATABASE_URL=postgres://… dataq backup /backups/dataq.tar

The backup does not contain the secret of the service. Keep it as well: without it, no key works.`,
    )
    .action(async (path: string) => {
      const file = resolve(path);
      await withOwnDatabase(
        { applicationName: "dataq backup", poolSize: 1, tables: "as is" },
        async (database, config) => {
          const progress = (line: string) => console.error(line);
          const { takenAt, tables, rows, bytes } = await writeBackup(database, file, new Date(), progress);
          console.log(
            `${file}: ${counted(rows, "row")} of ${counted(tables, "table")} as of ${takenAt.toISOString()}, ${megabytes(bytes)}`,
          );
          console.log(
            config.secret === undefined
              ? `Keep ${join(config.dataFolder, "secret")} as well, in another place: without it, no key of this backup works.`
              : "Keep DATAQ_SECRET as well, in another place: without it, no key of this backup works.",
          );
        },
      );
    });
}
