import { envelopeSchema, type Operation, operations } from "@dataq/contract";
import { comment, type JsonSchema, jsonSchema, typeOf } from "./json-schema.ts";

/** Writes `src/operations.ts`: parameters, records and the envelope of every operation as plain types. */
export function operationTypes(): string {
  const all: readonly Operation[] = operations;
  const first = all[0];
  if (first === undefined) throw new Error("The contract has no operation.");
  return [
    `export const operationNames = ${JSON.stringify(all.map(({ name }) => name))} as const;`,
    "",
    "/** Names that the envelope uses itself. A record's field of the same name is read under `data`. */",
    `export const envelopeFields: readonly string[] = ${JSON.stringify(Object.keys(envelopeSchema(first).shape))};`,
    "",
    "/** Each operation's parameters, its `data`, and the summary beside it. */",
    "export interface Operations {",
    ...all.map(entry),
    "}",
    "",
    "export type OperationName = keyof Operations;",
    "",
    ...envelopeTypes(first),
    ...all.flatMap(typesOf),
  ].join("\n");
}

function entry(operation: Operation): string {
  const name = pascal(operation.name);
  const data = operation.kind === "list" ? `${name}Record[]` : `${name}Record`;
  const summary = operation.summary === undefined ? "undefined" : `${name}Summary`;
  return `${comment(operation.description.en)}${operation.name}: { params: ${name}Params; data: ${data}; summary: ${summary} };`;
}

function typesOf(operation: Operation): string[] {
  const name = pascal(operation.name);
  const withPaging = paramsSchema(operation);
  const hasAny = Object.keys(withPaging.properties ?? {}).length > 0;
  return [
    hasAny
      ? `export interface ${name}Params ${typeOf(withPaging)}`
      : `export type ${name}Params = Record<string, never>;`,
    "",
    `export interface ${name}Record ${typeOf(jsonSchema(operation.record, "output"), named)}`,
    "",
    ...(operation.summary === undefined
      ? []
      : [`export interface ${name}Summary ${typeOf(jsonSchema(operation.summary, "output"), named)}`, ""]),
  ];
}

/** The schema of an operation's parameters, with the page parameters if it has pages. */
export function paramsSchema(operation: Operation): JsonSchema {
  const params = jsonSchema(operation.params, "input");
  const paging: Record<string, JsonSchema> = operation.paged
    ? {
        page: { type: "integer", description: "From 1, the default." },
        page_size: { type: "integer", description: "1–200, default 20." },
      }
    : {};
  return { ...params, properties: { ...params.properties, ...paging } };
}

function envelopeTypes(operation: Operation): string[] {
  const envelope = jsonSchema(envelopeSchema(operation), "output");
  const { data: _data, summary: _summary, ...properties } = envelope.properties ?? {};
  const source = jsonSchema(operation.record, "output").properties?.["source"] ?? {};
  const { usage = {}, index = {} } = properties;
  return [
    "/** What every answer contains besides its data. */",
    `export interface Envelope ${typeOf({ ...envelope, properties }, named)}`,
    "",
    "/** What a call cost, in tokens, and what is left. */",
    `export interface Usage ${typeOf(usage)}`,
    "",
    "/** State of the index that an answer was read from. */",
    `export interface IndexState ${typeOf(index)}`,
    "",
    "/** Where a record comes from. The kind of generated records is always `sample`. */",
    `export interface Source ${typeOf(source)}`,
    "",
  ];
}

/** Returns the type name of a field whose type has the same name everywhere. */
export function named(field: string, schema: JsonSchema): string | undefined {
  if (field === "source" && schema.properties?.["retrieved_at"] !== undefined) return "Source";
  if (field === "usage" && schema.properties?.["list_tokens"] !== undefined) return "Usage";
  if (field === "index" && schema.properties?.["next_refresh_at"] !== undefined) return "IndexState";
  return undefined;
}

export function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
