import type { Params } from "@dataq/contract";
import { sampleInvoice } from "../../../sample/invoices.ts";
import { asSample } from "../../../sample/provenance.ts";
import type { Answer, Page, Source, SourceContext } from "../../source.ts";
import { checkInvoice, insufficient, namedInvoice } from "./check.ts";

export const sampleInvoices: Source = {
  version: async () => "sample-1",
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const named = namedInvoice(params);
    if ("missing" in named) {
      const { source } = asSample({ id: params["invoice_code"] ?? "" });
      return insufficient(params, named.missing, source, context.now);
    }
    return checkInvoice(sampleInvoice(named.code, named.number), params, context.now);
  },
};
