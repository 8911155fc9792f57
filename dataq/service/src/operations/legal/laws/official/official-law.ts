import type { Provenance } from "@dataq/contract";
import type { OfficialState } from "../../../../importer/national-laws/list-page.ts";

/** A document of the official list of laws, as it is stored. */
export interface OfficialLaw {
  readonly id: string;
  readonly title: string;
  readonly kind: string | null;
  readonly issuer: string | null;
  readonly promulgated: string | null;
  readonly in_force_from: string | null;
  readonly state: OfficialState | null;
  /** The day on which the list said so. */
  readonly listed_on: string;
  readonly source: Provenance;
}
