/** JSON as printed by Go's encoder. */
export function goJson(value: unknown): string {
  return goEscaped(JSON.stringify(value));
}

/** JSON with the characters escaped that Go's encoder escapes: `<`, `>`, `&`, U+2028 and U+2029. */
export function goEscaped(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
