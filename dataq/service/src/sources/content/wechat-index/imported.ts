import type { Params } from "@dataq/contract";
import { single } from "../../answers.ts";
import { KeyedRecords } from "../../keyed-source.ts";
import type { OptionalSource } from "../../layered.ts";
import type { Answer } from "../../source.ts";

export class ImportedWechat extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const [found] = await this.find([`${params["keyword"]}|${params["date"]}`], 1);
    return single(found);
  }
}
