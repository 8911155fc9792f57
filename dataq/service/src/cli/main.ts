#!/usr/bin/env node
import { Command } from "commander";
import { accountsCommand } from "./commands/accounts.ts";
import { importCommand } from "./commands/import.ts";
import { indexCommand } from "./commands/index.ts";
import { keysCommand } from "./commands/keys.ts";
import { ledgerCommand } from "./commands/ledger.ts";
import { linkCommand } from "./commands/link.ts";
import { paginateCommand } from "./commands/paginate.ts";
import { queryCommand } from "./commands/query.ts";
import { serveCommand } from "./commands/serve.ts";
import { connection } from "./connection.ts";

const program = new Command("dataq")
  .description("a data query service over Chinese sources")
  .addCommand(serveCommand())
  .addCommand(accountsCommand())
  .addCommand(keysCommand())
  .addCommand(ledgerCommand())
  .addCommand(importCommand())
  .addCommand(indexCommand())
  .addCommand(linkCommand())
  .addCommand(queryCommand(connection))
  .addCommand(paginateCommand(connection));

try {
  await program.parseAsync();
} catch (error) {
  console.error(`dataq: ${(error as Error).message}`);
  process.exit(1);
}
