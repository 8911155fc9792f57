import type { Params } from "@dataq/contract";
import { companyDetail, numberOfCreditCode, sampleCompany } from "../../../sample/companies.ts";
import { single } from "../../answers.ts";
import type { Answer, Source } from "../../source.ts";

export const sampleCompanies: Source = {
  version: async () => "sample-1",
  async run(params: Params): Promise<Answer> {
    const number = numberOfCreditCode(params["tax_id"] ?? "");
    return single(number === undefined ? undefined : companyDetail(sampleCompany(number)));
  },
};
