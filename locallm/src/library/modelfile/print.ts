import { type Instruction, jsonMark } from "./instruction.ts";

/** Prints instructions so that `parseModelfile` reads them back unchanged. Quotes values only if needed. */
export function printModelfile(instructions: readonly Instruction[]): string {
  return instructions.map((instruction) => `${printInstruction(instruction)}\n`).join("");
}

export function printInstruction(instruction: Instruction): string {
  const value = printValue(instruction.value);
  switch (instruction.kind) {
    case "parameter":
    case "remote":
      return `${instruction.kind.toUpperCase()} ${instruction.name} ${value}`;
    case "message":
      return `MESSAGE ${instruction.role} ${value}`;
    default:
      return `${instruction.kind.toUpperCase()} ${value}`;
  }
}

function printValue(value: string): string {
  const needsQuotes = value === "" || /^["\\ \t\r\f\v]|[ \t\r\f\v]$|\n/.test(value);
  if (!needsQuotes) return value;
  if (!value.includes('"')) return `"${value}"`;
  // A line that ends with the quote would end the text too early.
  const endsEarly = /"""[ \t\r\f\v]*\n/.test(value);
  return endsEarly ? `${jsonMark}${JSON.stringify(value)}` : `"""${value}"""`;
}
