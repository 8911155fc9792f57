import type { Params } from "@dataq/contract";
import { nameKey } from "../../../search/keyed-document.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer } from "../../../sources/source.ts";
import { shixinAnswer } from "./summary.ts";

export class ImportedShixin extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const name = params["company_name"] ?? "";
    return shixinAnswer(name, await this.find([nameKey(name)], 1_000));
  }
}
