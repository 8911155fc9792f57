import type { z } from "zod";
import type { Bilingual } from "./bilingual.ts";
import type { PriceGroup } from "./price.ts";
import type { Problem } from "./values/reading.ts";
import type { Words } from "./words/word.ts";

export const domains = ["legal", "enterprise", "content", "cloud", "research"] as const;
export type Domain = (typeof domains)[number];

/** Everything about an operation: validation, types, catalogue, OpenAPI and docs are made from it. */
export interface Operation {
  /** Full wire name, `<domain>_<short name>`. */
  readonly name: string;
  readonly domain: Domain;
  /** Name of the operation in the older published client, its `type`. */
  readonly olderType: string;
  readonly title: Bilingual;
  readonly description: Bilingual;
  /** What an operator connects or imports for it, after the word "connect". */
  readonly needs: Bilingual;
  /** Shape of `params`. Every value is a string, which its reader checks and normalises. */
  readonly params: z.ZodObject;
  /** Checks across parameters, and defaults that depend on the day (`today` is China's, YYYY-MM-DD). */
  readonly complete?: (params: Params, today: string) => Completed;
  readonly record: z.ZodObject;
  /** The meanings of its own fields. Those shared by a domain are in `words/<domain>.ts`. */
  readonly words?: Words;
  /** What a check or a ranking returns besides `data`. */
  readonly summary?: z.ZodObject;
  /** `list`: `data` is an array. `single`: `data` is one object, or the answer is 404. */
  readonly kind: "list" | "single";
  readonly paged: boolean;
  readonly priceGroup: PriceGroup;
  /** How long, in seconds, a repeat costs half price. An answer may set another time. */
  readonly cacheS: number;
  /** Finds a record on a new installation. */
  readonly example: Params;
}

export type Params = Record<string, string>;

export type Completed =
  | { readonly params: Params; readonly warnings?: readonly string[] }
  | { readonly problem: Problem & { readonly param: string } };

export function defineOperation<const Definition extends Operation>(definition: Definition): Definition {
  return definition;
}
