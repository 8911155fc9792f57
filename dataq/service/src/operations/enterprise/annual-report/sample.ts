import type { Params } from "@dataq/contract";
import { address, publishedCompanies, type SampleCompany, sampleCompany } from "../../../sample/companies.ts";
import { personName } from "../../../sample/names.ts";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { single } from "../../../sources/answers.ts";
import type { Answer, Source } from "../../../sources/source.ts";

export const sampleReports: Source = {
  version: async () => "sample-1",
  async run(params: Params): Promise<Answer> {
    const company = publishedCompanies.find(({ taxId }) => taxId === params["tax_id"]);
    return single(company && annualReport(company));
  },
};

/** The latest report. Most companies withhold their figures, as in reality. */
export function annualReport(company: SampleCompany) {
  const random = new Random(`annual report ${company.number}`);
  const year = 2025;
  const isPublic = company.number === 0 || random.chance(0.3);
  const revenue = Math.round(company.capitalYuan * (0.3 + 4 * random.next()));
  const assets = Math.round(company.capitalYuan * (1 + 3 * random.next()));
  const liabilities = Math.round(assets * (0.2 + 0.6 * random.next()));
  const profit = Math.round(revenue * (random.next() * 0.3 - 0.08));
  const figure = (value: number) =>
    isPublic ? { amount: value.toFixed(2), public: true } : { amount: null, public: false };
  const employees = random.whole(3, 400);
  const first = random.whole(50, 90);
  return asSample({
    id: `${company.taxId}-${year}`,
    tax_id: company.taxId,
    name: company.name,
    report_year: year,
    published_date: random.day(2026, 2026).replace(/-\d\d-/, `-0${random.whole(1, 6)}-`),
    status: "开业",
    address: address(company, random),
    phone: `0571-8${random.whole(1_000_000, 9_999_999)}`.replace(/\d{4}$/, "****"),
    email: `sample${company.number}@example.com`,
    employee_count: isPublic ? employees : null,
    employee_count_public: isPublic,
    insured: isPublic
      ? {
          pension: employees,
          unemployment: employees,
          medical: employees,
          injury: employees,
          maternity: employees,
        }
      : null,
    financials: {
      total_assets: figure(assets),
      total_liabilities: figure(liabilities),
      owners_equity: figure(assets - liabilities),
      revenue: figure(revenue),
      main_revenue: figure(Math.round(revenue * 0.94)),
      total_profit: figure(profit),
      net_profit: figure(Math.round(profit * (profit > 0 ? 0.75 : 1))),
      tax_paid: figure(Math.round(revenue * 0.04)),
    },
    shareholders: [first, 100 - first].map((percent, place) => ({
      name: place === 0 ? company.legalRepresentative : personName(random),
      subscribed: ((company.capitalYuan * percent) / 100).toFixed(2),
      subscribed_date: company.registered,
      paid_in: ((company.capitalYuan * percent) / 200).toFixed(2),
      paid_in_date: company.registered,
      method: "货币",
    })),
    investments: random.chance(0.2) ? [invested(random)] : [],
    guarantees: [],
    websites: [{ name: company.name, url: `https://sample-${company.number}.example.com` }],
    equity_changes: [],
    has_guarantee: false,
    years_available: [2023, 2024, 2025].filter((each) => each >= Number(company.registered.slice(0, 4))),
  });
}

function invested(random: Random) {
  const other = sampleCompany(random.whole(1, 1_999));
  return { name: other.name, tax_id: other.taxId };
}
