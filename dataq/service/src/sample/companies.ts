import { checkCharacter, organisationCheck } from "@dataq/contract";
import { type District, districts } from "./districts.ts";
import { companyBrand, type Industry, industries, personName } from "./names.ts";
import { Random } from "./random.ts";

/** The companies of the samples. Every other enterprise sample is about one of them. */
export const companyCount = 2_000;

/** What the other samples need to know about a company. */
export interface SampleCompany {
  readonly number: number;
  readonly taxId: string;
  readonly name: string;
  readonly district: District;
  readonly industry: Industry;
  readonly legalRepresentative: string;
  readonly capitalYuan: number;
  readonly registered: string;
}

export function sampleCompany(number: number): SampleCompany {
  const random = new Random(`company ${number}`);
  const isFirst = number === 0;
  const district = isFirst
    ? (districts.find(({ code }) => code === "330106") as District)
    : random.pick(districts);
  const industry = isFirst ? (industries[0] as Industry) : random.pick(industries);
  const brand = isFirst ? "示例云图" : companyBrand(random);
  const city = district.city.replace(
    /(市|地区|盟|自治州|藏族|彝族|回族|苗族|土家族|侗族|壮族|傣族|景颇族|朝鲜族|哈萨克|蒙古族?)+$/,
    "",
  );
  return {
    number,
    taxId: creditCode(district.code, number),
    name: `${city}${brand}${industry.word}有限公司`,
    district,
    industry,
    legalRepresentative: personName(random),
    capitalYuan: random.pick([50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000]) * 10_000,
    registered: random.day(2003, 2024),
  };
}

/** The companies that the catalogue publishes. Samples answer only for these. */
export const publishedCompanies: readonly SampleCompany[] = Array.from({ length: 10 }, (_, number) =>
  sampleCompany(number),
);

export function address(company: SampleCompany, random: Random): string {
  const { district } = company;
  const city = district.city === district.province ? "" : district.city;
  const road = random.pick([
    "人民路",
    "建设路",
    "中山路",
    "解放路",
    "文化路",
    "创新大道",
    "科技园路",
    "滨江大道",
  ]);
  return `${district.province}${city}${district.name}${road}${random.whole(1, 999)}号${random.whole(1, 30)}层`;
}

export function capital(yuan: number) {
  const amount = String(yuan / 10_000);
  return { amount, unit: "万元", currency: "CNY", text: `${amount}万元人民币` };
}

function creditCode(division: string, number: number): string {
  const body = `MA${String(number).padStart(6, "0")}`;
  const first17 = `91${division}${body}${organisationCheck(body)}`;
  return first17 + checkCharacter(first17);
}

/** The court of the company's district. */
export function courtOf({ district }: SampleCompany): string {
  const city = district.city === district.province ? "" : district.city;
  return `${district.province}${city}${district.name}人民法院`;
}
