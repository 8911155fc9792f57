import { invalid, type Operation, type Params, type Warning } from "@dataq/contract";
import { readBoolean, readChoice, readFields, readInteger, readPaging, readText } from "./controls.ts";
import { isObject } from "./json-object.ts";
import { readOperation } from "./operation.ts";
import { readParameters } from "./parameters.ts";
import { separate } from "./separate.ts";

/** A validated request: full names, checked and normalised values. */
export interface QueryRequest {
  readonly operation: Operation;
  readonly params: Params;
  readonly page: number;
  readonly pageSize: number;
  /** Number of records to skip, instead of a page; see older-profile.ts. */
  readonly offset?: number;
  /** The state of the index that an earlier page returned. */
  readonly snapshot?: string;
  /** `bypass` asks the source at list price. `only` answers from the cache or fails. */
  /** `none`, from `Cache-Control: no-store`, neither reads nor keeps an answer. */
  readonly cache: "default" | "bypass" | "only" | "none";
  /** The fields of each record to return; all by default. */
  readonly fields?: readonly string[];
  /** The call is refused if it would cost more. */
  readonly maxTokens?: number;
  readonly dryRun: boolean;
  readonly warnings: readonly Warning[];
}

export interface ReadOptions {
  /** The date in China, YYYY-MM-DD. */
  readonly today: string;
  /** `Prefer: handling=lenient`: unknown parameters become warnings. */
  readonly lenient?: boolean;
}

/** Reads the body of `POST /v1/data/query`. Throws 400 failures that name the field. */
export function readRequest(body: unknown, options: ReadOptions): QueryRequest {
  if (!isObject(body))
    throw invalid("body", "type", "the body must be a JSON object", "send a JSON object", "请发送 JSON 对象");
  const operation = readOperation(body);
  const { controls, raw } = separate(body);
  const { params, warnings } = readParameters(operation, raw, options);
  const { page, pageSize } = readPaging(operation, controls);
  const snapshot = readText(controls, "snapshot", 128);
  const fields = readFields(operation, controls["fields"]);
  const maxTokens = readInteger(controls, "max_tokens", 0);
  return {
    operation,
    params,
    page,
    pageSize,
    cache: readChoice(controls, "cache", ["default", "bypass", "only"]) ?? "default",
    dryRun: readBoolean(controls, "dry_run") ?? false,
    warnings,
    ...(snapshot !== undefined && { snapshot }),
    ...(fields !== undefined && { fields }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}
