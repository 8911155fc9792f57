import type { Params } from "@dataq/contract";
import { single } from "../../answers.ts";
import { KeyedRecords } from "../../keyed-source.ts";
import type { OptionalSource } from "../../layered.ts";
import type { Answer } from "../../source.ts";

export class ImportedParcels extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const [found] = await this.find([params["express_no"] ?? ""], 1);
    return single(found);
  }
}
