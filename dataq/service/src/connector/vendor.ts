import type { Bilingual, Params } from "@dataq/contract";

/** One vendor's API for one operation: how to ask, and how to read the answers. */
export interface Vendor {
  readonly operation: string;
  /** Publisher, for every record's source. */
  readonly name: string;
  readonly kind: "official" | "licensed" | "third_party";
  readonly licence: string | null;
  /** What a call costs the operator, in fen. Counted, not charged. */
  readonly costFen: number;
  /** Credentials, which must not appear in logs or pages. */
  readonly secrets: readonly string[];
  /** The parameters that its requests send; all of them if absent. */
  readonly takes?: ReadonlySet<string>;
  request(params: Params): VendorRequest;
  /** Reads an answer with status 2xx. Anything that is not understood is `wrong`. */
  read(body: unknown, params: Params): Found;
  /** Where each field of the first record was read from, if the operator has configured that. */
  trace?(body: unknown): readonly Trace[];
}

export interface Trace {
  /** Name of our field. */
  readonly field: string;
  /** Path in the answer; null for a constant. */
  readonly path: string | null;
  /** Value at the path; undefined if the path does not exist. */
  readonly found: unknown;
}

export interface VendorRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The operation's fields, without `source`. Missing fields may be null. */
export type Found =
  | { readonly outcome: "record"; readonly fields: Fields }
  | { readonly outcome: "records"; readonly list: readonly Fields[]; readonly total: number }
  | { readonly outcome: "not_found" }
  | { readonly outcome: "verification_required" }
  /** The vendor refuses calls: it is busy, the contract has ended, or the credentials are wrong. */
  | { readonly outcome: "unavailable"; readonly why: Bilingual }
  | { readonly outcome: "wrong"; readonly why: Bilingual };

export type Fields = Readonly<Record<string, unknown>>;
