import type { Params } from "@dataq/contract";
import { single } from "../../../sources/answers.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer } from "../../../sources/source.ts";

/** Companies of an imported register. */
export class ImportedCompanies extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const [company] = await this.find([params["tax_id"] ?? ""], 1);
    return single(company);
  }
}
