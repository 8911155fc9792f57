import { createRequire } from "node:module";
import { Command } from "commander";

/** Runs the command that these words are. Prints its error and ends the process if it fails. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const program = newProgram();
  try {
    await addVerbs(program, words[0] ?? "");
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    console.error(`dataq: ${(error as Error).message}`);
    process.exit(1);
  }
}

function newProgram(): Command {
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  return new Command("dataq")
    .description("a data query service over Chinese sources")
    .version(version, "-v, --version");
}

/** The command with all verbs, of which the manual page and the completions are made. */
export async function wholeProgram(): Promise<Command> {
  const program = newProgram();
  await addVerbs(program, "");
  return program;
}

/** Loaded one by one, because loading all commands takes longer than running most of them. */
const verbs: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./commands/serve.ts")).serveCommand(),
  service: async () => (await import("./commands/service.ts")).serviceCommand(),
  update: async () => (await import("./commands/update.ts")).updateCommand(),
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand(),
  accounts: async () => (await import("./commands/accounts.ts")).accountsCommand(),
  keys: async () => (await import("./commands/keys.ts")).keysCommand(),
  backup: async () => (await import("./commands/backup.ts")).backupCommand(),
  restore: async () => (await import("./commands/restore.ts")).restoreCommand(),
  maintenance: async () => (await import("./commands/maintenance.ts")).maintenanceCommand(),
  payments: async () => (await import("./commands/payments.ts")).paymentsCommand(await findConnection()),
  ledger: async () => (await import("./commands/ledger.ts")).ledgerCommand(),
  import: async () => (await import("./commands/import.ts")).importCommand(),
  data: async () => (await import("./commands/data.ts")).dataCommand(),
  connect: async () => (await import("./commands/connect.ts")).connectCommand(),
  disconnect: async () => (await import("./commands/connect.ts")).disconnectCommand(),
  connector: async () => (await import("./commands/connector.ts")).connectorCommand(),
  datasets: async () => (await import("./commands/datasets.ts")).datasetsCommand(),
  index: async () => (await import("./commands/index.ts")).indexCommand(),
  link: async () => (await import("./commands/link.ts")).linkCommand(),
  query: async () => (await import("./commands/query.ts")).queryCommand(await findConnection()),
  mcp: async () => (await import("./commands/mcp.ts")).mcpCommand(await findConnection()),
  paginate: async () => (await import("./commands/paginate.ts")).paginateCommand(await findConnection()),
};

async function findConnection() {
  return (await import("./connection.ts")).connection;
}

/** Adds the given command. Adds all of them for help or an unknown command. */
async function addVerbs(program: Command, asked: string): Promise<void> {
  const loaders = Object.hasOwn(verbs, asked) ? [verbs[asked]!] : Object.values(verbs);
  for (const command of await Promise.all(loaders.map((load) => load()))) program.addCommand(command);
}
