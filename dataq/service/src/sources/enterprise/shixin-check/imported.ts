import type { Params } from "@dataq/contract";
import { nameKey } from "../../../search/corpora/keyed.ts";
import { KeyedRecords } from "../../keyed-source.ts";
import type { OptionalSource } from "../../layered.ts";
import type { Answer } from "../../source.ts";
import { shixinAnswer } from "./summary.ts";

export class ImportedShixin extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const name = params["company_name"] ?? "";
    return shixinAnswer(name, await this.find([nameKey(name)], 1_000));
  }
}
