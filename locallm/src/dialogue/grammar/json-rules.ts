import { type Rules, repeat } from "./gbnf.ts";

/** White space is bounded, because a weak or confused model would fill its whole window with it. */
export function space(rules: Rules): string {
  return rules.add("space", '| " " | "\\n" [ \\t]{0,20}');
}

/** One character of a JSON string, plain or escaped. Escapes of lone surrogates are not allowed. */
export function stringChar(rules: Rules): string {
  const single = '["\\\\/bfnrt]';
  const unicode = '"u" ([0-9a-cA-Ce-fE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2})';
  return rules.add("char", `[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (${single} | ${unicode})`);
}

export function string(rules: Rules, least = 0, most: number | null = null): string {
  const char = stringChar(rules);
  const body = most !== null ? repeat(char, least, most) : least === 0 ? `${char}*` : `(${char}){${least},}`;
  return rules.add("string", `"\\"" ${body} "\\""`);
}

export function integer(rules: Rules): string {
  return rules.add("integer", '"-"? ("0" | [1-9] [0-9]{0,14})');
}

export function number(rules: Rules): string {
  return rules.add("number", '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?');
}

export function boolean(rules: Rules): string {
  return rules.add("boolean", '"true" | "false"');
}

/**
 * Any JSON value, nested up to `depth` levels. Without a limit, a confused model would only open brackets.
 */
export function anyValue(rules: Rules, depth = 8): string {
  return rules.once(`value-${depth}`, () => {
    const scalars = [string(rules), number(rules), boolean(rules), '"null"'];
    return (depth === 0 ? scalars : [anyObject(rules, depth), anyArray(rules, depth), ...scalars]).join(
      " | ",
    );
  });
}

export function anyObject(rules: Rules, depth = 8): string {
  return rules.once(`object-${depth}`, () => {
    const blank = space(rules);
    const entry = `${string(rules)} ":" ${blank} ${anyValue(rules, depth - 1)} ${blank}`;
    return `"{" ${blank} (${entry} ("," ${blank} ${entry})*)? "}"`;
  });
}

export function anyArray(rules: Rules, depth = 8): string {
  return rules.once(`array-${depth}`, () => {
    const blank = space(rules);
    const item = `${anyValue(rules, depth - 1)} ${blank}`;
    return `"[" ${blank} (${item} ("," ${blank} ${item})*)? "]"`;
  });
}
