import type { Bilingual } from "../bilingual.ts";
import { bad, parameter, type Reading } from "./reading.ts";

/** Characters are Unicode code points, as in JSON Schema. */
export const longestText = 20_000;

/** A running text of up to 20,000 characters. It is not normalised, because answers point to places in it. */
export function longText(description: Bilingual) {
  return parameter(description, { minLength: 1, maxLength: longestText }, readLongText);
}

function readLongText(raw: string): Reading<string> {
  if (raw === "") return bad("empty", "is empty", "send at least one character", "至少填写一个字");
  // No character has more than two units.
  const length = raw.length > 2 * longestText ? raw.length : codePoints(raw);
  if (length > longestText)
    return bad(
      "too_long",
      `is ${length} characters long`,
      `send at most ${longestText} characters, or split the text`,
      `最多 ${longestText} 个字，超出请分段发送`,
    );
  if (!raw.isWellFormed())
    return bad("invalid_text", "is not valid Unicode", "send well-formed text", "请发送正确编码的文字");
  return { value: raw };
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
