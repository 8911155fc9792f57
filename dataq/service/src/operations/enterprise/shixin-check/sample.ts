import type { Params } from "@dataq/contract";
import { courtOf, publishedCompanies, type SampleCompany } from "../../../sample/companies.ts";
import { asSample } from "../../../sample/provenance.ts";
import { laterBy, Random } from "../../../sample/random.ts";
import { nameKey } from "../../../search/keyed-document.ts";
import type { Answer, Source } from "../../../sources/source.ts";
import { shixinAnswer } from "./summary.ts";

/** Samples answer only for companies with records, because a sample must not say that a company has none. */
export const listedSamples = publishedCompanies.filter((company) => shixinRecords(company).length > 0);

export const sampleShixin: Source = {
  version: async () => "sample-2",
  async run(params: Params): Promise<Answer> {
    const name = params["company_name"] ?? "";
    const found = listedSamples.filter((company) => nameKey(company.name) === nameKey(name));
    return shixinAnswer(name, found.flatMap(shixinRecords));
  },
};

/** Records of a company on the list of dishonest debtors. Most companies have none; the first one has two. */
export function shixinRecords(company: SampleCompany) {
  const random = new Random(`shixin ${company.number}`);
  const count = company.number === 0 ? 2 : random.chance(0.08) ? random.whole(1, 3) : 0;
  return Array.from({ length: count }, (_, place) => {
    const filed = random.day(2022, 2024);
    const year = filed.slice(0, 4);
    const performed = random.pick(["全部未履行", "全部未履行", "部分未履行"]);
    const amount = random.whole(3, 800) * 1_000;
    return asSample({
      id: `shixin-${company.number}-${place}`,
      case_no: `（${year}）${company.district.short}${company.district.code.slice(2)}执${random.whole(100, 9_000)}号`,
      name: company.name,
      subject_type: "company" as const,
      id_no_masked: `${company.taxId.slice(0, 8)}******${company.taxId.slice(14)}`,
      legal_representative: company.legalRepresentative,
      court: courtOf(company),
      province: company.district.province,
      basis_no: `（${Number(year) - 1}）${company.district.short}${company.district.code.slice(2)}民初${random.whole(100, 9_000)}号`,
      basis_unit: courtOf(company),
      obligation: `支付申请执行人${random.pick(["货款", "借款本金及利息", "工程款", "租金", "劳动报酬"])}${amount}元`,
      performance: performed,
      performance_code: performed === "全部未履行" ? ("none" as const) : ("partial" as const),
      performed_part: performed === "部分未履行" ? `${Math.round(amount / 3)}元` : null,
      unperformed_part: performed === "部分未履行" ? `${amount - Math.round(amount / 3)}元` : `${amount}元`,
      conduct: [
        random.pick(["有履行能力而拒不履行生效法律文书确定义务", "违反财产报告制度", "违反限制消费令"]),
      ],
      filed_date: filed,
      published_date: laterBy(filed, random.whole(20, 120)),
      delisted_date: null,
    });
  });
}
