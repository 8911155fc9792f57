import type { JsonSchema } from "../../client/scripts/json-schema.ts";
import { pascal } from "../../client/scripts/operation-types.ts";

/** Converts schemas to Python types. Each TypedDict class is written before its first use. */
export class PythonTypes {
  readonly #classes: string[] = [];
  readonly #named: Named;

  /** `named` returns the name of a field's type if it has one. */
  constructor(named: Named = () => undefined) {
    this.#named = named;
  }

  /** The text of all classes that were added. Each class comes after the classes that it uses. */
  text(): string {
    return this.#classes.join("\n\n");
  }

  /** Adds the class of an object and returns its name. */
  add(name: string, schema: JsonSchema, description?: string): string {
    const fields = Object.entries(schema.properties ?? {}).map(([field, of]) => ({
      text: `    ${attribute(field)}: ${this.ofField(name, field, of)}\n${docstring(of.description, "    ")}`,
      isOptional: !schema.required?.includes(field),
    }));
    const optional = fields.filter(({ isOptional }) => isOptional);
    const rest = fields.filter(({ isOptional }) => !isOptional);
    const base = optional.length === 0 ? "TypedDict" : `_${name}Optional`;
    // Optional fields go into a separate base class, because the oldest supported Python has no NotRequired.
    if (optional.length > 0) {
      this.#classes.push(`class ${base}(TypedDict, total=False):\n${join(optional)}`);
    }
    this.#classes.push(`class ${name}(${base}):\n${docstring(description, "    ", "\n")}${join(rest)}`);
    return name;
  }

  /** The type of a field of the class `owner`. */
  ofField(owner: string, field: string, schema: JsonSchema): string {
    return this.#named(field, schema) ?? this.of(owner + pascal(field), schema);
  }

  /** The type of a schema; an object in it becomes a class called `name`. */
  of(name: string, schema: JsonSchema): string {
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    // Any other string is also allowed, because a later server may send a value that this version does not
    // know.
    if (schema.enum !== undefined) return `Union[Literal[${schema.enum.map(literal).join(", ")}], str]`;
    if (schema.anyOf !== undefined) return union(schema.anyOf.map((one) => this.of(name, one)));
    if (Array.isArray(schema.type))
      return union(schema.type.map((type) => this.of(name, { ...schema, type })));
    switch (schema.type) {
      case "string":
        return "str";
      case "boolean":
        return "bool";
      case "null":
        return "None";
      case "integer":
        return "int";
      case "number":
        return "float";
      case "array":
        return `List[${this.of(name, schema.items ?? {})}]`;
      case "object": {
        if (schema.properties !== undefined) return this.add(name, schema);
        const { additionalProperties: values } = schema;
        return `Dict[str, ${typeof values === "object" ? this.of(name, values) : "Any"}]`;
      }
      default:
        return "Any";
    }
  }
}

type Named = (field: string, schema: JsonSchema) => string | undefined;

/** A docstring, or nothing if there is no text. */
export function docstring(text: string | undefined, indent: string, after = ""): string {
  if (text === undefined) return "";
  const safe = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return `${indent}"""${safe.replace(/[^.。]$/, "$&.")}"""\n${after}`;
}

/** A name that Python accepts as an attribute. */
export function attribute(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || keywords.has(name)) {
    throw new Error(`${name} cannot be the name of a field in Python; choose another in the contract.`);
  }
  return name;
}

const keywords = new Set(
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);

function union(types: readonly string[]): string {
  const rest = [...new Set(types.filter((type) => type !== "None"))];
  const one = rest.length === 1 ? (rest[0] ?? "") : `Union[${rest.join(", ")}]`;
  return types.includes("None") ? `Optional[${one}]` : one;
}

function literal(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

function join(fields: readonly { readonly text: string }[]): string {
  return fields.length === 0 ? "    pass\n" : fields.map(({ text }) => text).join("");
}
