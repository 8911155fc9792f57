import type { Params } from "@dataq/contract";
import { address, capital, publishedCompanies, type SampleCompany } from "../../../sample/companies.ts";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { single } from "../../../sources/answers.ts";
import type { Answer, Source } from "../../../sources/source.ts";

export const sampleCompanies: Source = {
  version: async () => "sample-1",
  async run(params: Params): Promise<Answer> {
    const company = publishedCompanies.find(({ taxId }) => taxId === params["tax_id"]);
    return single(company && companyDetail(company));
  },
};

export function companyDetail(company: SampleCompany) {
  const random = new Random(`company detail ${company.number}`);
  const { district, industry } = company;
  const state =
    company.number === 0 ? "active" : random.pick([...Array(9).fill("active"), "cancelled", "revoked"]);
  const ended = state === "active" ? null : random.day(2024, 2025);
  const employees = random.whole(3, 400);
  return asSample({
    id: company.taxId,
    tax_id: company.taxId,
    lei: null,
    name: company.name,
    name_en: null,
    former_names: random.chance(0.1) ? [company.name.replace("示例", "示例旧名")] : [],
    status: { active: "存续（在营、开业、在册）", cancelled: "注销", revoked: "吊销，未注销" }[
      state as "active"
    ],
    status_code: state,
    legal_representative: company.legalRepresentative,
    registered_capital: capital(company.capitalYuan),
    paid_in_capital: random.chance(0.5) ? capital(company.capitalYuan / 2) : null,
    registration_date: company.registered,
    approved_date: random.day(2024, 2025),
    term_start: company.registered,
    term_end: random.chance(0.6)
      ? null
      : `${Number(company.registered.slice(0, 4)) + 30}${company.registered.slice(4)}`,
    company_type: "有限责任公司（自然人投资或控股）",
    industry: industry.name,
    registration_authority: `${district.name}市场监督管理局`,
    registration_no: null,
    organization_code: `${company.taxId.slice(8, 16)}-${company.taxId[16]}`,
    address: address(company, random),
    province: district.province,
    city: district.city,
    district: district.name,
    business_scope: `一般项目：${random.several(industry.scope, 4).join("；")}（除依法须经批准的项目外，凭营业执照依法自主开展经营活动）。`,
    cancelled_date: state === "cancelled" ? ended : null,
    revoked_date: state === "revoked" ? ended : null,
    revoked_reason: state === "revoked" ? "成立后无正当理由超过六个月未开业" : null,
    staff_range: employees < 50 ? "少于50人" : employees < 100 ? "50-99人" : "100-499人",
    insured_count: employees,
    taxpayer_type: random.chance(0.6) ? "一般纳税人" : "小规模纳税人",
    listed: null,
  });
}
