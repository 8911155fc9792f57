import type { Bilingual } from "../bilingual.ts";
import { withoutRadicals } from "../radicals.ts";
import { bad, parameter, type Reading } from "./reading.ts";

const longest = 200;

/** A search text or a name: 1 to 200 characters after NFKC normalisation and joining of white space. */
export function text(description: Bilingual) {
  return parameter(description, { minLength: 1, maxLength: longest, pattern: visible }, readText);
}

/** A search text that may be empty where there are filters. `readParams` rejects an empty one without them. */
export function query(description: Bilingual) {
  const pattern = `^$|${visible}`;
  return parameter(description, { maxLength: longest, pattern }, (raw) =>
    raw.length <= 4 * longest && raw.trim() === "" ? { value: "" } : readText(raw),
  );
}

/** No control characters except white space, and at least one visible character. */
const visible =
  "^[^\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f]*[^\\x00-\\x20\\x7f-\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff][^\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f]*$";

export function readText(raw: string): Reading<string> {
  if (raw.length > 4 * longest) return tooLong(raw.length);
  if (!raw.isWellFormed())
    return bad("invalid_text", "is not valid Unicode", "send well-formed text", "请发送正确编码的文字");
  const value = withoutRadicals(raw).normalize("NFKC").replace(/\s+/g, " ").trim();
  if (value === "") return bad("empty", "is empty", "send at least one character", "至少填写一个字");
  if (/\p{Cc}/u.test(value))
    return bad("control_character", "must not contain control characters", "remove it", "请去掉它");
  const length = [...value].length;
  return length > longest ? tooLong(length) : { value };
}

function tooLong(length: number) {
  return bad(
    "too_long",
    `is ${length} characters long`,
    `send at most ${longest} characters`,
    `最多 ${longest} 个字`,
  );
}
