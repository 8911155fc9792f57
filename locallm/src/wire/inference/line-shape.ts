/**
 * How a line of a stream tells a piece of text: constant parts, and between them the text as JSON, the time in ISO
 * 8601, and the number of the line.
 */
export type LineShape = readonly (string | { readonly put: "text" | "time" | "number" })[];

/** The line of a text. `number` counts the lines of the stream. */
export function lineOf(shape: LineShape, text: string, number: number, now: Date): string {
  let line = "";
  for (const part of shape) {
    if (typeof part === "string") line += part;
    else if (part.put === "text") line += JSON.stringify(text);
    else line += part.put === "time" ? now.toISOString() : String(number);
  }
  return line;
}
