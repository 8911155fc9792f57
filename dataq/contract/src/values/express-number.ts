import type { Bilingual } from "../bilingual.ts";
import { counted } from "../counted.ts";
import { bad, parameter, type Reading } from "./reading.ts";

export function expressNumber(description: Bilingual) {
  const pattern = "^[A-Za-z0-9-]{6,32}$";
  return parameter(description, { pattern, format: "parcel-number" }, readExpressNumber);
}

/**
 * Reads a parcel number of 6 to 32 letters, digits and hyphens, in upper case. An EMS number must have the
 * right check digit (UPU S10).
 */
export function readExpressNumber(raw: string): Reading<string> {
  if (raw.length > 200) return bad("length", "is too long", fix, fixZh);
  const value = raw.normalize("NFKC").replace(/\s/g, "").toUpperCase();
  if (!/^[A-Z0-9-]*$/.test(value))
    return bad("character", "must contain only letters and digits", fix, fixZh);
  if (value.length < 6 || value.length > 32)
    return bad("length", `has ${counted(value.length, "character")}`, fix, fixZh);
  if (/^[A-Z]{2}\d{9}CN$/.test(value) && !hasPostalCheck(value)) {
    return bad(
      "checksum",
      "has an invalid check digit",
      `the last digit is ${postalCheck(value.slice(2, 10))}`,
      `最后一位数字应为 ${postalCheck(value.slice(2, 10))}`,
    );
  }
  return { value };
}

export interface Carrier {
  readonly code: string;
  readonly name: string;
}

/** Carriers whose numbers have this form, the likeliest first. An ambiguous number has several. */
export function carriersOf(number: string): Carrier[] {
  return patterns.filter(({ pattern }) => pattern.test(number)).map(({ code, name }) => ({ code, name }));
}

/** The carrier with this code, or with a Chinese name that starts with the same two characters (顺丰). */
export function findCarrier(text: string): Carrier | undefined {
  const wanted = text.toLowerCase();
  const isName = text.length >= 2;
  const found = patterns.find(({ code, name }) => code === wanted || (isName && name.startsWith(text)));
  return found === undefined ? undefined : { code: found.code, name: found.name };
}

function hasPostalCheck(number: string): boolean {
  return Number(number[10]) === postalCheck(number.slice(2, 10));
}

/** Check digit of the eight digits of a UPU S10 number. */
export function postalCheck(digits: string): number {
  const weights = [8, 6, 4, 2, 3, 5, 9, 7];
  const sum = weights.reduce((total, weight, place) => total + weight * Number(digits[place]), 0);
  const check = 11 - (sum % 11);
  return check === 10 ? 0 : check === 11 ? 5 : check;
}

const fix = "send the 6 to 32 letters and digits on the parcel";
const fixZh = "请发送运单上的 6 至 32 位字母和数字";

/** Patterns by carrier. The codes are those of kuaidi100, which vendors and users share. */
const patterns: readonly (Carrier & { readonly pattern: RegExp })[] = [
  { code: "ems", name: "EMS", pattern: /^[A-Z]{2}\d{9}CN$/ },
  { code: "shunfeng", name: "顺丰速运", pattern: /^SF\d{12,15}$/ },
  { code: "jd", name: "京东物流", pattern: /^JD[A-Z]{0,2}\d{11,13}(-\d+-\d+-?)?$/ },
  { code: "yuantong", name: "圆通速递", pattern: /^YT\d{13}$/ },
  { code: "jtexpress", name: "极兔速递", pattern: /^JT\d{13}$/ },
  { code: "debangkuaidi", name: "德邦快递", pattern: /^DPK\d{12}$/ },
  { code: "zhongtong", name: "中通快递", pattern: /^7[0-9]\d{10,12}$/ },
  { code: "shentong", name: "申通快递", pattern: /^(77|66|88)\d{10,13}$/ },
  { code: "yunda", name: "韵达快递", pattern: /^[34]\d{12,14}$/ },
  { code: "youzhengguonei", name: "中国邮政", pattern: /^9\d{12}$/ },
  { code: "shunfeng", name: "顺丰速运", pattern: /^\d{12}$/ },
];

/** Codes that `findCarrier` knows. */
export const carrierCodes: readonly string[] = [...new Set(patterns.map(({ code }) => code))];
