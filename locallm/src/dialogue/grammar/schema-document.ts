import { SchemaError } from "./schema-error.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema document and the targets of its references. */
export class SchemaDocument {
  readonly root: unknown;
  /** Subschemas by absolute URI, and by URI with anchor. */
  readonly #named = new Map<string, unknown>();
  /** The base URI of each subschema inside one that has its own `$id`. */
  readonly #bases = new Map<unknown, string>();

  constructor(root: unknown) {
    this.root = root;
    this.#index(root, rootUri, 0);
  }

  /** Returns undefined if the reference leaves the document. Throws SchemaError if the target is missing. */
  resolve(reference: string, from: SchemaObject, path: string): unknown {
    const uri = join(reference, this.#bases.get(from) ?? rootUri);
    const hash = uri.indexOf("#");
    const [base, fragment] = hash < 0 ? [uri, ""] : [uri.slice(0, hash), uri.slice(hash + 1)];
    const document = base === rootUri ? this.root : this.#named.get(base);
    if (document === undefined) return undefined;
    if (fragment === "") return document;
    const target = fragment.startsWith("/")
      ? pointed(document, fragment)
      : this.#named.get(`${base}#${fragment}`);
    if (target !== undefined) return target;
    throw new SchemaError(path, `has a $ref to ${reference.slice(0, 100)}, which is missing`);
  }

  #index(value: unknown, base: string, depth: number): void {
    if (typeof value !== "object" || value === null || depth > maxDepth) return;
    let own = base;
    if (isObject(value)) {
      const { $id, $anchor, $dynamicAnchor } = value;
      if (typeof $id === "string") {
        own = join($id.replace(/#$/, ""), base);
        if (!this.#named.has(own)) this.#named.set(own, value);
      }
      for (const anchor of [$anchor, $dynamicAnchor])
        if (typeof anchor === "string" && !this.#named.has(`${own}#${anchor}`))
          this.#named.set(`${own}#${anchor}`, value);
      if (own !== rootUri) this.#bases.set(value, own);
    }
    for (const [key, child] of Object.entries(value))
      if (key !== "enum" && key !== "const") this.#index(child, own, depth + 1);
  }
}

const rootUri = "schema:/root";
const maxDepth = 300;

function join(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return reference;
  }
}

function pointed(document: unknown, pointer: string): unknown {
  let target = document;
  for (const part of decoded(pointer).slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as SchemaObject)[key];
  }
  return target;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
