import type { Params } from "@dataq/contract";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer, Page, SourceContext } from "../../../sources/source.ts";
import { checkInvoice, insufficient, type KnownInvoice, namedInvoice } from "./check.ts";

/** Invoices of an imported ledger. A code alone is enough if only one invoice has it. */
export class ImportedInvoices extends KeyedRecords implements OptionalSource {
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const named = namedInvoice(params);
    const key = "missing" in named ? `code|${params["invoice_code"]}` : `${named.code ?? ""}|${named.number}`;
    const [first, second] = (await this.find([key], 2)) as (KnownInvoice & object)[];
    if ("missing" in named && second !== undefined) {
      const { source } = second as unknown as { source: object };
      return insufficient(params, named.missing, source, context.now);
    }
    return checkInvoice(first, params, context.now);
  }
}
