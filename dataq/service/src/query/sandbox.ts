import {
  type ErrorCode,
  errors,
  Failure,
  findOperation,
  invalid,
  type Operation,
  operations,
  placeholdersOf,
} from "@dataq/contract";

/** What a magic value asks the sandbox to do before or instead of returning samples. */
export type Directive =
  | { readonly kind: "error"; readonly code: ErrorCode; readonly retryAfterS: number }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "cache_hit" }
  | { readonly kind: "empty" };

const PREFIX = "sandbox:";
const LONGEST_DELAY_MS = 25_000;

/**
 * Magic inputs of `dq_test_` keys: any parameter whose value begins with `sandbox:`. `sandbox:<error code>` (with
 * `:<seconds>` for its retry_after), `sandbox:delay:<ms>`, `sandbox:cache_hit`, `sandbox:empty`. The value is then
 * replaced by the operation's example, so that it works for parameters of every format.
 */
export function takeDirective(body: unknown): { body: unknown; directive?: Directive } {
  if (typeof body !== "object" || body === null) return { body };
  const top = body as Record<string, unknown>;
  const inner = (typeof top["params"] === "object" && top["params"] !== null ? top["params"] : {}) as Record<
    string,
    unknown
  >;
  for (const [holder, place] of [
    [inner, "params"],
    [top, "top"],
  ] as const) {
    for (const [name, value] of Object.entries(holder)) {
      if (typeof value !== "string" || !value.startsWith(PREFIX)) continue;
      const example = exampleOf(top)?.[name];
      const { [name]: _taken, ...rest } = holder;
      const cleaned = example === undefined ? rest : { ...rest, [name]: example };
      return {
        body: place === "top" ? cleaned : { ...top, params: cleaned },
        directive: readDirective(value.slice(PREFIX.length), name),
      };
    }
  }
  return { body };
}

/** The failure that a magic value asks for, with every placeholder of its message filled. */
export function failureOf(code: ErrorCode, retryAfterS: number, operation: Operation | undefined): Failure {
  const isLater = errors[code].status === 429 || errors[code].status === 503;
  return new Failure(code, {
    ...Object.fromEntries(
      placeholdersOf(errors[code].message + errors[code].nextAction).map((name) => [name, "sandbox"]),
    ),
    ...(operation && { operation: operation.name }),
    ...(errors[code].status === 402 && { required: 5_000, balance: 0, shortfall: 5_000 }),
    ...(isLater && { retry_after: retryAfterS }),
  });
}

function readDirective(text: string, name: string): Directive {
  const [word = "", number] = text.split(":");
  const value = number !== undefined && /^\d{1,6}$/.test(number) ? Number(number) : undefined;
  if (number === undefined || value !== undefined) {
    if (Object.hasOwn(errors, word))
      return { kind: "error", code: word as ErrorCode, retryAfterS: value ?? 1 };
    if (word === "delay" && value !== undefined && value <= LONGEST_DELAY_MS)
      return { kind: "delay", ms: value };
    if ((word === "cache_hit" || word === "empty") && number === undefined) return { kind: word };
  }
  const fix = `send sandbox:<error code>, sandbox:delay:<ms up to ${LONGEST_DELAY_MS}>, sandbox:cache_hit or sandbox:empty`;
  const fixZh = `请发送 sandbox:<错误代码>、sandbox:delay:<毫秒，最多 ${LONGEST_DELAY_MS}>、sandbox:cache_hit 或 sandbox:empty`;
  const param = `params.${name}`;
  throw invalid(param, "sandbox", `${param} is not a magic input of the sandbox`, fix, fixZh);
}

function exampleOf(body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | undefined {
  const named = body["operation"];
  if (typeof named !== "string") return undefined;
  const name = named.trim().toLowerCase();
  const list: readonly Operation[] = operations;
  return (findOperation(name) ?? list.find((operation) => operation.name.endsWith(`_${name}`)))?.example;
}
