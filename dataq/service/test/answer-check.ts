import { type ErrorCode, envelopeSchema, errorBody, errors, findOperation } from "@dataq/contract";
import {
  consoleRoutes,
  dryRun,
  errorCodesOf,
  type Route,
  routes,
  severalAnswers,
} from "@dataq/contract/wire";
import { z } from "zod";

/** Literal paths come before those with parameters. */
const patterns = [...Object.values<Route>(routes), ...Object.values<Route>(consoleRoutes)]
  .sort((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")))
  .map((route) => {
    const source = route.path.replace(/[.+*]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+");
    return { route, pattern: new RegExp(`^${source}/?$`) };
  });

/** Errors of requests that reach no route. */
const ofNoRoute: ReadonlySet<ErrorCode> = new Set(["no_such_route", "method_not_allowed"]);

/** One exchange with the service. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/**
 * Throws if an answer does not match the contract. Every call of a live test passes through here, so no field can be
 * added, lost or renamed on one side alone.
 */
export function checkAnswer(exchange: Exchange, options: { readonly hasRealRecords: boolean }): void {
  const { method, path, status, type, text } = exchange;
  const [plain = ""] = path.split("?", 1);
  const route = patterns.find((one) => one.route.method === method && one.pattern.test(plain))?.route;
  if (!route) return;
  const failed = (reason: string) =>
    new Error(
      `${method} ${path} does not answer as the contract says (${status}): ${reason}\n${text.slice(0, 500)}`,
    );
  if (status >= 400) {
    const read = errorBody.safeParse(JSON.parse(text));
    if (!read.success) throw failed(z.prettifyError(read.error));
    const code = read.data.code as ErrorCode;
    // A test key gets any error that its question names.
    if (ofNoRoute.has(code) || JSON.stringify(exchange.sent)?.includes(`"sandbox:${code}"`)) return;
    if (!errorCodesOf(route).includes(code)) throw failed(`${code} is not among the errors of this route`);
    if (errors[code].status !== status) throw failed(`${code} should have the status ${errors[code].status}`);
    return;
  }
  if (status === 304) return;
  const expected = schemaOf(route, exchange, options.hasRealRecords);
  if (status !== route.status) throw failed(`the status should be ${route.status}`);
  if (!(expected instanceof z.ZodType)) {
    const media = [expected ?? []].flat();
    if (media.length === 0 ? text !== "" : !media.some((one) => type.startsWith(one)))
      throw failed(`the type should be ${media.join(" or ") || "nothing"}, it is ${type}`);
    return;
  }
  const read = expected.safeParse(JSON.parse(text));
  if (!read.success) throw failed(z.prettifyError(read.error));
}

function schemaOf(route: Route, { path, sent, text }: Exchange, hasRealRecords: boolean): Route["answer"] {
  if (path !== "/v1/data/query") return route.answer;
  if ((sent as { readonly queries?: unknown } | undefined)?.queries) return severalAnswers;
  const answer = JSON.parse(text) as { readonly dry_run?: true; readonly operation: string };
  if (answer.dry_run) return dryRun;
  const operation = findOperation(answer.operation)!;
  const isWhole = hasRealRecords && !(sent as { readonly fields?: unknown } | undefined)?.fields;
  const schemas = isWhole ? ofWholeRecords : ofAnyRecords;
  const known = schemas.get(operation.name);
  if (known) return known;
  const schema = envelopeSchema(operation);
  const made = isWhole ? schema : schema.extend({ data: z.unknown(), summary: z.unknown().optional() });
  schemas.set(operation.name, made);
  return made;
}

/** By operation. Each is compiled when it first checks an answer, which takes longer than the check. */
const ofWholeRecords = new Map<string, z.ZodType>();
const ofAnyRecords = new Map<string, z.ZodType>();
