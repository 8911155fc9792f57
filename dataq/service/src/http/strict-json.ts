import { Failure } from "@dataq/contract";

/** Levels of nesting in a request body, including the root, unless a route allows more. */
const MAX_DEPTH = 8;

/**
 * Parses a body. Unlike JSON.parse it also rejects bytes that are not UTF-8, NUL, deep nesting, and a duplicate name in
 * one object (parsers differ in which value they keep). It drops `__proto__`. The error never repeats the body.
 */
export function parseStrictJson(bytes: Uint8Array, maxDepth = MAX_DEPTH): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Failure("invalid_json", { reason: "it is not UTF-8" }, cause);
  }
  if (text.includes("\0") || /\\u0000/i.test(text))
    throw new Failure("invalid_json", { reason: "it contains a NUL character" });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const place = /position (\d+)/.exec((cause as Error).message)?.[1];
    const reason =
      text.trim() === ""
        ? "it is empty"
        : place
          ? `unexpected text at position ${place}`
          : "it ends too early";
    throw new Failure("invalid_json", { reason }, cause);
  }
  checkObjects(text, maxDepth);
  return text.includes("__proto__") || text.includes("\\u005f") ? withoutPrototype(value) : value;
}

/** JSON.parse has accepted the text, so only brackets, strings and colons matter. */
function checkObjects(text: string, maxDepth: number): void {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{" || character === "[") {
      open.push(character === "{" ? new Set() : undefined);
      if (open.length > maxDepth)
        throw new Failure("invalid_json", { reason: `it has more than ${maxDepth} levels of nesting` });
    } else if (character === "}" || character === "]") {
      open.pop();
    } else if (character === '"') {
      const start = at;
      for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
      const names = open.at(-1);
      if (names && isFollowedByColon(text, at + 1)) addName(names, JSON.parse(text.slice(start, at + 1)));
    }
  }
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return text[at] === ":";
}

function addName(names: Set<string>, name: string): void {
  if (names.has(name)) {
    const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
    throw new Failure("invalid_json", {
      reason: `the name ${JSON.stringify(shown)} appears twice in one object`,
    });
  }
  names.add(name);
}

function withoutPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototype);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "__proto__")
      .map(([name, inner]) => [name, withoutPrototype(inner)]),
  );
}
