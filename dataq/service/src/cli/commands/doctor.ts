import { describeInstallation } from "@locallm/updates";
import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { updatable } from "../update.ts";

/** `dataq doctor`: which program this is, where its data is, and whether it sends email. It calls nobody. */
export function doctorCommand(): Command {
  return new Command("doctor")
    .description(
      "show version, age and origin of this program, where its data is, and whether it sends email",
    )
    .action(() => {
      const { dataFolder, databaseUrl, smtpUrl, releases, checksForUpdates } = readConfig();
      const lines = {
        program: describeInstallation(updatable(), Date.now()),
        node: `${process.version}, ${process.platform}-${process.arch}`,
        updates: `${releases === undefined ? "DATAQ_RELEASES is not set" : "from DATAQ_RELEASES"}; ${checksForUpdates ? "looked for once a day" : "never looked for unasked"}`,
        data: dataFolder,
        database: databaseUrl === undefined ? "embedded" : "DATABASE_URL",
        mail:
          smtpUrl === undefined
            ? "SMTP_URL is not set: alerts reach nobody by email. Owners also need an address (console, Settings)"
            : "SMTP_URL; owners also need an address (console, Settings)",
      };
      for (const [name, line] of Object.entries(lines)) console.log(`${name.padEnd(10)}${line}`);
    });
}
