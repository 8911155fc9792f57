import { readTaxId } from "@dataq/contract";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts a row of a register to our record: renames headings, unifies formats, and adds what follows from other
 * fields.
 */
export function fromRegister(row: Fields): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const own = headings[name.normalize("NFKC").replace(/[\s（(].*$/, "")] ?? name;
    // An empty cell is ignored, so that a second column with the same meaning can be used.
    if (fields[own] === undefined || fields[own] === "") fields[own] = value;
  }
  const code = fields["tax_id"];
  if (typeof code === "string") {
    const read = readTaxId(code);
    if ("value" in read) fields["tax_id"] = read.value;
  }
  for (const name of dates) fields[name] = dateOf(fields[name]);
  for (const name of ["registered_capital", "paid_in_capital"]) fields[name] = capitalOf(fields[name]);
  if (typeof fields["former_names"] === "string")
    fields["former_names"] = fields["former_names"]
      .split(/[;；,，、]/)
      .map((name) => name.trim())
      .filter(Boolean);
  if (isEmpty(fields["status_code"]) && typeof fields["status"] === "string")
    fields["status_code"] = statusCodeOf(fields["status"]);
  const taxId = fields["tax_id"];
  if (isEmpty(fields["organization_code"]) && typeof taxId === "string" && taxId.length === 18)
    fields["organization_code"] = `${taxId.slice(8, 16)}-${taxId[16]}`;
  return fields;
}

/** Converts a status as registers write it: 存续（在营、开业、在册）, 吊销，未注销. */
function statusCodeOf(status: string): string {
  const text = status.trim();
  if (/^吊销/.test(text)) return "revoked";
  return states.find(([words]) => words.test(text))?.[1] ?? "other";
}

const states: readonly (readonly [RegExp, string])[] = [
  [/撤销/, "rescinded"],
  [/吊销/, "revoked"],
  [/注销/, "cancelled"],
  [/迁出/, "moved_out"],
  [/筹建|设立中/, "establishing"],
  [/清算/, "liquidating"],
  [/停业|歇业/, "suspended"],
  [/存续|在营|开业|在业|在册|正常|迁入/, "active"],
];

const headings: Readonly<Record<string, string>> = {
  统一社会信用代码: "tax_id",
  社会信用代码: "tax_id",
  信用代码: "tax_id",
  纳税人识别号: "tax_id",
  企业名称: "name",
  公司名称: "name",
  名称: "name",
  英文名称: "name_en",
  英文名: "name_en",
  曾用名: "former_names",
  状态: "status",
  企业状态: "status",
  经营状态: "status",
  登记状态: "status",
  法定代表人: "legal_representative",
  法人代表: "legal_representative",
  法人: "legal_representative",
  注册资本: "registered_capital",
  实缴资本: "paid_in_capital",
  成立日期: "registration_date",
  注册日期: "registration_date",
  核准日期: "approved_date",
  营业期限自: "term_start",
  营业期限至: "term_end",
  企业类型: "company_type",
  公司类型: "company_type",
  类型: "company_type",
  所属行业: "industry",
  行业: "industry",
  登记机关: "registration_authority",
  注册号: "registration_no",
  工商注册号: "registration_no",
  组织机构代码: "organization_code",
  地址: "address",
  注册地址: "address",
  企业地址: "address",
  住所: "address",
  省份: "province",
  所属省份: "province",
  城市: "city",
  所属城市: "city",
  区县: "district",
  所属区县: "district",
  经营范围: "business_scope",
  注销日期: "cancelled_date",
  吊销日期: "revoked_date",
  吊销原因: "revoked_reason",
  人员规模: "staff_range",
  参保人数: "insured_count",
  纳税人资质: "taxpayer_type",
  法人识别编码: "lei",
  全球法人识别编码: "lei",
  LEI: "lei",
};

const dates = [
  "registration_date",
  "approved_date",
  "term_start",
  "term_end",
  "cancelled_date",
  "revoked_date",
] as const;

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/**
 * Reads 2001年3月5日, 2001/3/5 or 20010305, each with an optional time. 长期 means no end. Other values are
 * returned unchanged, and the schema check rejects them.
 */
function dateOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (/^(?:长期|永续|无固定期限|-|—|－)$/.test(text)) return null;
  const found = /^(\d{4})(?:[-/.年](\d{1,2})[-/.月](\d{1,2})日?|(\d{2})(\d{2}))(?:[T ]\d{1,2}:.*)?$/.exec(
    text,
  );
  if (found === null) return value;
  const [, year, month = found[4], day = found[5]] = found;
  return `${year}-${month?.padStart(2, "0")}-${day?.padStart(2, "0")}`;
}

/** Splits 1000万元人民币 into amount, unit and currency. */
function capitalOf(value: unknown): unknown {
  if (typeof value === "number")
    return { amount: String(value), unit: "元", currency: null, text: String(value) };
  if (typeof value !== "string" || value.trim() === "" || value.trim().startsWith("{")) return value;
  const text = value.trim();
  const found = /^([\d,]+(?:\.\d+)?)\s*([万亿]?)\s*元?/.exec(text.normalize("NFKC"));
  const currency = currencies.find(([words]) => words.test(text))?.[1] ?? null;
  return {
    amount: found?.[1]?.replaceAll(",", "") ?? null,
    unit: found === null ? null : `${found[2]}元`,
    currency,
    text,
  };
}

const currencies: readonly (readonly [RegExp, string])[] = [
  [/美元|USD/i, "USD"],
  [/港[元币]|HKD/i, "HKD"],
  [/欧元|EUR/i, "EUR"],
  [/日[元圆]|JPY/i, "JPY"],
  [/英镑|GBP/i, "GBP"],
  [/人民币|CNY|RMB|元$/i, "CNY"],
];
