import type { Params } from "@dataq/contract";
import { single } from "../../../sources/answers.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer } from "../../../sources/source.ts";

/** Imported annual reports; if there are several years, the latest. */
export class ImportedReports extends KeyedRecords implements OptionalSource {
  async run(params: Params): Promise<Answer> {
    const reports = (await this.find([params["tax_id"] ?? ""], 100)) as { report_year: number }[];
    const years = reports.map(({ report_year }) => report_year).sort((a, b) => a - b);
    const latest = reports.find(({ report_year }) => report_year === years[years.length - 1]);
    return single(latest === undefined ? undefined : { ...latest, years_available: years });
  }
}
