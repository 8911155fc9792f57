import { counted, Failure } from "@dataq/contract";
import type { Account } from "./account.ts";
import { areWithin } from "./address.ts";
import type { ApiKey, Grant, NewKey } from "./grant.ts";
import { defaultScopes, holds, isOperators, type Role, rights, type Scope } from "./scope.ts";

/** A grant for which no key may exist yet. */
type WantedGrant = Omit<Grant, "spendAs"> & { readonly spendAs?: string | undefined };

/** Who sends a request: an API key, or a member of an account who is signed in. */
export interface Principal extends Grant {
  /** `key_…` or `user_…`. */
  readonly id: string;
  readonly account: Pick<Account, "id" | "role" | "tier">;
  /** Null for a member. */
  readonly key: ApiKey | null;
  /** The project that the calls of this key are counted in. */
  readonly project?: Project | undefined;
}

/** A project, with what it has spent in the month of the request. */
export interface Project {
  readonly id: string;
  readonly name: string;
  readonly budget: number | null;
  readonly month: string;
  readonly spent: number;
}

/** A member has the rights of their role in the account, without bounds. */
export function grantOf(role: Role, kind: Account["role"]): WantedGrant {
  return {
    mode: "live",
    scopes: rights[kind][role],
    monthlyCap: null,
    projectId: null,
    sessionBudget: null,
    perSecond: null,
    ipList: [],
    expiresAt: null,
  };
}

/** What a request does, as far as authorisation is concerned. */
export const actions = {
  /** Queries data. */
  "data.query": { scope: "data:query", allowsTestKeys: true },
  /** Reads balance, ledger, usage, requests and members of the caller's account. */
  "account.read": { scope: "read:account", allowsTestKeys: true },
  /** Pays, redeems vouchers and sets budgets. */
  "account.pay": { scope: "manage:billing", allowsTestKeys: false },
  /** Takes everything that an account holds, and closes it. */
  "account.own": { scope: "manage:members", allowsTestKeys: false },
  /** Lists, creates, changes, rotates and revokes keys of the caller's account. */
  "keys.manage": { scope: "manage:keys", allowsTestKeys: true },
  /** Invites members to the caller's account, and changes their roles. */
  "members.manage": { scope: "manage:members", allowsTestKeys: false },
  /** Removes a member of the caller's account. Every member may leave. */
  "members.remove": { scope: "manage:members", allowsTestKeys: false, exceptSelf: true },
  /** Lists, creates, changes and deletes webhooks, and sends their messages again. */
  "webhooks.manage": { scope: "manage:webhooks", allowsTestKeys: false },
  /** Sees what operators see: all accounts, money, jobs, sources and the audit log. */
  "service.read": { scope: "admin:read", allowsTestKeys: false },
  /** Helps customers: freezes accounts, lets people in, writes notes. */
  "service.support": { scope: "admin:support", allowsTestKeys: false },
  /** Moves money by hand and sets prices. */
  "service.finance": { scope: "admin:finance", allowsTestKeys: false },
  /** Writes notes about accounts, which every operator reads. */
  "service.note": { scope: "admin:support", or: "admin:finance", allowsTestKeys: false },
  /** Gives tokens of a call back. */
  "service.refund": { scope: "admin:support", or: "admin:finance", allowsTestKeys: false },
  /** Everything else: new accounts and their keys, imports, vendors and models. */
  "service.operate": { scope: "admin", allowsTestKeys: false },
} as const satisfies Record<string, Requirement>;
export type Action = keyof typeof actions;

interface Requirement {
  readonly scope: Scope;
  /** Another scope that suffices. */
  readonly or?: Scope;
  readonly allowsTestKeys: boolean;
  /** The action needs no scope when it concerns only the member who asks. */
  readonly exceptSelf?: true;
}

/**
 * Throws unless the principal may perform the action. `targetId` is the person concerned, if there is one.
 * `assertMayGrant` checks the rights of the key or member concerned.
 */
export function authorise(principal: Principal, action: Action, targetId?: string): void {
  const { scope, or, allowsTestKeys, exceptSelf }: Requirement = actions[action];
  if (exceptSelf && isSelf(principal, targetId)) return;
  const isForeign = isOperators(scope) && principal.account.role !== "admin";
  const isHeld = holds(principal.scopes, scope) || (or !== undefined && holds(principal.scopes, or));
  if (isForeign || !isHeld) throw new Failure("scope_denied", { scope });
  if (principal.mode === "test" && !allowsTestKeys) throw new Failure("live_key_required");
}

