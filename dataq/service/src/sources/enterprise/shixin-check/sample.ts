import type { Params } from "@dataq/contract";
import { companiesNamed } from "../../../sample/companies.ts";
import { shixinRecords } from "../../../sample/debtors.ts";
import type { Answer, Source } from "../../source.ts";
import { shixinAnswer } from "./summary.ts";

export const sampleShixin: Source = {
  version: async () => "sample-1",
  async run(params: Params): Promise<Answer> {
    const name = params["company_name"] ?? "";
    return shixinAnswer(name, companiesNamed(name).flatMap(shixinRecords));
  },
};
