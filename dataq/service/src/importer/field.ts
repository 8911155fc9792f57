/** Readers for single fields. A field that is missing, empty or of the wrong type is null. */

type Fields = Readonly<Record<string, unknown>>;

export function text(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return null;
  const trimmed = value.trim();
  return trimmed === "" ? null : trimmed;
}

export function day(fields: Fields, name: string): string | null {
  const found = /^(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})/.exec(text(fields, name) ?? "");
  if (found === null) return null;
  const [, year, month, date] = found as unknown as [string, string, string, string];
  const value = `${year}-${month.padStart(2, "0")}-${date.padStart(2, "0")}`;
  const time = Date.parse(`${value}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value ? null : value;
}

export function whole(fields: Fields, name: string): number | null {
  const value = Number(text(fields, name) ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : null;
}

export function list(fields: Fields, name: string): string[] {
  const value = fields[name];
  if (Array.isArray(value))
    return value.filter((item): item is string => typeof item === "string" && item !== "");
  return typeof value === "string" && value.trim() !== ""
    ? value
        .split(/[;；,，|]/)
        .map((item) => item.trim())
        .filter(Boolean)
    : [];
}
