import {
  editDistance,
  Failure,
  findOperation,
  invalid,
  type Operation,
  operations,
  type ParameterProblem,
  type Params,
  readParams,
  summarise,
} from "@dataq/contract";

/** A question in its one form: names complete, values checked and normalised. */
export interface QueryRequest {
  readonly operation: Operation;
  readonly params: Params;
  readonly page: number;
  readonly pageSize: number;
  /** Where the list begins, instead of a page; see older-profile.ts. */
  readonly offset?: number;
  /** State of the index that an earlier page named. */
  readonly snapshot?: string;
  /** `bypass` asks the source at list price; `only` answers from the cache or not at all. */
  readonly cache: "default" | "bypass" | "only";
  /** Fields of each record to send; all when absent. */
  readonly fields?: readonly string[];
  /** The call is refused when it would cost more. */
  readonly maxTokens?: number;
  readonly dryRun: boolean;
  readonly warnings: readonly string[];
}

export interface ReadOptions {
  /** The date in China, YYYY-MM-DD. */
  readonly today: string;
  /** `Prefer: handling=lenient`: parameters that are not known become warnings. */
  readonly lenient?: boolean;
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 200;
/** page × page_size may reach this far. */
export const MAX_DEPTH = 10_000;

/** Reads the body of `POST /v1/data/query`. Throws 400 failures that name the field. */
export function readRequest(body: unknown, options: ReadOptions): QueryRequest {
  if (!isObject(body))
    throw invalid("body", "type", "the body is not a JSON object", "send a JSON object", "请发送 JSON 对象");
  const operation = readOperation(body);
  const { controls, raw } = separate(body);
  const { params, warnings } = readParameters(operation, raw, options);
  const { page, pageSize } = readPaging(operation, controls);
  const snapshot = readText(controls, "snapshot", 128);
  const fields = readFields(operation, controls["fields"]);
  const maxTokens = readInteger(controls, "max_tokens", 0, Number.MAX_SAFE_INTEGER);
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

/** Top-level names that are not parameters of an operation. */
const CONTROLS = ["page", "page_size", "cache", "fields", "snapshot", "max_tokens", "dry_run"] as const;
const SELECTORS = ["domain", "operation", "params"];

function readOperation(body: Readonly<Record<string, unknown>>): Operation {
  const { domain, operation: named } = body;
  if (domain !== undefined && typeof domain !== "string")
    throw invalid(
      "domain",
      "type",
      "domain is not a string",
      "send a domain such as legal, or leave it out",
      "请发送如 legal 的领域，或不填",
    );
  if (named === undefined)
    throw new Failure("missing_parameter", {
      param: "operation",
      details: [
        problem(
          "operation",
          "missing",
          "operation is missing",
          "send operation, such as legal_laws",
          "请补上 operation，如 legal_laws",
        ),
      ],
    });
  if (typeof named !== "string")
    throw invalid(
      "operation",
      "type",
      "operation is not a string",
      "send operation, such as legal_laws",
      "请发送 operation，如 legal_laws",
    );
  const name = named.trim().toLowerCase();
  const inDomain = domain?.trim().toLowerCase();
  const found =
    findOperation(name) ??
    (inDomain === undefined ? findByShortName(name) : findOperation(`${inDomain}_${name}`));
  if (!found) throw unknownOperation(name);
  if (inDomain !== undefined && found.domain !== inDomain)
    throw new Failure("domain_mismatch", {
      operation: found.name,
      expected: found.domain,
      domain: shorten(inDomain),
      param: "domain",
      details: [
        problem(
          "domain",
          "mismatch",
          `domain is not ${found.domain}`,
          `send ${found.domain}, or leave it out`,
          `请发送 ${found.domain}，或不填`,
        ),
      ],
    });
  return found;
}

/** `laws` for `legal_laws`. */
function findByShortName(name: string): Operation | undefined {
  const list: readonly Operation[] = operations;
  return list.find((operation) => operation.name === `${operation.domain}_${name}`);
}

function unknownOperation(name: string): Failure {
  const shown = shorten(name);
  const near = operations
    .map((operation) => ({ name: operation.name, distance: editDistance(shown, operation.name) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const [fix, fixZh] =
    near && near.distance <= 4
      ? [`did you mean ${near.name}?`, `您是否要用 ${near.name}？`]
      : ["see /v1/catalog for the operations there are", "可用的接口见 /v1/catalog"];
  return new Failure("unknown_operation", {
    operation: shown,
    fix,
    param: "operation",
    details: [problem("operation", "unknown", `${shown} is not an operation`, fix, fixZh)],
  });
}

/** Parameters may stand in `params` and at top level; paging at top level and in `params`. Twice is fine if equal. */
function separate(body: Readonly<Record<string, unknown>>): {
  controls: Record<string, unknown>;
  raw: Record<string, unknown>;
} {
  const inner = body["params"] ?? {};
  if (!isObject(inner))
    throw invalid("params", "type", "params is not a JSON object", "send a JSON object", "请发送 JSON 对象");
  const raw: Record<string, unknown> = Object.create(null);
  const controls: Record<string, unknown> = Object.create(null);
  const take = (name: string, value: unknown, into: Record<string, unknown>) => {
    if (Object.hasOwn(into, name) && JSON.stringify(into[name]) !== JSON.stringify(value))
      throw new Failure("ambiguous_parameter", {
        param: name,
        details: [
          problem(
            name,
            "ambiguous",
            `${shorten(name)} is given twice with different values`,
            "send it once",
            "只发送一次",
          ),
        ],
      });
    into[name] = value;
  };
  for (const [name, value] of Object.entries(inner))
    take(name, value, name === "page" || name === "page_size" ? controls : raw);
  for (const [name, value] of Object.entries(body))
    if (!SELECTORS.includes(name)) take(name, value, isControl(name) ? controls : raw);
  return { controls, raw };
}

function isControl(name: string): boolean {
  return (CONTROLS as readonly string[]).includes(name);
}

function readParameters(
  operation: Operation,
  raw: Record<string, unknown>,
  options: ReadOptions,
): { params: Params; warnings: readonly string[] } {
  const warnings: string[] = [];
  let read = readParams(operation, raw, options.today);
  if (options.lenient && "code" in read && read.code === "unknown_parameter") {
    for (const { param, message } of read.details) {
      delete raw[param.replace(/^params\./, "")];
      warnings.push(`${message}; it was ignored`);
    }
    read = readParams(operation, raw, options.today);
  }
  if (!("code" in read)) return { params: read.params, warnings: [...warnings, ...read.warnings] };
  const first = read.details[0]!;
  throw new Failure(read.code, {
    param: first.param,
    operation: operation.name,
    fix: first.fix,
    summary: summarise(read.details),
    details: read.details,
  });
}

function readPaging(
  operation: Operation,
  controls: Readonly<Record<string, unknown>>,
): { page: number; pageSize: number } {
  const page = readInteger(controls, "page", 1, Number.MAX_SAFE_INTEGER) ?? 1;
  const pageSize = readInteger(controls, "page_size", 1, MAX_PAGE_SIZE) ?? DEFAULT_PAGE_SIZE;
  if (!operation.paged && page > 1)
    throw invalid(
      "page",
      "range",
      `${operation.name} has one page`,
      "send page 1, or leave it out",
      "请发送 page 1，或不填",
    );
  if (operation.paged && page * pageSize > MAX_DEPTH)
    throw new Failure("page_out_of_range", {
      param: "page",
      details: [
        problem(
          "page",
          "range",
          `page × page_size is above ${MAX_DEPTH}`,
          "narrow the query with a filter",
          "请用筛选条件缩小范围",
        ),
      ],
    });
  return { page, pageSize: operation.paged ? pageSize : DEFAULT_PAGE_SIZE };
}

function readFields(operation: Operation, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const known = Object.keys(operation.record.shape);
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(
      "fields",
      "type",
      "fields is not a list of names",
      `send some of ${known.join(", ")}`,
      `可用的字段：${known.join("、")}`,
    );
  for (const name of value)
    if (typeof name !== "string" || !known.includes(name))
      throw invalid(
        "fields",
        "unknown",
        `${shorten(String(name))} is not a field of ${operation.name}`,
        `the fields are ${known.join(", ")}`,
        `可用的字段：${known.join("、")}`,
      );
  return [...new Set<string>(value)].sort();
}

/** Integers may be sent as strings. */
const digits = /^(?:0|[1-9]\d{0,14})$/;

function readInteger(
  controls: Readonly<Record<string, unknown>>,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = controls[name];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && digits.test(value) ? Number(value) : value;
  const isOpen = most === Number.MAX_SAFE_INTEGER;
  const range = isOpen ? `${least} or more` : `${least} to ${most}`;
  const fixZh = isOpen ? `请发送不小于 ${least} 的整数` : `请发送 ${least} 到 ${most} 的整数`;
  if (typeof number !== "number" || !Number.isInteger(number))
    throw invalid(name, "type", `${name} is not an integer`, `send an integer, ${range}`, fixZh);
  if (number < least || number > most)
    throw invalid(name, "range", `${name} is not within ${range}`, `send an integer, ${range}`, fixZh);
  return number;
}

function readBoolean(controls: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = controls[name];
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(name, "type", `${name} is not true or false`, "send true or false", "请发送 true 或 false");
}

function readChoice<const Choice extends string>(
  controls: Readonly<Record<string, unknown>>,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = controls[name];
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw invalid(
    name,
    "choice",
    `${name} is not one of ${choices.join(", ")}`,
    `send one of ${choices.join(", ")}`,
    `可选：${choices.join("、")}`,
  );
}

function readText(
  controls: Readonly<Record<string, unknown>>,
  name: string,
  longest: number,
): string | undefined {
  const value = controls[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value.length > 0 && value.length <= longest) return value;
  throw invalid(
    name,
    "type",
    `${name} is not a string of 1 to ${longest} characters`,
    "send what an answer gave",
    "请发送回答中给出的值",
  );
}

function problem(param: string, code: string, message: string, fix: string, fixZh: string): ParameterProblem {
  return { param, code, message, fix, fixZh };
}

function shorten(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
