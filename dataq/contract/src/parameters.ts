import type { ParameterProblem } from "./failure.ts";
import type { Operation, Params } from "./operation.ts";
import type { Warning } from "./warnings.ts";

export type ReadParams =
  | { readonly params: Params; readonly warnings: readonly Warning[] }
  | {
      readonly code: "missing_parameter" | "unknown_parameter" | "invalid_params";
      readonly details: readonly ParameterProblem[];
    };

/**
 * Checks the parameters of a call and normalises them, so that equal questions become equal objects. `today`
 * is the date in China, YYYY-MM-DD.
 */
export function readParams(
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  today: string,
): ReadParams {
  const known = Object.keys(operation.params.shape);
  const [first = ""] = known;
  const hasFilter = operation.filters?.some((name) => given[name] !== undefined) ?? false;
  const raw = hasFilter && given[first] === undefined ? { ...given, [first]: "" } : given;
  const unknown = Object.keys(raw).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    return { code: "unknown_parameter", details: unknown.map((name) => unknownParameter(name, known)) };
  }
  const missing = known.filter((name) => raw[name] === undefined && !isOptional(operation, name));
  if (missing.length > 0) {
    return { code: "missing_parameter", details: missing.map((name) => missingParameter(operation, name)) };
  }
  const parsed = operation.params.safeParse(raw);
  if (!parsed.success) {
    return { code: "invalid_params", details: parsed.error.issues.map(problemOfIssue) };
  }
  const params = Object.fromEntries(
    Object.entries(parsed.data).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  if (operation.filters !== undefined && params[first] === "") {
    if (!hasFilter) return { code: "invalid_params", details: [emptyQuery(first, operation.filters)] };
    delete params[first];
  }
  const completed = operation.complete?.(params, today) ?? { params };
  if ("problem" in completed) {
    const { param, ...problem } = completed.problem;
    return { code: "invalid_params", details: [{ ...problem, param: `params.${param}` }] };
  }
  return { params: completed.params, warnings: completed.warnings ?? [] };
}

function isOptional(operation: Operation, name: string): boolean {
  return operation.params.shape[name]?.safeParse(undefined).success ?? false;
}

function problemOfIssue(issue: {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code?: string | undefined;
}): ParameterProblem {
  const own = (issue as { params?: { code?: string; fix?: string; fixZh?: string } }).params;
  const param = ["params", ...issue.path.map(String)].join(".");
  if (own?.code !== undefined) {
    const { code, fix = "", fixZh = "" } = own;
    return { param, code, message: `${param} ${issue.message}`, fix, fixZh };
  }
  return {
    param,
    code: "invalid_type",
    message: `${param} must be a string`,
    fix: "send a string",
    fixZh: "请发送字符串",
  };
}

function missingParameter(operation: Operation, name: string): ParameterProblem {
  const example = operation.example[name];
  const fix = example === undefined ? `send params.${name}` : `send params.${name}, such as ${example}`;
  const fixZh = `请补上 params.${name}${example === undefined ? "" : `，如 ${example}`}`;
  return { param: `params.${name}`, code: "missing", message: `params.${name} is missing`, fix, fixZh };
}

function emptyQuery(name: string, filters: readonly string[]): ParameterProblem {
  const param = `params.${name}`;
  const fix = `send at least one character, or a filter: ${filters.join(", ")}`;
  const fixZh = `至少填写一个字，或使用筛选条件：${filters.join("、")}`;
  return { param, code: "empty", message: `${param} is empty`, fix, fixZh };
}

function unknownParameter(name: string, known: readonly string[]): ParameterProblem {
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(shown, candidate) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance)[0];
  const [fix, fixZh] =
    near !== undefined
      ? [`did you mean ${near.candidate}?`, `您是否要用 ${near.candidate}？`]
      : known.length === 0
        ? ["this operation has no parameters", "该接口没有参数"]
        : [`the parameters are ${known.join(", ")}`, `可用的参数：${known.join("、")}`];
  const param = `params.${shown}`;
  return { param, code: "unknown", message: `${param} is not a parameter`, fix, fixZh };
}

/** Levenshtein distance of two short words. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
