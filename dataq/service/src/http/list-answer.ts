import { findOperation, type JsonSchema, type Operation, recordSchema } from "@dataq/contract";
import { listHeaders } from "@dataq/contract/wire";
import type { Accepted } from "./accept.ts";
import { csvLine, isFormula } from "./csv.ts";

interface Envelope extends Readonly<Record<string, unknown>> {
  readonly operation: string;
  readonly data: object | readonly object[];
}

/** An answer in another form than JSON. */
export interface ListAnswer {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer as CSV or JSON Lines. The rest of its envelope goes into headers. */
export function listAnswer(
  json: Buffer,
  { type, hasMark }: Accepted,
  fields: readonly string[] | undefined,
): ListAnswer {
  const envelope = JSON.parse(json.toString()) as Envelope;
  const records = [envelope.data].flat() as readonly object[];
  const facts = Object.entries(listHeaders).flatMap(([name, header]) => {
    const value = envelope[name];
    const isAbsent = value === undefined || (Array.isArray(value) && value.length === 0);
    return isAbsent ? [] : [[header, headerText(value)] as const];
  });
  const headers = Object.fromEntries(facts);
  if (type === "ndjson")
    return {
      text: records.map((record) => `${JSON.stringify(record)}\n`).join(""),
      headers: { ...headers, "content-type": "application/x-ndjson; charset=utf-8" },
    };
  const columns = columnsOf(findOperation(envelope.operation) as Operation, fields);
  const rows = records.map((record) => columns.map((column) => cellOf(record, column)));
  const head = csvLine(columns.map((path) => path.join(".")));
  return {
    text: (hasMark ? "\ufeff" : "") + head + rows.map(csvLine).join(""),
    headers: {
      ...headers,
      "x-csv-escaped": String(rows.flat().filter(isFormula).length),
      "content-type": "text/csv; charset=utf-8; header=present",
    },
  };
}

type Column = readonly [field: string, inner?: string];

/** A column for each field of the record, and for each field of an object in it: `source.name`. */
function columnsOf(operation: Operation, fields: readonly string[] | undefined): Column[] {
  const { properties = {} } = recordSchema(operation) as Schema;
  return Object.entries(properties)
    .filter(([name]) => fields === undefined || name === "id" || fields.includes(name))
    .flatMap(([name, schema]): Column[] => {
      const inner = [schema, ...(schema.anyOf ?? [])].find((one) => one.properties !== undefined)?.properties;
      return inner === undefined ? [[name]] : Object.keys(inner).map((field) => [name, field] as const);
    });
}

interface Schema extends JsonSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** Lists and deeper objects are JSON. */
function cellOf(record: object, [field, inner]: Column): unknown {
  const outer = (record as Readonly<Record<string, unknown>>)[field];
  const value =
    inner === undefined ? outer : (outer as Readonly<Record<string, unknown>> | null | undefined)?.[inner];
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

const LONGEST_VALUE = 4_000;

/** Objects and lists as JSON in ASCII, because headers can hold nothing else. */
function headerText(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const list = Array.isArray(value) ? [...value] : value;
  let text = asciiJson(list);
  while (Array.isArray(list) && text.length > LONGEST_VALUE) {
    list.pop();
    text = asciiJson(list);
  }
  return text;
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
