import type { Params } from "@dataq/contract";
import type { Fields } from "../../../connector/adapter.ts";

/**
 * Unifies what vendors copy from published reports: 1283.5万元 and 12人 are numbers, 企业选择不公示 is a figure that the
 * company does not publish. A sum without its unit is not guessed, because reports count in yuan and in ten thousands.
 */
export function fromReport(row: Fields, { params }: { readonly params: Params }): Fields {
  const { financials = {}, insured, shareholders, employee_count } = row;
  const figures = Object.fromEntries(
    figureNames.map((name) => [name, figureOf((financials as Fields)[name])]),
  );
  const count = countOf(employee_count);
  return {
    ...row,
    // Some vendors do not repeat the code that they were asked for; another one is refused where they do.
    tax_id: row["tax_id"] ?? params["tax_id"],
    employee_count: count,
    employee_count_public: count !== null,
    insured:
      typeof insured === "object" && insured !== null
        ? Object.fromEntries(Object.entries(insured).map(([name, value]) => [name, countOf(value)]))
        : null,
    financials: figures,
    ...(Array.isArray(shareholders) && {
      shareholders: shareholders.map((each: Fields) => ({
        ...each,
        subscribed: yuanOf(each["subscribed"]),
        paid_in: yuanOf(each["paid_in"]),
      })),
    }),
    ...(Array.isArray(row["years_available"]) && {
      years_available: [...new Set(row["years_available"])].sort((a, b) => Number(a) - Number(b)),
    }),
  };
}

const figureNames = [
  "total_assets",
  "total_liabilities",
  "owners_equity",
  "revenue",
  "main_revenue",
  "total_profit",
  "net_profit",
  "tax_paid",
] as const;

function figureOf(value: unknown): unknown {
  if (typeof value === "object" && value !== null) return value;
  return { amount: yuanOf(value), public: /\d/.test(String(value ?? "")) };
}

/** 1,283.5万元 in yuan; null without a unit. */
function yuanOf(value: unknown): unknown {
  const found = /^(-?[\d,]+)(?:\.(\d+))?\s*([万亿]?)元/.exec(
    String(value ?? "")
      .normalize("NFKC")
      .trim(),
  );
  if (found === null) return null;
  const [, whole = "", part = "", unit = ""] = found;
  const shift = unit === "亿" ? 8 : unit === "万" ? 4 : 0;
  const digits = part.padEnd(shift, "0");
  const rest = digits.slice(shift).replace(/0+$/, "");
  const yuan = `${whole.replaceAll(",", "")}${digits.slice(0, shift)}`.replace(/^(-?)0+(?=\d)/, "$1");
  return rest === "" ? yuan : `${yuan}.${rest}`;
}

function countOf(value: unknown): unknown {
  if (typeof value === "number") return value;
  const found = /^(\d+)\s*人?$/.exec(
    String(value ?? "")
      .normalize("NFKC")
      .trim(),
  );
  return found === null ? null : Number(found[1]);
}
