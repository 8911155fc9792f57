import { counted } from "@dataq/contract";
import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { readContracts } from "../../connector/configured.ts";
import { type ConnectorTrial, testContract } from "../../operations/connector-trial.ts";
import { readParameters } from "../query-arguments.ts";

/** `dataq connector`: for the operator who writes connectors.json; needs no running service. */
export function connectorCommand(): Command {
  const command = new Command("connector").description("test the connectors in connectors.json");
  command
    .command("test")
    .description("ask a vendor once, and show the request, the answer, and where each field was read from")
    .argument("<name>", "the operation, or the vendor's name in connectors.json")
    .argument(
      "[values...]",
      "parameters as name=value; a value without a name is the first parameter (default: the example)",
    )
    .option("--json", "print JSON")
    .action(async (name: string, values: string[], { json }: { json?: boolean }) => {
      const path = readConfig().connectors;
      const answered = (await readContracts(path)).flatMap((contract) =>
        contract.adapters.map(({ operation }) => ({ contract, operation })),
      );
      const found = answered.filter(
        ({ contract, operation }) => operation === name || contract.name.toLowerCase() === name.toLowerCase(),
      );
      const [chosen] = found;
      if (chosen === undefined) {
        const known = answered.map(({ contract, operation }) => `${operation} (${contract.name})`);
        throw new Error(
          known.length === 0
            ? `No connector is configured in ${path}.`
            : `No connector ${name}. Configured connectors: ${known.join(", ")}.`,
        );
      }
      const { contract, operation } = chosen;
      if (found.some((each) => each.operation !== operation))
        throw new Error(
          `${name} answers several operations. Use one of ${found.map((each) => each.operation).join(", ")}.`,
        );
      const params = values.length === 0 ? undefined : readParameters(operation, values);
      const trial = await testContract(contract, operation, params);
      if (json === true) console.log(JSON.stringify(trial));
      else for (const line of linesOf(trial)) console.log(line);
      if (trial.outcome === "failed" || trial.outcome === "wrong" || trial.outcome === "unavailable")
        process.exitCode = 1;
    });
  return command;
}

/** The conversation and what was read from it, for a terminal. */
export function linesOf({ exchanges, fields, outcome, why, records }: ConnectorTrial): string[] {
  const width = Math.max(...fields.map(({ field }) => field.length), 0);
  return [
    ...exchanges.flatMap(linesOfExchange),
    ...(fields.length === 0
      ? []
      : [
          `Fields${records === null ? "" : ` of the first of ${counted(records, "record")}`}`,
          ...fields.map(
            ({ field, path, found, value, problem }) =>
              `  ${problem === null ? "ok" : "!!"}  ${field.padEnd(width)}  ${path === null ? "(not mapped)" : `${path} = ${shown(found)}`}  →  ${problem ?? shown(value)}`,
          ),
          "",
        ]),
    `Outcome   ${outcome}${why === null ? "" : `: ${why}`}`,
  ];
}

function linesOfExchange({ request, status, ms, answer }: ConnectorTrial["exchanges"][number]): string[] {
  return [
    `Request   ${request.method} ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => `          ${name}: ${value}`),
    ...(request.body === undefined ? [] : [`          ${request.body}`]),
    "",
    `Answer    ${status === null ? "none" : `status ${status}`} after ${ms} ms`,
    ...(answer === null
      ? []
      : answer
          .slice(0, longestAnswer)
          .split("\n")
          .map((line) => `          ${line}`)),
    ...((answer?.length ?? 0) > longestAnswer ? ["          …; --json shows more"] : []),
    "",
  ];
}

const longestAnswer = 4_000;

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
