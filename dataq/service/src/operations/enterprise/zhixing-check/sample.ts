import type { Params } from "@dataq/contract";
import { courtOf, publishedCompanies, type SampleCompany } from "../../../sample/companies.ts";
import { asSample } from "../../../sample/provenance.ts";
import { laterBy, Random } from "../../../sample/random.ts";
import { nameKey } from "../../../search/keyed-document.ts";
import type { Answer, Source } from "../../../sources/source.ts";
import { zhixingAnswer } from "./summary.ts";

const states = [
  ["in_progress", "执行中"],
  ["terminated_this_round", "终结本次执行"],
  ["concluded", "执行完毕"],
  ["resumed", "恢复执行"],
] as const;

/** Samples answer only for companies with records, because a sample must not say that a company has none. */
export const listedSamples = publishedCompanies.filter((company) => zhixingRecords(company).length > 0);

export const sampleZhixing: Source = {
  version: async () => "sample-2",
  async run(params: Params): Promise<Answer> {
    const name = params["company_name"] ?? "";
    const found = listedSamples.filter((company) => nameKey(company.name) === nameKey(name));
    return zhixingAnswer(found.flatMap(zhixingRecords));
  },
};

/** Enforcement cases against a company. */
export function zhixingRecords(company: SampleCompany) {
  const random = new Random(`zhixing ${company.number}`);
  const count = company.number === 0 ? 3 : random.chance(0.15) ? random.whole(1, 4) : 0;
  return Array.from({ length: count }, (_, place) => {
    const filed = random.day(2022, 2025);
    const amount = random.whole(5, 2_000) * 1_000;
    const [status, text] = random.pick(states);
    const isOpen = status === "in_progress" || status === "resumed";
    return asSample({
      id: `zhixing-${company.number}-${place}`,
      case_no: `（${filed.slice(0, 4)}）${company.district.short}${company.district.code.slice(2)}执${random.whole(100, 9_000)}号`,
      name: company.name,
      id_no_masked: `${company.taxId.slice(0, 8)}******${company.taxId.slice(14)}`,
      court: courtOf(company),
      filed_date: filed,
      amount: amount.toFixed(2),
      unperformed_amount: status === "concluded" ? "0.00" : Math.round(amount * random.next()).toFixed(2),
      status,
      status_text: text,
      ended_date: isOpen ? null : laterBy(filed, random.whole(60, 300)),
    });
  });
}
