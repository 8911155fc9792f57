import { displayModelName, type ModelName, modelNameKey, parseModelName } from "../wire/model-name.ts";

const longestPattern = 600;

/** Why the text is neither a model name nor a pattern of model names. Null if it is one. */
export function patternProblem(text: string): string | null {
  if (text.includes("*")) {
    return text.length <= longestPattern && /^[A-Za-z0-9_.:/*-]+$/.test(text)
      ? null
      : `must have at most ${longestPattern} letters, digits and _ . : / - *`;
  }
  return parseModelName(text) === null ? "must be a model name, or a pattern with *" : null;
}

/**
 * Compiles names and patterns to a test of model names. Upper and lower case are equal. A name without a tag means
 * `latest`. In a pattern, `*` matches any text; the pattern must match the whole name as `locallm list` prints it.
 */
export function modelTest(entries: readonly string[]): (name: ModelName) => boolean {
  const names = new Set<string>();
  const patterns: string[][] = [];
  for (const entry of entries) {
    const name = entry.includes("*") ? null : parseModelName(entry);
    if (name !== null) names.add(modelNameKey(name));
    else patterns.push(entry.toLowerCase().split(/\*+/));
  }
  return (name) => {
    if (names.has(modelNameKey(name))) return true;
    if (patterns.length === 0) return false;
    const text = displayModelName(name).toLowerCase();
    return patterns.some((parts) => isMatch(parts, text));
  };
}

/**
 * Whether the text consists of the parts in order with any text between them. Takes the first occurrence of each
 * part, so it never tries a position twice; a regular expression would.
 */
function isMatch(parts: readonly string[], text: string): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
