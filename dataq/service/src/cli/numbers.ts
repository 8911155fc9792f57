import { InvalidArgumentError } from "commander";

/** A whole number, 0 or more. */
export function readCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It is not a whole number, 0 or more.");
  return Number(text);
}

/** A whole number, below 0 too. */
export function readSigned(text: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text)) throw new InvalidArgumentError("It is not a whole number.");
  return Number(text);
}
