import type { Bilingual } from "@dataq/contract";

/** A province, or what has its rank. */
export interface Region extends Bilingual {
  /** The first two digits of its codes. */
  readonly code: string;
}

/** By the codes of GB/T 2260. Hong Kong, Macao and Taiwan have registers of their own. */
const table: readonly (readonly [code: string, en: string, zh: string])[] = [
  ["11", "Beijing", "北京"],
  ["12", "Tianjin", "天津"],
  ["13", "Hebei", "河北"],
  ["14", "Shanxi", "山西"],
  ["15", "Inner Mongolia", "内蒙古"],
  ["21", "Liaoning", "辽宁"],
  ["22", "Jilin", "吉林"],
  ["23", "Heilongjiang", "黑龙江"],
  ["31", "Shanghai", "上海"],
  ["32", "Jiangsu", "江苏"],
  ["33", "Zhejiang", "浙江"],
  ["34", "Anhui", "安徽"],
  ["35", "Fujian", "福建"],
  ["36", "Jiangxi", "江西"],
  ["37", "Shandong", "山东"],
  ["41", "Henan", "河南"],
  ["42", "Hubei", "湖北"],
  ["43", "Hunan", "湖南"],
  ["44", "Guangdong", "广东"],
  ["45", "Guangxi", "广西"],
  ["46", "Hainan", "海南"],
  ["50", "Chongqing", "重庆"],
  ["51", "Sichuan", "四川"],
  ["52", "Guizhou", "贵州"],
  ["53", "Yunnan", "云南"],
  ["54", "Tibet", "西藏"],
  ["61", "Shaanxi", "陕西"],
  ["62", "Gansu", "甘肃"],
  ["63", "Qinghai", "青海"],
  ["64", "Ningxia", "宁夏"],
  ["65", "Xinjiang", "新疆"],
];

export const regions: readonly Region[] = table.map(([code, en, zh]) => ({ code, en, zh }));

const byCode = new Map(regions.map((region) => [region.code, region]));

/** The region of a division's code, which may be longer. */
export function regionOfCode(code: string): Region | undefined {
  return byCode.get(code.slice(0, 2));
}

/** The region of a credit code: characters 3 to 8 are the division that registered it. */
export function regionOfTaxId(taxId: unknown): Region | undefined {
  return typeof taxId === "string" ? regionOfCode(taxId.slice(2)) : undefined;
}

/** The region with which the name of a place, a court or a company begins. */
export function regionOfName(name: unknown): Region | undefined {
  if (typeof name !== "string") return undefined;
  const plain = name.normalize("NFKC").trimStart();
  return regions.find(({ zh }) => plain.startsWith(zh));
}

/** The region of an invoice. A digital number has it behind the year; a code has it first, one of 12 digits behind a 0. */
export function regionOfInvoice({
  invoice_code: code,
  invoice_number: number,
}: Readonly<Record<string, unknown>>): Region | undefined {
  const digits = [code, number].find((each) => typeof each === "string" && each !== "") as string | undefined;
  if (digits === undefined || !/^\d+$/.test(digits)) return undefined;
  if (digits.length === 20) return regionOfCode(digits.slice(2));
  if (typeof code !== "string" || code === "") return undefined;
  return regionOfCode(code.length === 12 ? code.slice(1) : code);
}

/** Key of a record of a region, by which they are counted. */
export function regionKeys(region: Region | undefined): string[] {
  return region === undefined ? [] : [regionPrefix + region.code];
}

export const regionPrefix = "region|";
