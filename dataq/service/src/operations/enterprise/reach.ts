import type { Params } from "@dataq/contract";
import type { Reach } from "../../sources/reach.ts";
import { type Region, regionOfInvoice, regionOfName, regionOfTaxId, regions } from "../regions.ts";

/** A credit code names the region that registered it. */
export function registerReach({ tax_id }: Params): Reach | undefined {
  return inRegion(regionOfTaxId(tax_id));
}

/**
 * A list of debtors is asked about all courts: who is not on the list of one region may be on that of another. Without
 * the region with which a company's name begins, a list can hardly know it.
 */
export function courtsReach({ company_name }: Params): Reach {
  return { parts: regions.map(({ en }) => en), needs: regionOfName(company_name)?.en };
}

export function invoiceReach(params: Params): Reach | undefined {
  const { issue_date: day } = params;
  const region = inRegion(regionOfInvoice(params));
  return day === undefined ? region : { ...region, from: day, to: day };
}

function inRegion(region: Region | undefined): Reach | undefined {
  return region && { parts: [region.en] };
}
