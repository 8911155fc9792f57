import type { Params } from "@dataq/contract";
import { companiesNamed } from "../../../sample/companies.ts";
import { zhixingRecords } from "../../../sample/debtors.ts";
import type { Answer, Source } from "../../source.ts";
import { zhixingAnswer } from "./summary.ts";

export const sampleZhixing: Source = {
  version: async () => "sample-1",
  async run(params: Params): Promise<Answer> {
    return zhixingAnswer(companiesNamed(params["company_name"] ?? "").flatMap(zhixingRecords));
  },
};
