import { type District, districts } from "../../../../sample/districts.ts";

export interface Court {
  readonly name: string;
  readonly level: "high" | "intermediate" | "basic";
  readonly province: string;
  readonly city: string | null;
  /** The court's code in case numbers: 浙0106. */
  readonly code: string;
}

export function basicCourt(district: District): Court {
  const city = district.city === district.province ? "" : district.city;
  return {
    name: `${district.province}${city}${district.name}人民法院`,
    level: "basic",
    province: district.province,
    city: district.city,
    code: `${district.short}${district.code.slice(2)}`,
  };
}

export function appealCourt(district: District): Court {
  const isMunicipality = district.city === district.province;
  return {
    name: isMunicipality
      ? `${district.province}第一中级人民法院`
      : `${district.province}${district.city}中级人民法院`,
    level: "intermediate",
    province: district.province,
    city: district.city,
    code: `${district.short}${district.cityCode.slice(2)}`,
  };
}

export function highCourt(district: District): Court {
  return {
    name: `${district.province}高级人民法院`,
    level: "high",
    province: district.province,
    city: null,
    code: `${district.short}`,
  };
}

export const courtDistricts = districts;
