import { z } from "zod";

/** The subset of JSON Schema that the contract uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
}

/** The TypeScript type of a schema. `named` returns the name of a field's type if it has one. */
export function typeOf(schema: JsonSchema, named: Named = () => undefined): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  // Any other string is also allowed, because a later server may send a value that this version does not
  // know.
  if (schema.enum !== undefined)
    return [...schema.enum.map((value) => JSON.stringify(value)), "(string & {})"].join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(one, named)).join(" | ");
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, named)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `Array<${typeOf(schema.items ?? {}, named)}>`;
    case "object":
      return objectType(schema, named);
    default:
      return "unknown";
  }
}

type Named = (field: string, schema: JsonSchema) => string | undefined;

function objectType(schema: JsonSchema, named: Named): string {
  if (schema.properties === undefined) {
    const { additionalProperties: values } = schema;
    return `Record<string, ${typeof values === "object" ? typeOf(values, named) : "unknown"}>`;
  }
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${comment(field.description)}${name}${optional}: ${named(name, field) ?? typeOf(field, named)};`;
  });
  return `{\n${fields.join("\n")}\n}`;
}

export function comment(text: string | undefined): string {
  return text === undefined ? "" : `/** ${text.replaceAll("*/", "* /")} */\n`;
}

export function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as JsonSchema;
}
