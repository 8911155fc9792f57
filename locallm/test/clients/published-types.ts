import { join } from "node:path";
import { API, type Checker, SymbolFlags, type Type, TypeFlags } from "typescript/unstable/sync";

/** What a type allows. Fields, items and members are read when they are asked for, because types may be recursive. */
export type Shape =
  | { readonly kind: "string" | "number" | "anything" }
  | { readonly kind: "value"; readonly value: string | number | boolean | null }
  | { readonly kind: "array"; readonly item: () => Shape }
  | { readonly kind: "map"; readonly item: () => Shape }
  | { readonly kind: "object"; readonly id: number; readonly fields: () => readonly Field[] }
  | { readonly kind: "union"; readonly members: () => readonly Shape[] };

export interface Field {
  readonly name: string;
  readonly isOptional: boolean;
  readonly shape: Shape;
}

export interface PublishedTypes<Name extends string> {
  readonly shapes: Readonly<Record<Name, Shape>>;
  close(): void;
}

/**
 * Reads types of npm packages with the TypeScript compiler, so that the fields of a newer version are found by
 * themselves. `types` are expressions such as `import("ollama").ChatRequest`; `folder` has the packages in its
 * `node_modules`.
 */
export function publishedTypes<Name extends string>(
  folder: string,
  types: Readonly<Record<Name, string>>,
): PublishedTypes<Name> {
  const program = join(folder, "types.ts");
  const project = join(folder, "tsconfig.json");
  const lines = Object.entries(types).map(([name, type]) => `  ${JSON.stringify(name)}: ${type};`);
  const compilerOptions = { strict: true, module: "nodenext", types: [], skipLibCheck: true };
  const files = new Map([
    [program, `export interface Types {\n${lines.join("\n")}\n}\n`],
    [project, JSON.stringify({ compilerOptions, files: ["types.ts"] })],
  ]);
  const api = new API({
    cwd: folder,
    fs: {
      readFile: (path) => files.get(path),
      fileExists: (path) => (files.has(path) ? true : undefined),
    },
  });
  const opened = api.updateSnapshot({ openProjects: [project] }).getProject(project)!;
  const [declaration] = opened.program.getSourceFile(program)!.statements;
  const root = opened.checker.getTypeAtLocation(declaration!)!;
  const fields = new Reader(opened.checker).fieldsOf(root);
  return {
    shapes: Object.fromEntries(fields.map(({ name, shape }) => [name, shape])) as Record<Name, Shape>,
    close: () => api.close(),
  };
}

/** Asking the compiler takes a message to another process, so each type is read once. */
class Reader {
  readonly #checker: Checker;
  readonly #shapes = new Map<number, Shape>();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  fieldsOf(type: Type): Field[] {
    return this.#checker.getPropertiesOfType(type).map((property) => ({
      name: property.name,
      isOptional: (property.flags & SymbolFlags.Optional) !== 0,
      shape: this.#shapeOf(this.#checker.getTypeOfSymbol(property)!),
    }));
  }

  #shapeOf(type: Type): Shape {
    const known = this.#shapes.get(type.id);
    if (known !== undefined) return known;
    const shape = this.#read(type);
    this.#shapes.set(type.id, shape);
    return shape;
  }

  #read(type: Type): Shape {
    const { flags } = type;
    if (type.isErrorType())
      throw new Error(`a published type is not found: ${this.#checker.typeToString(type)}`);
    if (type.isLiteralType()) return { kind: "value", value: type.value as string | number | boolean };
    if (flags & TypeFlags.Null) return { kind: "value", value: null };
    if (flags & (TypeFlags.String | TypeFlags.TemplateLiteral)) return { kind: "string" };
    if (flags & TypeFlags.Number) return { kind: "number" };
    if (type.isUnionType()) {
      const members = (type.getTypes() ?? []).filter((member) => (member.flags & TypeFlags.Undefined) === 0);
      if (members.length === 1) return this.#shapeOf(members[0]!);
      return { kind: "union", members: once(() => members.map((member) => this.#shapeOf(member))) };
    }
    // `string & {}`, which lets an editor propose values.
    if (type.isIntersectionType() && type.getTypes()?.some((part) => part.flags & TypeFlags.String))
      return { kind: "string" };
    if (this.#checker.isArrayLikeType(type) && type.isTypeReference()) {
      const [item] = this.#checker.getTypeArguments(type);
      return { kind: "array", item: () => this.#shapeOf(item!) };
    }
    if (flags & (TypeFlags.Object | TypeFlags.Intersection)) {
      const [index] = this.#checker.getIndexInfosOfType(type);
      const properties = this.#checker.getPropertiesOfType(type);
      if (properties.length > 0)
        return { kind: "object", id: type.id, fields: once(() => this.fieldsOf(type)) };
      if (index !== undefined) return { kind: "map", item: () => this.#shapeOf(index.valueType) };
    }
    return { kind: "anything" };
  }
}

function once<Value>(read: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= read());
}
