import { Command } from "commander";
import {
  type Announcement,
  beginMaintenance,
  endMaintenance,
  openWindow,
} from "../../maintenance/maintenance.ts";
import { readCount } from "../numbers.ts";
import { asOperator } from "../operator.ts";

/** `dataq maintenance`: the switch that refuses calls while the operator works on the service. */
export function maintenanceCommand(): Command {
  const command = new Command("maintenance").description(
    "refuse calls for a while, and tell customers why (docs/dataq/hosting.md)",
  );
  command
    .command("on")
    .description("refuse calls from now on; run it again to change what customers are told")
    .option("--minutes <n>", "how long it will take; callers are told when to retry", readCount)
    .option("--message <text>", "what customers are told in English")
    .option("--message-zh <text>", "what customers are told in Chinese")
    .addHelpText(
      "after",
      `
Examples:
  dataq maintenance on --minutes 20 --message "We restore a backup." --message-zh "正在恢复备份。"
  dataq maintenance off`,
    )
    .action(async (options: { minutes?: number; message?: string; messageZh?: string }) => {
      const { minutes, message: en, messageZh: zh } = options;
      const open = await asOperator(({ database, author }) => {
        const until = !minutes ? null : new Date(author.now.getTime() + minutes * 60_000);
        const message: Announcement["message"] = {
          ...(en !== undefined && { en }),
          ...(zh !== undefined && { zh }),
        };
        return beginMaintenance(database, { until, message }, author);
      });
      console.log(`Calls are refused since ${open.since.toISOString()}. ${untilOf(open.until)}`);
    });
  command
    .command("off")
    .description("answer calls again")
    .action(async () => {
      const wasOn = await asOperator(({ database, author }) => endMaintenance(database, author));
      console.log(wasOn ? "Calls are answered again." : "There was no maintenance: calls are answered.");
    });
  command
    .command("show")
    .description("say whether calls are refused")
    .action(async () => {
      const open = await asOperator(({ database }) => openWindow(database.pool));
      console.log(
        open === undefined
          ? "Calls are answered."
          : `Calls are refused since ${open.since.toISOString()}. ${untilOf(open.until)}\n${open.message.en}\n${open.message.zh}`,
      );
    });
  return command;
}

function untilOf(until: Date | null): string {
  return until === null
    ? "Customers are not told until when."
    : `Customers are told until ${until.toISOString()}.`;
}
