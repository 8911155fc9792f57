import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { makeLocalLink } from "../../people/local-link.ts";
import { ownAddress } from "../connection.ts";
import { localAccount } from "../local-account.ts";
import { asOperator } from "../operator.ts";

/** `dataq link`: a new sign-in link for the console. */
export function linkCommand(): Command {
  return new Command("link")
    .description("print a sign-in link for the console; it works once")
    .action(async () => {
      const config = readConfig();
      const token = await asOperator(async (operator) =>
        makeLocalLink(operator.database, await localAccount(operator), operator.author.now),
      );
      console.log(`${config.publicUrl ?? ownAddress(config)}/console/enter#token=${token}`);
    });
}
