import type { Bilingual, Params } from "@dataq/contract";

/** How one operation is asked of a vendor: one request or several, and what their answers mean. */
export interface Adapter {
  readonly operation: string;
  /** The parameters that its requests send; all of them if absent. */
  readonly takes?: ReadonlySet<string>;
  /** What a request costs the operator, in fen, if it is not what the contract says. */
  readonly costFen?: number;
  /**
   * Sends its requests one after the other. Anything that is not understood is `wrong`. For a paged operation `params`
   * also holds `page` and `page_size`.
   */
  ask(params: Params, send: Send): Promise<Found>;
  /** How the vendor is asked what it knows of things that others found; absent if it cannot be asked by number. */
  readonly byNumber?: ByNumber;
}

/** What a vendor says is left of what was paid. */
export interface StatedBalance {
  readonly unit: "fen" | "yuan" | "requests";
  /** The number in an answer. */
  read(answer: VendorAnswer): number | undefined;
  /** Asks for it; absent if every answer tells it. */
  readonly ask?: (send: Send) => Promise<number | undefined>;
}

export interface ByNumber {
  /** How the terms of these numbers begin: `d:` for a DOI as in `d:10.1000/1`. */
  readonly kind: string;
  /** Asks for at least one number, without its kind, and for no more than one request holds. */
  find(numbers: readonly string[], send: Send): Promise<Found>;
}

/** What an adapter in code is made from. */
export interface AdapterParts {
  readonly operation: string;
  /** Address of the vendor, without a slash at the end. */
  readonly base: string;
  /** The operator's credentials, by their names in the preset. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly now: () => Date;
}

/** Sends a request under the contract's limits. Throws what ends the conversation, such as a time limit. */
export type Send = (request: VendorRequest) => Promise<VendorAnswer>;

export interface VendorRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Texts made from credentials, such as a signature. Like credentials, they must not be shown. */
  readonly secrets?: readonly string[];
  /** The vendor does not charge for this request. */
  readonly isFree?: boolean;
}

export interface VendorAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The operation's fields, without `source`; `source.url` may be among them. Missing fields may be null. */
export type Found = (
  | { readonly outcome: "record"; readonly fields: Fields }
  | {
      readonly outcome: "records";
      readonly list: readonly Fields[];
      readonly total: number;
      /** There may be more than `total`: the vendor does not say how many. */
      readonly isAtLeast?: boolean;
    }
  | { readonly outcome: "not_found" }
  | { readonly outcome: "verification_required" }
  | Refused
  | {
      readonly outcome: "wrong";
      readonly why: Bilingual;
      /** The vendor answered as it should; the question cannot be asked of it. */
      readonly isBlameless?: boolean;
    }
) & {
  /** Where each field of the first record was read from, for an operator who writes a mapping. */
  readonly trace?: () => readonly Trace[];
};

/** The vendor answers no calls at the moment. */
export interface Refused {
  readonly outcome: "unavailable";
  readonly why: Bilingual;
  /**
   * `busy`: try again. `limited`: too many calls, which is not a failure. `out_of_money`: the balance is used up.
   * `refused`: credentials or contract are not accepted. `not_yet`: it works, but this answer is not ready.
   */
  readonly reason: "busy" | "limited" | "out_of_money" | "refused" | "not_yet";
  /** When the vendor asks to be asked again, in seconds. */
  readonly retryAfterS?: number | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Trace {
  /** Name of our field. */
  readonly field: string;
  /** Path in the answer; null for a constant. */
  readonly path: string | null;
  /** Value at the path; undefined if the path does not exist. */
  readonly found: unknown;
}

export function wrong(en: string, zh: string): Extract<Found, { outcome: "wrong" }> {
  return { outcome: "wrong", why: { en, zh } };
}

/** The value of an answer in JSON. Throws an error for an operator's log. */
export function jsonOf({ text }: VendorAnswer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotReadable("The answer is not JSON.", "响应不是 JSON。");
  }
}

/** An answer that cannot be read at all. */
export class NotReadable extends Error {
  readonly why: Bilingual;
  constructor(en: string, zh: string) {
    super(en);
    this.why = { en, zh };
  }
}

/** What a status means by itself; undefined for 2xx. */
export function refusalByStatus({ status, headers }: VendorAnswer): Found | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const why = { en: `The vendor answered with status ${status}.`, zh: `供应商返回状态码 ${status}。` };
  const retryAfterS = retryAfterOf(headers);
  if (status === 429) return { outcome: "unavailable", reason: "limited", why, retryAfterS };
  if (status === 402) return { outcome: "unavailable", reason: "out_of_money", why, retryAfterS };
  if (status === 401 || status === 403) return { outcome: "unavailable", reason: "refused", why };
  if (status === 503 && retryAfterS !== undefined)
    return { outcome: "unavailable", reason: "busy", why, retryAfterS };
  return { outcome: "wrong", why };
}

/** `Retry-After` in seconds, which may be a number or a date. */
export function retryAfterOf(headers: VendorAnswer["headers"], nowMs = Date.now()): number | undefined {
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - nowMs) / 1000;
  if (!Number.isFinite(seconds)) return undefined;
  return Math.min(Math.max(1, Math.ceil(seconds)), 86_400);
}
