import type { KeyMode, RevocationReason } from "@dataq/contract/wire";
import type { Scope } from "./scope.ts";

/** What an API key or a member may do, and within which bounds. */
export interface Grant {
  readonly mode: KeyMode;
  readonly scopes: readonly Scope[];
  /** Tokens that the key or member may spend per month (China time); null: no limit besides the balance. */
  readonly monthlyCap: number | null;
  /** The project whose budget its calls use, for good; null: none. */
  readonly projectId: string | null;
  /** Tokens that each session of the key may spend; null: what the caller sets. */
  readonly sessionBudget: number | null;
  /**
   * The key whose cap and rate this key shares: itself, the key that it replaces, or the key that created it.
   */
  readonly spendAs: string;
  /** Calls per second, below the limit of the account; null: the account's limit. */
  readonly perSecond: number | null;
  /** Addresses and blocks from which the key may be used; empty: from anywhere. */
  readonly ipList: readonly string[];
  readonly expiresAt: Date | null;
}

/** A key without its text. */
export interface ApiKey extends Grant {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  /** The member with whom the key ends; null for a key of a service. */
  readonly personId: string | null;
  /** Their name, where somebody looks at keys. */
  readonly personName?: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly revokedReason: RevocationReason | null;
  readonly lastUsedAt: Date | null;
  /** When the key was last refused, to the hour: it had ended, the address was not in its list, or its cap was reached. */
  readonly lastRefusedAt: Date | null;
}

/** What a new key may do. Omitted fields have their defaults. */
export interface NewKey {
  readonly mode?: KeyMode | undefined;
  readonly name?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly monthlyCap?: number | null | undefined;
  readonly projectId?: string | null | undefined;
  readonly sessionBudget?: number | null | undefined;
  readonly perSecond?: number | null | undefined;
  readonly ipList?: readonly string[] | undefined;
  readonly expiresAt?: Date | null | undefined;
  /** The key whose cap and rate this key shares. Default: its own. */
  readonly spendAs?: string | undefined;
  /** The member with whom the key ends. Default: none. */
  readonly personId?: string | null | undefined;
}
