import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { counted, findOperation } from "@dataq/contract";
import Table from "cli-table3";
import { Command } from "commander";
import { readConfig } from "../../config.ts";
import type { StatedBalance } from "../../connector/adapter.ts";
import { type ContractEntry, findPreset, readContracts } from "../../connector/configured.ts";
import { removeContract } from "../../connector/connectors-file.ts";
import { Contract, type ContractParts } from "../../connector/contract.ts";
import { type Preset, presets } from "../../connector/preset.ts";
import { ContractGate } from "../../limits/contract-gate.ts";
import { askBalances } from "../../limits/stated-balances.ts";
import { connectVendor } from "../../operations/connecting.ts";
import { readAmount } from "../numbers.ts";
import { withOwnDatabase } from "../own-database.ts";
import { linesOf } from "./connector.ts";

interface Options {
  readonly set: readonly string[];
  readonly costFen?: number;
  readonly base?: string;
  readonly operations?: string;
  readonly balanceFen?: number;
  readonly join?: boolean;
  readonly untested?: boolean;
}

const examples = `
Examples:
  dataq connect                                        list vendors and what they answer
  dataq connect openalex --set key=…                   a public source
  dataq connect kuaidi100 --set customer=… --set key=… --cost-fen 8
  dataq connect ./my-register.json                     a vendor that you described in a file

What is not given with --set is asked for at the terminal. docs/dataq/connectors.md has the form of the file.`;

/** `dataq connect`: makes operations real by a contract with a vendor, or by a public source. */
export function connectCommand(): Command {
  return new Command("connect")
    .description("connect a vendor or a public source, which then answers operations")
    .argument("[vendor]", "name of a vendor, or a file that describes one; without it: list vendors")
    .option(
      "--set <name=value>",
      "a credential; may be repeated",
      (value, before: string[]) => [...before, value],
      [],
    )
    .option("--cost-fen <fen>", "what a request costs you, in fen", readAmount)
    .option("--base <url>", "another address of the vendor")
    .option("--operations <names>", "only these operations, separated by commas (default: all)")
    .option("--balance-fen <fen>", "what you have paid in and not used, in fen", readAmount)
    .option("--join", "also ask it for what it knows of records that another vendor found")
    .option("--untested", "connect even if the vendor does not answer the test")
    .addHelpText("after", examples)
    .action(async (vendor: string | undefined, options: Options) => {
      const path = readConfig().connectors;
      if (vendor === undefined) return list(path);
      await connect(path, await findPreset(vendor, path), vendor, options);
    });
}

/** `dataq disconnect`: the operations answer from imported records or samples again. */
export function disconnectCommand(): Command {
  return new Command("disconnect")
    .description("remove a contract with a vendor")
    .argument("<vendor>", "its name or file, as in connectors.json")
    .action(async (vendor: string) => {
      const path = readConfig().connectors;
      if (!(await removeContract(path, vendor))) throw new Error(`${path} has no contract ${vendor}.`);
      console.log(`${vendor} is removed from ${path}. A running service follows within a second.`);
    });
}

async function list(path: string): Promise<void> {
  const contracts = await readContracts(path);
  const connected = new Map(contracts.map((contract) => [contract.name, contract]));
  const states = await statesOf(contracts);
  const table = new Table({
    head: ["vendor", "publisher", "answers", "asks for", "state"],
    style: { head: [] },
  });
  for (const { name, publisher, operations, credentials, checked } of presets()) {
    const asks = Object.entries(credentials).map(([each, { optional }]) => (optional ? `[${each}]` : each));
    const state = connected.has(name)
      ? (states.get(name) ?? "connected")
      : checked === null
        ? "never run against a real account"
        : `last run on ${checked}`;
    table.push([name, publisher.en, Object.keys(operations).join("\n"), asks.join(", ") || "nothing", state]);
    connected.delete(name);
  }
  for (const { name, publisher, adapters } of connected.values())
    table.push([
      name,
      publisher,
      adapters.map(({ operation }) => operation).join("\n"),
      "",
      states.get(name) ?? "connected",
    ]);
  console.log(table.toString());
  console.log('Connect one with "dataq connect <vendor>".');
}

