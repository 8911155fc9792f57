import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { cursor, type Page } from "./money.ts";

/** What operators may see and do; the service refuses all of it to anybody else. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: "admin" | "customer";
  readonly tier: string;
  readonly created_at: string;
}

export interface AccountWithWallet extends Account {
  readonly wallet: {
    readonly balance: number;
    readonly trialBalance: number;
    readonly paidBalance: number;
    readonly creditBalance: number;
    readonly creditLimit: number;
    readonly held: number;
    readonly trialExpiresAt: string | null;
    readonly frozen: boolean;
  } | null;
}

export const tiers = ["trial", "standard", "pro", "operator"] as const;

const at = (id: string) => `/admin/v1/accounts/${encodeURIComponent(id)}`;

export const accountsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ["admin", "accounts", search],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Account>>(`/admin/v1/accounts?${cursor(pageParam, { limit: "50", search })}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const accountQuery = (id: string) =>
  queryOptions({
    queryKey: ["admin", "account", id],
    queryFn: ({ signal }) => call<AccountWithWallet>(at(id), { signal }),
  });

export interface AccountWishes {
  readonly name: string;
  readonly email?: string;
  readonly tokens?: number;
  readonly tier?: string;
  readonly keys: number;
}
export const createAccount = (wishes: AccountWishes) =>
  call<{ account_id: string; keys: readonly string[] }>("/admin/v1/accounts", {
    method: "POST",
    body: wishes,
  });
export const changeAccount = (
  id: string,
  change: { tier?: string; frozen?: boolean; credit_limit?: number },
) => call<AccountWithWallet>(at(id), { method: "PATCH", body: change });
export const adjustAccount = (id: string, tokens: number, reason: string) =>
  call<{ balance: number }>(`${at(id)}/adjust`, { method: "POST", body: { tokens, reason } });

/** Money that came in another way; the same reference only once. */
export const topUpAccount = (id: string, tokens: number, reference: string) =>
  call<{ balance: number }>(`${at(id)}/topups`, { method: "POST", body: { tokens, reference } });

export interface MadeVouchers {
  readonly tokens: number;
  readonly batch: string;
  readonly codes: readonly string[];
}
export const createVouchers = (wishes: {
  tokens: number;
  count: number;
  batch: string;
  expires_at?: string;
}) => call<MadeVouchers>("/admin/v1/vouchers", { method: "POST", body: wishes });

/** A voucher that was made: all but its code, which nobody can show again. */
export interface Voucher {
  readonly hint: string;
  readonly tokens: number;
  readonly batch: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly redeemed_at: string | null;
  readonly redeemed_by: string | null;
}
export const voucherStates = ["open", "redeemed", "expired"] as const;
export type VoucherState = (typeof voucherStates)[number];
export const vouchersQuery = (state: VoucherState | "") =>
  infiniteQueryOptions({
    queryKey: ["admin", "vouchers", state],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Voucher>>(`/admin/v1/vouchers?${cursor(pageParam, { limit: "50", state })}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
export function stateOfVoucher({ redeemed_by, expires_at }: Voucher, now = Date.now()): VoucherState {
  if (redeemed_by !== null) return "redeemed";
  return expires_at !== null && Date.parse(expires_at) <= now ? "expired" : "open";
}

export const publishPrice = (price: {
  operation: string;
  tokens: number;
  cached_tokens: number | null;
  effective_from: string;
}) => call<{ version: number }>("/admin/v1/prices", { method: "POST", body: price });

export interface AuditLine {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly ip: string | null;
}
export const auditQuery = infiniteQueryOptions({
  queryKey: ["admin", "audit"],
  queryFn: ({ pageParam, signal }) =>
    call<Page<AuditLine>>(`/admin/v1/audit?${cursor(pageParam, { limit: "50" })}`, { signal }),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export interface Verdict {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly law: string;
    readonly text: string;
    readonly text_zh: string;
    readonly breaches: readonly string[];
  }[];
}
export const verifyLedger = () => call<Verdict>("/admin/v1/ledger/verify");

/** Somebody who signed up, as the operator sees them. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly accountId: string | null;
  readonly isVerified: boolean;
  readonly isApproved: boolean;
  readonly twoFactor: boolean;
  readonly createdAt: string;
}
export const peopleQuery = queryOptions({
  queryKey: ["admin", "people"],
  queryFn: ({ signal }) => call<{ data: readonly Person[] }>("/console/api/people", { signal }),
});
const person = (id: string) => `/console/api/people/${encodeURIComponent(id)}`;
export const approvePerson = (id: string) => call(`${person(id)}/approve`, { method: "POST", body: {} });
export const makeResetLink = (id: string) =>
  call<{ link: string }>(`${person(id)}/reset-link`, { method: "POST", body: {} });

/** An import or a rebuild of an index that runs or ran in this service. */
export interface Job {
  readonly id: string;
  readonly kind: "import" | "index";
  readonly operation: string;
  readonly from: string;
  readonly state: "running" | "done" | "failed";
  readonly done: number;
  readonly total: number | null;
  /** What it said last, in both languages. */
  readonly message: string;
  readonly message_zh: string;
  readonly started_at: string;
  readonly ended_at: string | null;
}
export const jobsQuery = queryOptions({
  queryKey: ["admin", "jobs"],
  queryFn: ({ signal }) =>
    call<{ data: readonly Job[]; operations: readonly string[] }>("/admin/v1/jobs", { signal }),
  refetchInterval: (query) =>
    query.state.data?.data.some(({ state }) => state === "running") ? 700 : 10_000,
});
export const startImport = (operation: string, from: string) =>
  call<Job>("/admin/v1/imports", { method: "POST", body: { operation, from } });
export const refreshIndex = () => call<Job>("/admin/v1/index/refresh", { method: "POST", body: {} });
