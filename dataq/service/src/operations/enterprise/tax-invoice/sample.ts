import type { Params } from "@dataq/contract";
import { companyCount, sampleCompany } from "../../../sample/companies.ts";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { single } from "../../../sources/answers.ts";
import type { Answer, Page, Source, SourceContext } from "../../../sources/source.ts";
import { checkInvoice, insufficient, namedInvoice } from "./check.ts";

const paperCode = "033002100111";
const firstPaperNumber = 10_000_001;

/** The only invoices for which samples answer. Further parameters of a call must match them. */
export const invoiceSamples: readonly Params[] = [
  ...Array.from({ length: 5 }, (_, place) => ({
    invoice_code: paperCode,
    invoice_number: String(firstPaperNumber + place),
  })),
  { invoice_code: "25332000000000000001" },
  { invoice_code: "25332000000000000002" },
];

export const sampleInvoices: Source = {
  version: async () => "sample-2",
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const named = namedInvoice(params);
    if ("missing" in named) {
      if (params["invoice_code"] !== paperCode) return single(undefined);
      const { source } = asSample({ id: paperCode });
      return insufficient(params, named.missing, source, context.now);
    }
    const isPublished = invoiceSamples.some(
      ({ invoice_code, invoice_number }) =>
        invoice_code === (named.code ?? named.number) && (invoice_number ?? named.number) === named.number,
    );
    const answer = checkInvoice(
      isPublished ? sampleInvoice(named.code, named.number) : undefined,
      params,
      context.now,
    );
    // A sample that answers "mismatch" or "expired" would deny somebody's invoice.
    return (answer.record as { result?: string } | undefined)?.result === "match"
      ? answer
      : single(undefined);
  },
};

/** Sample invoices by their full number; undefined for one that does not exist. */
export function sampleInvoice(code: string | null, number: string) {
  const place = code === null ? placeOfDigital(number) : placeOfPaper(code, number);
  return place === undefined ? undefined : invoice(place, code, number);
}

/** The number of an electronic ordinary invoice: one code, 10000001 to 10005000. */
function placeOfPaper(code: string, number: string): number | undefined {
  const place = Number(number) - firstPaperNumber;
  return code === paperCode && place >= 0 && place < 5_000 ? place : undefined;
}

/** The number of a digital invoice of Zhejiang, 2025, with serials up to 5000. */
function placeOfDigital(number: string): number | undefined {
  const found = /^25332000000000(\d{6})$/.exec(number);
  const place = found === null ? Number.NaN : Number(found[1]) - 1;
  return place >= 0 && place < 5_000 ? 5_000 + place : undefined;
}

function invoice(place: number, code: string | null, number: string) {
  const random = new Random(`invoice ${place}`);
  const seller = sampleCompany(place % companyCount);
  const buyer = sampleCompany((place * 7 + 3) % companyCount);
  const items = Array.from({ length: random.whole(1, 3) }, () => {
    const quantity = random.whole(1, 50);
    const price = random.whole(500, 80_000) / 100;
    const amount = Math.round(quantity * price * 100);
    const tax = Math.round(amount * 0.13);
    return { name: random.pick(goods), quantity, price, amount, tax };
  });
  const amount = items.reduce((sum, item) => sum + item.amount, 0);
  const tax = items.reduce((sum, item) => sum + item.tax, 0);
  const isDigital = code === null;
  return asSample({
    id: isDigital ? number : `${code}-${number}`,
    invoice_code: code,
    invoice_number: number,
    invoice_type: isDigital ? "32" : "10",
    invoice_type_text: isDigital ? "数电票（普通发票）" : "增值税电子普通发票",
    status: place % 40 === 39 ? ("void" as const) : ("normal" as const),
    status_text: place % 40 === 39 ? "作废" : "正常",
    issue_date: random.day(2025, 2025),
    check_code: isDigital ? null : String(random.whole(100_000, 999_999)).padStart(20, "7"),
    machine_no: isDigital ? null : String(random.whole(100_000_000_000, 999_999_999_999)),
    seller: party(seller.name, seller.taxId),
    buyer: party(buyer.name, buyer.taxId),
    amount: yuan(amount),
    tax: yuan(tax),
    total: yuan(amount + tax),
    total_text: null,
    items: items.map((item) => ({
      name: item.name,
      spec: null,
      unit: "件",
      quantity: String(item.quantity),
      unit_price: item.price.toFixed(2),
      amount: yuan(item.amount),
      tax_rate: "13%",
      tax: yuan(item.tax),
    })),
    remark: null,
    check_count: null,
  });
}

const goods = [
  "*计算机外部设备*显示器",
  "*纸制品*复印纸",
  "*家具*办公椅",
  "*电子元件*传感器",
  "*信息技术服务*软件服务费",
  "*机械设备*水泵",
];

function party(name: string, taxNo: string) {
  return { name, tax_no: taxNo, address_phone: null, bank: null };
}

function yuan(fen: number): string {
  return (fen / 100).toFixed(2);
}
