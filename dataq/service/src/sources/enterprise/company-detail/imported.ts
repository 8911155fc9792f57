import type { Params } from "@dataq/contract";
import { single } from "../../answers.ts";
import { KeyedRecords } from "../../keyed-source.ts";
import type { OptionalSource } from "../../layered.ts";
import type { Answer } from "../../source.ts";

/** Companies of an imported register. */
export class ImportedCompanies extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const [company] = await this.find([params["tax_id"] ?? ""], 1);
    return single(company);
  }
}
