/** A line of CSV (RFC 4180). A text that a spreadsheet would read as a formula gets a leading apostrophe. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(field).join(",")}\r\n`;
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = value instanceof Date ? value.toISOString() : String(value);
  const safe = isFormula(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Whether a spreadsheet would read a text as a formula. */
export function isFormula(value: unknown): boolean {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value);
}
