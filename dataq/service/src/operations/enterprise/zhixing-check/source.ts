import type { Params } from "@dataq/contract";
import { nameKey } from "../../../search/keyed-document.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer } from "../../../sources/source.ts";
import { zhixingAnswer } from "./summary.ts";

export class ImportedZhixing extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    return zhixingAnswer(await this.find([nameKey(params["company_name"] ?? "")], 1_000));
  }
}
