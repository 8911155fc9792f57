import type { Params } from "@dataq/contract";
import { single } from "../../../sources/answers.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer } from "../../../sources/source.ts";

export class ImportedWechat extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const [found] = await this.find([`${params["keyword"]}|${params["date"]}`], 1);
    return single(found);
  }
}
