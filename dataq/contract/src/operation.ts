import type { z } from "zod";
import type { Bilingual } from "./bilingual.ts";
import type { PriceGroup } from "./price.ts";
import type { Problem } from "./values/reading.ts";
import type { Words } from "./words/word.ts";

export const domains = ["legal", "enterprise", "content", "cloud", "research"] as const;
export type Domain = (typeof domains)[number];

/** Everything that is to be known of an operation: validation, types, catalogue, OpenAPI and docs are read from it. */
export interface Operation {
  /** Full wire name, `<domain>_<short name>`. */
  readonly name: string;
  readonly domain: Domain;
  /** Name of the operation in the older published client, its `type`. */
  readonly olderType: string;
  readonly title: Bilingual;
  readonly description: Bilingual;
  /** What an operator connects or imports for it, after "connect". */
  readonly needs: Bilingual;
  /** Shape of `params`; every value is a string that its reader checks and brings into one form. */
  readonly params: z.ZodObject;
  /** Checks across parameters, and defaults that depend on the day (`today` is China's, YYYY-MM-DD). */
  readonly complete?: (params: Params, today: string) => Completed;
  readonly record: z.ZodObject;
  /** What its own fields mean; those that the domain shares are explained in `words/<domain>.ts`. */
  readonly words?: Words;
  /** What stands beside `data` in the answer of a check or a ranking. */
  readonly summary?: z.ZodObject;
  /** `list`: `data` is an array. `single`: `data` is one object, and none found is 404. */
  readonly kind: "list" | "single";
  readonly paged: boolean;
  readonly priceGroup: PriceGroup;
  /** How long an answer may be given again at half price; an answer may name another time itself. Seconds. */
  readonly cacheS: number;
  /** Finds a record on a fresh install. */
  readonly example: Params;
}

export type Params = Record<string, string>;

export type Completed =
  | { readonly params: Params; readonly warnings?: readonly string[] }
  | { readonly problem: Problem & { readonly param: string } };

export function defineOperation<const Definition extends Operation>(definition: Definition): Definition {
  return definition;
}
