import { findOperation, type Operation, type OperationName, type Params } from "@dataq/contract";
import type { Found } from "../connector/adapter.ts";
import type { ContractParts } from "../connector/contract.ts";
import { type Exchange, tryContract } from "../connector/trial.ts";
import { inChinese, inEnglish } from "../importer/message.ts";
import { fieldsInOwnForm } from "../importer/own-form.ts";
import { registry } from "./registry.ts";

/** The result of a call to a connector, step by step. */
export interface ConnectorTrial {
  readonly operation: string;
  readonly contract: string;
  readonly vendor: string;
  readonly params: Params;
  /** Every request and its answer, without credentials. */
  readonly exchanges: readonly Exchange[];
  /** `record`, `records` and `not_found` are answers. Everything else would fail the call. */
  readonly outcome: Found["outcome"] | "failed";
  readonly why: string | null;
  readonly why_zh: string | null;
  /** For a list: number of records in the answer. */
  readonly records: number | null;
  readonly fields: readonly FieldTrial[];
}

export interface FieldTrial {
  readonly field: string;
  /** Where the mapping looked; null if it does not name the field. */
  readonly path: string | null;
  readonly found: unknown;
  readonly value: unknown;
  readonly problem: string | null;
  readonly problem_zh: string | null;
}

/** Asks a vendor once, for the operator. Without parameters it uses the operation's example. */
export async function testContract(
  contract: ContractParts,
  operationName: string,
  given: Params | undefined,
): Promise<ConnectorTrial> {
  const operation = findOperation(operationName) as Operation;
  const params = given ?? (operation.example as Params);
  const asked = operation.paged ? { page: "1", page_size: "5", ...params } : params;
  const { fromVendor } = registry[operation.name as OperationName];
  const sent = fromVendor?.asked?.(asked) ?? asked;
  const trial = await tryContract(contract, operationName, sent, trialLimitMs);
  const { found } = trial;
  const trace = found?.trace?.() ?? [];
  const read =
    found?.outcome === "record" ? found.fields : found?.outcome === "records" ? found.list[0] : undefined;
  const first = read && (fromVendor?.prepare?.(read, { params, now: new Date() }) ?? read);
  const fields =
    first === undefined
      ? []
      : fieldsInOwnForm(operation.name, first).map(({ field, value, problem }) => {
          const seen = trace.filter((each) => each.field === field || each.field.startsWith(`${field}.`));
          return {
            field,
            path: seen.map(({ path }) => path ?? "constant").join(", ") || null,
            found: seen.length > 1 ? seen.map((each) => each.found ?? null) : (seen[0]?.found ?? null),
            value,
            problem: problem && inEnglish(problem),
            problem_zh: problem && inChinese(problem),
          };
        });
  const wrong = fields.find(({ problem }) => problem !== null);
  return {
    operation: operation.name,
    contract: contract.name,
    vendor: contract.publisher,
    params: asked,
    exchanges: trial.exchanges,
    outcome: found === null || wrong !== undefined ? "failed" : found.outcome,
    why: trial.why?.en ?? wrong?.problem ?? null,
    why_zh: trial.why?.zh ?? wrong?.problem_zh ?? null,
    records: found?.outcome === "records" ? found.list.length : null,
    fields,
  };
}

const trialLimitMs = 25_000;
