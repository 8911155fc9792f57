import { domains, type Operation, operations } from "@dataq/contract";
import { comment, jsonSchema } from "./json-schema.ts";
import { pascal } from "./operation-types.ts";

/**
 * Writes `src/methods.ts`, which has a method for each operation in both clients. With explicit methods,
 * editors show the description of each operation, and a wrong name does not compile.
 */
export function operationMethods(): string {
  return [
    'import type { OperationName } from "./operations.ts";',
    'import type { AsyncQueryOptions, QueryOptions } from "./request.ts";',
    'import type { ParamsOf, Result } from "./result.ts";',
    "",
    ...face("AsyncOperations", "AsyncQueryOptions", (result) => `Promise<${result}>`),
    ...face("SyncOperations", "QueryOptions", (result) => result),
  ].join("\n");
}

function face(name: string, options: string, wrap: (result: string) => string): string[] {
  const all: readonly Operation[] = operations;
  return [
    `export abstract class ${name} {`,
    `abstract query<Name extends OperationName>(operation: Name, params: ParamsOf<Name>, options?: ${options}): ${wrap("Result<Name>")};`,
    "",
    ...all.flatMap((operation) => [
      `${comment(operation.description.en)}${operation.name}(params: ${paramsOf(operation)}, options?: ${options}): ${wrap(`Result<"${operation.name}">`)} {`,
      `return this.query("${operation.name}", params, options);`,
      "}",
      "",
    ]),
    ...domains.flatMap((domain) => view(domain, all, options, wrap)),
    "}",
    "",
  ];
}

/** The camelCase view of a domain: `client.legal.lawCatalog()`. */
function view(
  domain: string,
  all: readonly Operation[],
  options: string,
  wrap: (result: string) => string,
): string[] {
  const own = all.filter((operation) => operation.domain === domain);
  if (own.length === 0) return [];
  return [
    `readonly ${domain} = {`,
    ...own.map((operation) => {
      const short = pascal(operation.name.slice(domain.length + 1));
      const camel = (short[0] ?? "").toLowerCase() + short.slice(1);
      return `${comment(operation.description.en)}${camel}: (params: ${paramsOf(operation)}, options?: ${options}): ${wrap(`Result<"${operation.name}">`)} => this.query("${operation.name}", params, options),`;
    }),
    "};",
    "",
  ];
}

/** The type of a method's parameters. If no parameter is required, the caller may omit the whole object. */
function paramsOf(operation: Operation): string {
  const { required = [] } = jsonSchema(operation.params, "input");
  return `ParamsOf<"${operation.name}">${required.length === 0 ? " = {}" : ""}`;
}
