import { readFileSync } from "node:fs";
import { Command } from "commander";
import {
  ConfigurationError,
  DataQuery,
  type DataQueryOptions,
  type OperationName,
  type PageState,
} from "dataq-client";
import writeFileAtomic from "write-file-atomic";
import { readList, readParameters, readWhole } from "../query-arguments.ts";
import { processTerminal, type Terminal } from "../terminal.ts";
import { answerTable, footer, reportErrors } from "./query.ts";

interface PaginateCommandOptions {
  readonly pageSize?: number;
  readonly startPage?: number;
  readonly maxPages?: number;
  readonly maxTokens?: number;
  readonly fields?: string[];
  readonly state?: string;
  readonly json?: boolean;
}

/** `dataq paginate`. `connect` says where the service is and which key to use. */
export function paginateCommand(connect: () => DataQueryOptions, terminal?: Terminal): Command {
  return new Command("paginate")
    .description("print all pages: tables on a terminal, one record per line (JSON Lines) in a pipe")
    .argument("<operation>", "such as legal_cases; GET /v1/catalog lists all")
    .argument("[parameters...]", "name=value, or a value without a name for the first parameter")
    .option("--page-size <n>", "records on a page, 1–200", readWhole)
    .option("--start-page <n>", "first page to print", readWhole)
    .option("--max-pages <n>", "stop after this many pages", readWhole)
    .option("--max-tokens <n>", "stop before the total cost exceeds this number of tokens", readWhole)
    .option("--fields <names>", "only these fields of each record, separated by commas", readList)
    .option("--state <file>", "save the position to this file, and continue from it if the file exists")
    .option("--json", "print JSON Lines even on a terminal")
    .action(async (operation: OperationName, words: string[], options: PaginateCommandOptions) => {
      await reportErrors(async () =>
        paginate(operation, words, options, connect(), terminal ?? processTerminal()),
      );
    });
}

async function paginate(
  operation: OperationName,
  words: readonly string[],
  options: PaginateCommandOptions,
  connection: DataQueryOptions,
  terminal: Terminal,
): Promise<void> {
  const { pageSize: page_size, startPage, maxPages, maxTokens, fields, state, json } = options;
  const params = { ...readParameters(operation, words), ...(page_size === undefined ? {} : { page_size }) };
  const resume = state === undefined ? undefined : readState(state);
  const walk = { startPage, maxPages, maxTokens, fields, resume };
  const pages = new DataQuery(connection).paginate(operation, params as never, walk);
  for await (const page of pages) {
    if (json === true || !terminal.isTTY) {
      const records = (Array.isArray(page.data) ? page.data : [page.data]) as object[];
      for (const record of records) terminal.out(JSON.stringify(record));
    } else {
      terminal.out(answerTable(page, fields, terminal.columns));
      terminal.note(footer(page));
    }
    // The state is saved after the page was printed. A run that is killed in between prints the page again,
    // but never skips it.
    if (state !== undefined) await writeFileAtomic(state, `${JSON.stringify(pages.state())}\n`);
  }
}

function readState(path: string): PageState | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as PageState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    const options = { code: "invalid_option", cause: error };
    throw new ConfigurationError(
      `--state ${path} does not contain a saved position; remove the file to start again.`,
      options,
    );
  }
}