export function isSelf(principal: Principal, personId: string | undefined): boolean {
  return principal.id === `user_${personId}`;
}

/**
 * Throws if a principal would grant more rights than it has, or would change, rotate or remove a key or member with
 * more rights. `param` is the field of the request that asks for them.
 */
export function assertMayGrant(principal: Principal, grant: WantedGrant, param?: string): void {
  const scope = grant.scopes.find((one) => !holds(principal.scopes, one));
  if (scope) throw new Failure("scope_denied", { scope, ...(param && { param }) });
  const excess = excessOf(principal, grant);
  if (excess === undefined) return;
  const [field, right, rightZh] = excess;
  throw new Failure("grant_denied", { right, zh: { right: rightZh }, param: param ?? field });
}

/**
 * The rights of a new key. Omitted rights get the bounds of the principal, whose cap and rate the key shares.
 */
export function withBounds(principal: Principal, wanted: NewKey): NewKey & WantedGrant {
  const { mode, monthlyCap, projectId, sessionBudget, perSecond, ipList, expiresAt } = principal;
  const isBounded = monthlyCap !== null || perSecond !== null;
  return {
    name: wanted.name,
    mode: wanted.mode ?? mode,
    scopes: wanted.scopes ?? defaultScopes,
    monthlyCap: wanted.monthlyCap === undefined ? monthlyCap : wanted.monthlyCap,
    projectId: wanted.projectId === undefined ? projectId : wanted.projectId,
    sessionBudget: wanted.sessionBudget === undefined ? sessionBudget : wanted.sessionBudget,
    perSecond: wanted.perSecond === undefined ? perSecond : wanted.perSecond,
    ipList: wanted.ipList ?? ipList,
    expiresAt: wanted.expiresAt === undefined ? expiresAt : wanted.expiresAt,
    spendAs: isBounded ? principal.spendAs : undefined,
    // What a person's key creates is that person's, too, unless they say otherwise.
    personId: wanted.personId === undefined ? (principal.key?.personId ?? null) : wanted.personId,
  };
}

type Excess = readonly [field: string, right: string, rightZh: string];

/** Returns the first bound of `own` that `grant` exceeds: its field, and the right in English and Chinese. */
function excessOf(own: Grant, grant: WantedGrant): Excess | undefined {
  if (own.mode === "test" && grant.mode !== "test") return ["mode", "live mode", "正式模式"];
  if (own.monthlyCap !== null) {
    if (grant.monthlyCap === null || grant.monthlyCap > own.monthlyCap)
      return [
        "monthly_cap",
        `more than ${counted(own.monthlyCap, "token")} a month`,
        `每月超过 ${own.monthlyCap} 点`,
      ];
    // With separate caps, the owner of the key could spend both caps.
    if (grant.spendAs !== own.spendAs) return ["monthly_cap", "a separate monthly cap", "另计的每月额度"];
  }
  if (own.projectId !== null && grant.projectId !== own.projectId)
    return ["project_id", "keys outside of its project", "其他项目的密钥"];
  if (own.sessionBudget !== null && (grant.sessionBudget === null || grant.sessionBudget > own.sessionBudget))
    return [
      "session_budget",
      `more than ${counted(own.sessionBudget, "token")} a session`,
      `每个会话超过 ${own.sessionBudget} 点`,
    ];
  if (own.perSecond !== null) {
    if (grant.perSecond === null || grant.perSecond > own.perSecond)
      return [
        "per_second",
        `more than ${counted(own.perSecond, "call")} a second`,
        `每秒超过 ${own.perSecond} 次调用`,
      ];
    if (grant.spendAs !== own.spendAs) return ["per_second", "a separate rate limit", "另计的速率限制"];
  }
  if (own.ipList.length > 0 && (grant.ipList.length === 0 || !areWithin(grant.ipList, own.ipList)))
    return ["ip_list", "other addresses", "其他地址"];
  if (own.expiresAt !== null && (grant.expiresAt === null || grant.expiresAt > own.expiresAt))
    return ["expires_at", "a later expiry", "更晚的到期时间"];
  return undefined;
}
