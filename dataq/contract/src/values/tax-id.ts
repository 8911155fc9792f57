import type { Bilingual } from "../bilingual.ts";
import { counted } from "../counted.ts";
import { bad, parameter, type Reading } from "./reading.ts";

const symbols = "0123456789ABCDEFGHJKLMNPQRTUWXY";

/** Unified social credit code (GB 32100-2015), or an older registration number of 15 digits. */
export function taxId(description: Bilingual) {
  const pattern = "^([0-9A-HJ-NP-RTUWXY]{18}|[0-9]{15})$";
  return parameter(description, { pattern, format: "credit-code" }, readTaxId);
}

/** Reads a tax ID: upper case, with a valid check character. */
export function readTaxId(raw: string): Reading<string> {
  if (raw.length > 200) return bad("format", "is too long", fix, fixZh);
  const value = raw.normalize("NFKC").replace(/\s/g, "").toUpperCase();
  if (/^\d{15}$/.test(value)) return { value };
  if (value.length !== 18)
    return bad("length", `has ${counted(value.length, "character")}, not 18`, fix, fixZh);
  const wrong = [...value].find((character) => !symbols.includes(character));
  if (wrong !== undefined) {
    return bad(
      "character",
      `contains ${JSON.stringify(wrong)}, which credit codes do not use`,
      "use 0-9 and A-Z without I, O, S, V, Z",
      "只能用 0-9 和除 I、O、S、V、Z 以外的大写字母",
    );
  }
  const expected = checkCharacter(value.slice(0, 17));
  if (value[17] !== expected) {
    return bad(
      "checksum",
      `has the invalid check character ${value[17]}`,
      `the check character of the first 17 is ${expected}`,
      `前 17 位对应的校验码是 ${expected}`,
    );
  }
  return { value };
}

/** The 18th character of a credit code from its first 17. */
export function checkCharacter(first17: string): string {
  let sum = 0;
  let weight = 1;
  for (const character of first17) {
    sum += symbols.indexOf(character) * weight;
    weight = (weight * 3) % 31;
  }
  return symbols[(31 - (sum % 31)) % 31] as string;
}

/** Whether characters 9 to 17 are an organisation code with a valid check character (GB 11714). */
export function hasOrganisationCode(creditCode: string): boolean {
  const body = creditCode.slice(8, 16);
  return organisationCheck(body) === creditCode[16];
}

/** The ninth character of an organisation code from its first eight. */
export function organisationCheck(first8: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2];
  const order = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const sum = weights.reduce(
    (total, weight, place) => total + weight * order.indexOf(first8[place] as string),
    0,
  );
  const check = (11 - (sum % 11)) % 11;
  return check === 10 ? "X" : String(check);
}

const fix = "send the 18 characters of the unified social credit code";
const fixZh = "请发送 18 位统一社会信用代码";
