/** A parsed Go template. Blocks are lists of nodes; a pipeline is the text between `{{` and `}}`. */
export type Block = readonly GoNode[];

export type GoNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly pipe: Pipe; readonly line: number }
  | {
      readonly kind: "if" | "with" | "range";
      readonly pipe: Pipe;
      readonly body: Block;
      readonly otherwise: Block | null;
      readonly line: number;
    }
  | { readonly kind: "break" | "continue" }
  | { readonly kind: "template"; readonly name: string; readonly pipe: Pipe | null; readonly line: number };

export interface Pipe {
  /** The variables that the pipeline sets. If `declares` is true, it creates them. */
  readonly variables: readonly string[];
  readonly declares: boolean;
  readonly commands: readonly (readonly Term[])[];
}

export type Term =
  | { readonly kind: "dot" | "nil" }
  | { readonly kind: "constant"; readonly value: boolean | string | number | { readonly float: number } }
  | { readonly kind: "field"; readonly names: readonly string[] }
  | { readonly kind: "variable"; readonly name: string; readonly fields: readonly string[] }
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "pipe"; readonly pipe: Pipe }
  | { readonly kind: "chain"; readonly of: Term; readonly fields: readonly string[] };

export interface GoSyntax {
  readonly root: Block;
  /** The bodies of `define` and `block`, by name. */
  readonly templates: ReadonlyMap<string, Block>;
}

/** Yields all terms of a block, including nested ones. */
export function* termsOf(block: Block): Generator<Term> {
  for (const node of block) {
    if ("pipe" in node && node.pipe !== null) yield* pipeTerms(node.pipe);
    if ("body" in node) {
      yield* termsOf(node.body);
      yield* termsOf(node.otherwise ?? []);
    }
  }
}

function* pipeTerms(pipe: Pipe): Generator<Term> {
  for (const term of pipe.commands.flat()) {
    yield term;
    if (term.kind === "pipe") yield* pipeTerms(term.pipe);
    if (term.kind === "chain") {
      yield term.of;
      if (term.of.kind === "pipe") yield* pipeTerms(term.of.pipe);
    }
  }
}

/** The names of the fields that a block reads from its data or a variable. `.Messages` gives `Messages`. */
export function fieldNames(block: Block): Set<string> {
  const names = new Set<string>();
  for (const term of termsOf(block)) {
    const fields = term.kind === "field" ? term.names : "fields" in term ? term.fields : [];
    for (const field of fields) names.add(field);
  }
  return names;
}
