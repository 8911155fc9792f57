import { counted } from "@dataq/contract";
import { Command, Option } from "commander";
import {
  DataQuery,
  type DataQueryOptions,
  isDataQueryError,
  type OperationName,
  type Result,
} from "dataq-client";
import { count } from "../numbers.ts";
import { readList, readParameters, readWhole } from "../query-arguments.ts";
import { fieldTable, recordTable } from "../record-table.ts";
import { processTerminal, type Terminal } from "../terminal.ts";

interface QueryCommandOptions {
  readonly page?: number;
  readonly pageSize?: number;
  readonly fields?: string[];
  readonly cache?: "default" | "bypass" | "only";
  readonly maxTokens?: number;
  readonly estimate?: boolean;
  readonly json?: boolean;
}

/** `dataq query`. `connect` says where the service is and which key to use. */
export function queryCommand(connect: () => DataQueryOptions, terminal?: Terminal): Command {
  return new Command("query")
    .description("call an operation; prints a table on a terminal, JSON in a pipe")
    .argument("<operation>", "such as legal_cases; GET /v1/catalog lists all")
    .argument("[parameters...]", "name=value, or a value without a name for the first parameter")
    .option("--page <n>", "page, from 1", readWhole)
    .option("--page-size <n>", "records on a page, 1–200", readWhole)
    .option("--fields <names>", "only these fields of each record, separated by commas", readList)
    .addOption(new Option("--cache <mode>", "bypass or only").choices(["default", "bypass", "only"]))
    .option("--max-tokens <n>", "reject the call, free of charge, if it would cost more", readWhole)
    .option("--estimate", "only show what the call would cost")
    .option("--json", "print JSON even on a terminal")
    .action(async (operation: OperationName, words: string[], options: QueryCommandOptions) => {
      await reportErrors(async () =>
        query(operation, words, options, connect(), terminal ?? processTerminal()),
      );
    });
}

async function query(
  operation: OperationName,
  words: readonly string[],
  options: QueryCommandOptions,
  connection: DataQueryOptions,
  terminal: Terminal,
): Promise<void> {
  const client = new DataQuery(connection);
  const { page, pageSize: page_size, fields, cache, maxTokens, estimate, json } = options;
  const params = { ...readParameters(operation, words), page, page_size } as never;
  const call = { fields, cache, maxTokens };
  const isJson = json === true || !terminal.isTTY;
  if (estimate === true) {
    const { tokens, cached, balance_after } = await client.estimate(operation, params, call);
    if (isJson) terminal.out(JSON.stringify({ tokens, cached, balance_after }));
    else
      terminal.out(
        `${counted(tokens, "token")}${cached ? " (cached)" : ""}, ${count(balance_after)} left after it`,
      );
    return;
  }
  const result = await client.query(operation, params, call);
  terminal.out(isJson ? JSON.stringify(result, null, 2) : answerTable(result, fields, terminal.columns));
  if (!isJson) terminal.note(footer(result));
}

/** The records of an answer, or its one record, as a table. */
export function answerTable(
  result: Result<OperationName>,
  fields: readonly string[] | undefined,
  width: number,
): string {
  const data = result.data as unknown as Record<string, unknown> | Record<string, unknown>[];
  if (!Array.isArray(data)) return fieldTable(data, width);
  return data.length === 0 ? "No records." : recordTable(result.operation, data, fields, width);
}

/** Page, cost and balance in one line; each warning on its own line. */
export function footer({
  page,
  total_pages,
  total,
  total_relation,
  usage,
  request_id,
  warnings,
}: Result<OperationName>): string {
  const all = total_relation === "gte" ? `${count(total)}+` : count(total);
  const cost = `${counted(usage.tokens, "token")}${usage.cached ? " (cached)" : ""}`;
  const place = `page ${page} of ${total_pages}, ${all} in all`;
  const line = [place, cost, `${count(usage.balance)} left`, request_id].join(" · ");
  return [...warnings.map((warning) => `warning: ${warning}`), line].join("\n");
}

/** Prints an error of the service as its message. Any other error is a bug and keeps its stack. */
export async function reportErrors(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isDataQueryError(error)) throw error;
    console.error(`Error: ${error.message}${hintFor(error.code)}`);
    process.exitCode = 1;
  }
}

function hintFor(code: string): string {
  if (code === "ECONNREFUSED")
    return " Is it running? `dataq serve` starts it; DATAQ_BASE_URL selects another service.";
  if (code === "missing_api_key")
    return " `dataq serve` creates one at its first start and stores it in its data folder.";
  return "";
}
