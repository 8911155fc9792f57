import type { Random } from "../../../fuzz/random.ts";
import type { Field, Shape } from "./published-types.ts";

/**
 * What a request must mean besides fitting its type. A key is the path of a field or of one alternative, such as
 * `messages[user].content[file]`; a `*` matches any text.
 */
export interface Meaning {
  /** Values for fields whose type says too little. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Fields and alternatives that are left out. */
  readonly without: readonly string[];
  /** Optional fields that a request with only some of its fields has, too. */
  readonly needed: readonly string[];
}

export interface FullRequest {
  readonly body: Record<string, unknown>;
  /** The paths of all fields and alternatives in it. */
  readonly paths: ReadonlySet<string>;
}

/**
 * Makes requests of a type in which every field is set, until every alternative of every field was in one of
 * them. An array has an item of each kind.
 */
export function* fullRequests(shape: Shape, meaning: Meaning): Generator<FullRequest> {
  const maker = new RequestMaker(meaning);
  do {
    yield maker.request(shape);
  } while (maker.hasMore);
}

/** Makes one request of a type with some of its fields, and any alternative of each. */
export function drawnRequest(shape: Shape, meaning: Meaning, random: Random): FullRequest {
  return new RequestMaker(meaning, random).request(shape);
}

class RequestMaker {
  /** Null if every field is set, and every alternative has its turn. */
  readonly #random: Random | null;
  readonly #values: readonly (readonly [RegExp, unknown])[];
  readonly #without: readonly RegExp[];
  readonly #needed: readonly RegExp[];
  /** The alternatives of each field that were in no request yet. A field of a type is the same wherever the type is. */
  readonly #unused = new Map<string, string[]>();
  readonly #turns = new Map<string, number>();
  readonly #open: number[] = [];
  #paths = new Set<string>();

  constructor({ values, without, needed }: Meaning, random: Random | null = null) {
    this.#random = random;
    this.#values = Object.entries(values).map(([path, value]) => [pattern(path), value]);
    this.#without = without.map(pattern);
    this.#needed = needed.map(pattern);
  }

  get hasMore(): boolean {
    return this.#unused.values().some((tags) => tags.length > 0);
  }

  request(shape: Shape): FullRequest {
    this.#paths = new Set();
    const body = this.#value(shape, "") as Record<string, unknown>;
    return { body, paths: this.#paths };
  }

  #value(shape: Shape, path: string): unknown {
    this.#paths.add(path);
    const known = this.#values.find(([each]) => each.test(path));
    if (known !== undefined) return known[1];
    switch (shape.kind) {
      case "string":
        return "x";
      case "number":
        return 1;
      case "anything":
        return {};
      case "value":
        return shape.value;
      case "map":
        return { key: this.#value(shape.item(), `${path}.key`) };
      case "array":
        return this.#items(shape.item(), path);
      case "union":
        return this.#alternative(shape.members(), path);
      case "object":
        return this.#object(shape, path);
    }
  }

  #object({ id, fields }: Shape & { kind: "object" }, path: string): Record<string, unknown> {
    this.#open.push(id);
    const set: Record<string, unknown> = {};
    for (const { name, isOptional, shape } of fields()) {
      const at = path === "" ? name : `${path}.${name}`;
      if (this.#isLeftOut(at) || (isOptional && (this.#isEndless(shape) || this.#isSkipped(at)))) continue;
      set[name] = this.#value(shape, at);
    }
    this.#open.pop();
    return set;
  }

  #items(item: Shape, path: string): unknown[] {
    const possible = this.#possible(item.kind === "union" ? item.members() : [item], path);
    const random = this.#random;
    const chosen =
      random === null || possible.length === 0
        ? possible
        : Array.from({ length: 1 + random.below(3) }, () => random.pick(possible));
    return chosen.map(({ shape, at }) => this.#value(shape, at));
  }

  /** Each time another alternative: those that were never sent first. */
  #alternative(members: readonly Shape[], path: string): unknown {
    const possible = this.#possible(members, path);
    if (possible.length === 0) throw new Error(`all alternatives of ${path} are left out`);
    if (this.#random !== null) {
      const { shape, at } = this.#random.pick(possible);
      return this.#value(shape, at);
    }
    const field = `${this.#open.at(-1)}.${path.split(".").at(-1)}`;
    let unused = this.#unused.get(field);
    if (unused === undefined) {
      unused = possible.map(({ tag }) => tag);
      this.#unused.set(field, unused);
    }
    const turn = this.#turns.get(field) ?? 0;
    this.#turns.set(field, turn + 1);
    const next = unused.shift();
    const chosen = possible.find(({ tag }) => tag === next) ?? possible[turn % possible.length]!;
    return this.#value(chosen.shape, chosen.at);
  }

  #possible(members: readonly Shape[], path: string) {
    return members
      .filter((shape) => !this.#isEndless(shape))
      .map((shape, index) => ({ shape, tag: `${tagOf(shape) ?? index}` }))
      .map(({ shape, tag }) => ({ shape, tag, at: `${path}[${tag}]` }))
      .filter(({ at }) => !this.#isLeftOut(at));
  }

  #isSkipped(path: string): boolean {
    return (
      this.#random !== null && this.#random.below(3) > 0 && !this.#needed.some((each) => each.test(path))
    );
  }

  #isLeftOut(path: string): boolean {
    return this.#without.some((each) => each.test(path));
  }

  /** Whether the type contains itself without an end. */
  #isEndless(shape: Shape): boolean {
    return shape.kind === "object" && this.#open.includes(shape.id);
  }
}

/** Whether a pattern, in which `*` matches any text, is this path. */
export function matches(wanted: string, path: string): boolean {
  return pattern(wanted).test(path);
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.split("*").map(RegExp.escape).join(".*")}$`);
}

/** The name of an alternative: its value, or the `type` or `role` of an object. */
function tagOf(shape: Shape): string | undefined {
  switch (shape.kind) {
    case "value":
      return String(shape.value);
    case "object": {
      const fields = shape.fields();
      return literalOf(fields, "type") ?? literalOf(fields, "role");
    }
    case "array":
      return "list";
    default:
      return shape.kind === "union" ? undefined : shape.kind;
  }
}

function literalOf(fields: readonly Field[], name: string): string | undefined {
  const shape = fields.find((field) => field.name === name)?.shape;
  if (shape?.kind === "value") return String(shape.value);
  if (shape?.kind !== "union") return undefined;
  const values = shape.members().filter((member) => member.kind === "value" && member.value !== null);
  return values.length === 1 && values[0]!.kind === "value" ? String(values[0]!.value) : undefined;
}
