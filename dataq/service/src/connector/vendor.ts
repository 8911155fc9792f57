import type { Params } from "@dataq/contract";

/** How one vendor is asked for one operation, and how its answers are read. */
export interface Vendor {
  readonly operation: string;
  /** Publisher, for every record's source. */
  readonly name: string;
  readonly kind: "official" | "licensed" | "third_party";
  readonly licence: string | null;
  /** What a call costs the operator, in fen; counted, not charged. */
  readonly costFen: number;
  /** What no log and no page may show. */
  readonly secrets: readonly string[];
  request(params: Params): VendorRequest;
  /** Reads an answer with status 2xx. Anything that is not understood is `wrong`. */
  read(body: unknown, params: Params): Found;
  /** What each field of the first record was read from, where the operator wrote that down. */
  trace?(body: unknown): readonly Trace[];
}

export interface Trace {
  /** Ours. */
  readonly field: string;
  /** Where in the answer it stands; null for a constant. */
  readonly path: string | null;
  /** What stands there; undefined where nothing does. */
  readonly found: unknown;
}

export interface VendorRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Fields are the operation's, without `source`; what is missing may be filled with null. */
export type Found =
  | { readonly outcome: "record"; readonly fields: Fields }
  | { readonly outcome: "records"; readonly list: readonly Fields[]; readonly total: number }
  | { readonly outcome: "not_found" }
  | { readonly outcome: "verification_required" }
  /** The vendor cannot take the call: busy, our contract ended, or our credentials are wrong. */
  | { readonly outcome: "unavailable"; readonly why: string }
  | { readonly outcome: "wrong"; readonly why: string };

export type Fields = Readonly<Record<string, unknown>>;
