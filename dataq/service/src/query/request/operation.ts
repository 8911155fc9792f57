import { editDistance, Failure, findOperation, invalid, type Operation, operations } from "@dataq/contract";
import { shorten } from "./shorten.ts";

/** The operation that a request names: in full, by its short name, or by domain and short name. */
export function readOperation(body: Readonly<Record<string, unknown>>): Operation {
  const { domain, operation: named } = body;
  if (domain !== undefined && typeof domain !== "string")
    throw invalid(
      "domain",
      "type",
      "domain must be a string",
      "send a domain such as legal, or omit it",
      "请发送如 legal 的领域，或不填",
    );
  if (named === undefined)
    throw new Failure("missing_parameter", {
      param: "operation",
      details: [
        {
          param: "operation",
          code: "missing",
          message: "operation is missing",
          fix: "send operation, such as legal_laws",
          fixZh: "请补上 operation，如 legal_laws",
        },
      ],
    });
  if (typeof named !== "string")
    throw invalid(
      "operation",
      "type",
      "operation must be a string",
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
        {
          param: "domain",
          code: "mismatch",
          message: `domain must be ${found.domain}`,
          fix: `send ${found.domain}, or omit it`,
          fixZh: `请发送 ${found.domain}，或不填`,
        },
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
      : ["see /v1/catalog for the available operations", "可用的接口见 /v1/catalog"];
  return new Failure("unknown_operation", {
    operation: shown,
    fix,
    param: "operation",
    details: [{ param: "operation", code: "unknown", message: `${shown} is not an operation`, fix, fixZh }],
  });
}
