import type { Shape } from "./published-types.ts";

/**
 * Where a value is not of a type, as sentences with paths; empty if it is. Fields that the type does not have are faults,
 * too.
 */
export function misfits(value: unknown, shape: Shape, path = ""): string[] {
  const place = path === "" ? "the answer" : path;
  switch (shape.kind) {
    case "anything":
      return [];
    case "string":
    case "number":
      return typeof value === shape.kind ? [] : [`${place} is ${shown(value)}, not a ${shape.kind}`];
    case "value":
      return value === shape.value ? [] : [`${place} is ${shown(value)}, not ${shown(shape.value)}`];
    case "array":
      if (!Array.isArray(value)) return [`${place} is ${shown(value)}, not an array`];
      return value.flatMap((item) => misfits(item, shape.item(), `${path}[]`));
    case "map":
      if (!isObject(value)) return [`${place} is ${shown(value)}, not an object`];
      return Object.entries(value).flatMap(([name, item]) => misfits(item, shape.item(), `${path}.${name}`));
    case "object":
      return objectMisfits(value, shape, path);
    case "union": {
      const all = shape.members().map((member) => misfits(value, member, path));
      if (all.some((each) => each.length === 0)) return [];
      // The member that is meant has the same `type`, `role` or `object`, and so the fewest faults of this kind.
      const strange = (faults: readonly string[]) => faults.filter((each) => each.includes(', not "')).length;
      return all.reduce((least, each) =>
        strange(each) < strange(least) || (strange(each) === strange(least) && each.length < least.length)
          ? each
          : least,
      );
    }
  }
}

function objectMisfits(value: unknown, shape: Extract<Shape, { kind: "object" }>, path: string): string[] {
  if (!isObject(value)) return [`${path || "the answer"} is ${shown(value)}, not an object`];
  const fields = shape.fields();
  const names = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(value).filter((name) => !names.has(name));
  return [
    ...unknown.map((name) => `${path}.${name} is not in the type`),
    ...fields.flatMap(({ name, isOptional, shape: inner }) => {
      if (value[name] !== undefined) return misfits(value[name], inner, `${path}.${name}`);
      return isOptional ? [] : [`${path}.${name} is missing`];
    }),
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? "undefined";
}
