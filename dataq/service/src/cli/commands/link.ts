import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { makeLocalLink } from "../../people/local-link.ts";
import { localAccount } from "../local-account.ts";
import { asOperator } from "../operator.ts";

/** `dataq link`: a new sign-in link for the console. */
export function linkCommand(): Command {
  return new Command("link")
    .description("print a sign-in link for the console; it works once")
    .action(async () => {
      const { host, port, publicUrl } = readConfig();
      const token = await asOperator(async (operator) =>
        makeLocalLink(operator.database, await localAccount(operator), operator.author.now),
      );
      const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
      const own = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
      console.log(`${publicUrl ?? own}/console/enter#token=${token}`);
    });
}
