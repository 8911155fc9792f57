import { tellRegions } from "../../covered.ts";
import type { OperationParts } from "../../operation.ts";
import { invoiceReach } from "../reach.ts";
import { invoiceFromVendor } from "./from-vendor.ts";
import { invoiceImport } from "./import.ts";
import { invoiceSamples, sampleInvoices } from "./sample.ts";
import { ImportedInvoices } from "./source.ts";

export const taxInvoice: OperationParts = {
  source: (index, corpus) => new ImportedInvoices(index, corpus),
  sample: sampleInvoices,
  samples: invoiceSamples,
  import: invoiceImport,
  fromVendor: invoiceFromVendor,
  tellCoverage: tellRegions,
  reach: invoiceReach,
  unit: { en: "invoice", zh: "张发票" },
};
