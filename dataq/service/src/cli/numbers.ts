import { InvalidArgumentError } from "commander";

/** A number with separators: 1,234. */
export function count(value: number): string {
  return value.toLocaleString("en");
}

/** A whole number, 0 or more. */
export function readCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 0 or more.");
  return Number(text);
}

/** A whole number, which may be negative. */
export function readSigned(text: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** A number, 0 or more, which may have decimals. */
export function readAmount(text: string): number {
  if (!/^\d{1,9}(?:\.\d{1,6})?$/.test(text))
    throw new InvalidArgumentError("It must be a number, 0 or more.");
  return Number(text);
}
