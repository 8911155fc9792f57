/** The value at a path such as `a.b.0.c` in nested objects and lists. Reads own properties only. */
export function at(value: unknown, path: string): unknown {
  let here = value;
  for (const step of path === "" ? [] : path.split(".")) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

/** Sets the value at a path, and makes the objects on the way. */
export function put(target: Record<string, unknown>, [first = "", ...rest]: string[], value: unknown): void {
  if (first === "__proto__") return;
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const held = Object.hasOwn(target, first) ? target[first] : undefined;
  const inner = (typeof held === "object" && held !== null ? held : {}) as Record<string, unknown>;
  target[first] = inner;
  put(inner, rest, value);
}
