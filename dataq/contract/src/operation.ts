import type { z } from "zod";
import type { Bilingual } from "./bilingual.ts";
import type { PriceGroup } from "./price.ts";
import type { Problem } from "./values/reading.ts";
import type { Warning } from "./warnings.ts";
import type { Words } from "./words/word.ts";

export const domains = ["legal", "enterprise", "content", "cloud", "research"] as const;
export type Domain = (typeof domains)[number];

/** Everything about an operation. Validation, types, catalogue, OpenAPI and docs are derived from it. */
export interface Operation {
  /** Full wire name, `<domain>_<short name>`. */
  readonly name: string;
  readonly domain: Domain;
  /** The operation's `type` in the older published client. */
  readonly olderType: string;
  readonly title: Bilingual;
  readonly description: Bilingual;
  /** What an operator must connect or import for this operation, as a phrase after "connect". */
  readonly needs: Bilingual;
  /** Schema of `params`. Every value is a string, which its reader checks and normalises. */
  readonly params: z.ZodObject;
  /**
   * Optional parameters that narrow the query, which is the first parameter. With a filter, the query may be empty or
   * missing.
   */
  readonly filters?: readonly string[];
  /**
   * Checks combinations of parameters and fills defaults that depend on the day. `today` is the date in
   * China, YYYY-MM-DD.
   */
  readonly complete?: (params: Params, today: string) => Completed;
  readonly record: z.ZodObject;
  /** The meanings of the operation's own fields. Those shared by a domain are in `words/<domain>.ts`. */
  readonly words?: Words;
  /** What a check or a ranking returns besides `data`. */
  readonly summary?: z.ZodObject;
  /** `list`: `data` is an array. `single`: `data` is one object, or the answer is 404. */
  readonly kind: "list" | "single";
  readonly paged: boolean;
  readonly priceGroup: PriceGroup;
  /** Set if the price is per `count` of these things in the call, rounded up. A call with none is free. */
  readonly pricedPer?: { readonly count: number; readonly what: Bilingual };
  /** Limit of a request body, if its parameters may be longer than those of other operations. */
  readonly bodyBytes?: number;
  /** For this many seconds, a repeat costs half price. An answer may set another time. */
  readonly cacheS: number;
  /** Parameters that find a record on a new installation. */
  readonly example: Params;
}

export type Params = Record<string, string>;

export type Completed =
  | { readonly params: Params; readonly warnings?: readonly Warning[] }
  | { readonly problem: Problem & { readonly param: string } };

export function defineOperation<const Definition extends Operation>(definition: Definition): Definition {
  return definition;
}