/** What is left of each balance, and what is paused. Only this needs the database. */
async function statesOf(contracts: readonly ContractParts[]): Promise<ReadonlyMap<string, string>> {
  if (contracts.length === 0) return new Map();
  const told = await withOwnDatabase(
    { applicationName: "dataq connect", poolSize: 1, tables: "as is" },
    async (database) => {
      const gate = new ContractGate(database);
      const now = new Date();
      await askBalances(
        contracts.map((parts) => new Contract(parts, gate)),
        gate,
        now,
      );
      const states = await gate.states(now);
      return Promise.all(
        contracts.map(async ({ name, balance, stated }): Promise<[string, string]> => {
          const left = await gate.leftOf(name, balance);
          const { paused, stated: told } = states.get(name) ?? {};
          const lines = [
            "connected",
            ...(left === null ? [] : [`¥${(left / 100).toFixed(2)} left`]),
            ...(stated && told ? [`the vendor says: ${amountOf(told.amount, stated.unit)} left`] : []),
            ...(paused?.isOutOfMoney
              ? [`out of money: ${paused.why}`]
              : paused
                ? [`paused: ${paused.why}`]
                : []),
          ];
          return [name, lines.join("\n")];
        }),
      );
    },
  ).catch((error: Error) => {
    console.error(`Balances and pauses are not known: ${error.message}`);
    return [];
  });
  return new Map(told);
}

function amountOf(amount: number, unit: StatedBalance["unit"]): string {
  if (unit === "requests") return counted(amount, "request");
  return `¥${(unit === "fen" ? amount / 100 : amount).toFixed(2)}`;
}

async function connect(path: string, preset: Preset, name: string, options: Options): Promise<void> {
  for (const line of introduction(preset)) console.error(line);
  const given = Object.fromEntries(options.set.map(pair));
  const entry: ContractEntry = {
    preset: name,
    credentials: await credentialsOf(preset, given),
    ...(options.base !== undefined && { base: options.base }),
    ...(options.costFen !== undefined && { cost_fen: options.costFen }),
    ...(options.balanceFen !== undefined && {
      balance: { fen: options.balanceFen, since: new Date().toISOString() },
    }),
    ...(options.join === true && { join: true }),
    ...(options.operations !== undefined && {
      operations: options.operations.split(",").map((each) => each.trim()),
    }),
  };
  const { isWritten, operations, trials } = await connectVendor(path, entry, {
    untested: options.untested === true,
    onTrial: ({ operation, outcome, why }) =>
      console.error(`${operation}: ${outcome}${why === null ? "" : `: ${why}`}`),
  });
  const last = trials.at(-1);
  if (!isWritten) {
    if (last !== undefined) for (const line of linesOf(last)) console.error(line);
    throw new Error(
      `${preset.publisher.en} did not answer as expected; nothing was written. --untested connects it anyway.`,
    );
  }
  for (const operation of operations)
    console.log(
      `${operation} (${findOperation(operation)?.title.en}) is answered by ${preset.publisher.en} now.`,
    );
  console.log(`Written to ${path}. A running service follows within a second.`);
}

function introduction(preset: Preset): string[] {
  return [
    `${preset.publisher.en}${preset.about === undefined ? "" : `: ${preset.about.en}`}`,
    ...(preset.licence === null ? [] : [`Licence: ${preset.licence}.`]),
    ...(preset.duties === null ? [] : [preset.duties.en]),
    ...preset.documents.map(({ url, read }) => `Described from ${url} on ${read}.`),
    preset.checked === null
      ? "This description was never run against a real account."
      : `Last run against the real vendor on ${preset.checked}.`,
  ];
}

function pair(text: string): [string, string] {
  const place = text.indexOf("=");
  if (place <= 0) throw new Error(`--set ${text} must be name=value.`);
  return [text.slice(0, place), text.slice(place + 1)];
}

/** What is missing is asked for, if there is somebody to ask. */
async function credentialsOf(
  preset: Preset,
  given: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const credentials: Record<string, string> = { ...given };
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  for (const [name, { title, optional, secret }] of Object.entries(preset.credentials)) {
    if (credentials[name] !== undefined || !isTerminal) continue;
    const answer = await ask(`${title.en}${optional ? " (optional)" : ""}: `, secret);
    if (answer !== "") credentials[name] = answer;
  }
  return credentials;
}

/** A secret is not shown while it is typed. */
async function ask(question: string, isSecret: boolean): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({
    input: process.stdin,
    output: isSecret ? silent : process.stderr,
    terminal: true,
  });
  try {
    return (await terminal.question("")).trim();
  } finally {
    terminal.close();
    if (isSecret) process.stderr.write("\n");
  }
}
