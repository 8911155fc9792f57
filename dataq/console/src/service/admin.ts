import type {
  Account,
  AccountWithWallet,
  AuditLine,
  ChangedAccount,
  CreatedVouchers,
  Job,
  MaintenanceChange,
  NewAccount,
  NewPrice,
  NewVouchers,
  OpenData,
  Person,
  Verdict,
  Voucher,
  VoucherState,
} from "@dataq/contract/wire";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { cursor, type Page } from "./money.ts";

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

export const createAccount = (wishes: NewAccount) =>
  call<{ account_id: string; keys: readonly string[] }>("/admin/v1/accounts", {
    method: "POST",
    body: wishes,
  });
export const changeAccount = (id: string, change: ChangedAccount) =>
  call<AccountWithWallet>(at(id), { method: "PATCH", body: change });
export const adjustAccount = (id: string, tokens: number, reason: string) =>
  call<{ balance: number }>(`${at(id)}/adjust`, { method: "POST", body: { tokens, reason } });

/** Records a payment from outside this service. Each reference is credited once. */
export const topUpAccount = (id: string, tokens: number, reference: string) =>
  call<{ balance: number }>(`${at(id)}/topups`, { method: "POST", body: { tokens, reference } });

export const createVouchers = (wishes: NewVouchers) =>
  call<CreatedVouchers>("/admin/v1/vouchers", { method: "POST", body: wishes });

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

export const publishPrice = (price: NewPrice) =>
  call<{ version: number }>("/admin/v1/prices", { method: "POST", body: price });

export const auditQuery = infiniteQueryOptions({
  queryKey: ["admin", "audit"],
  queryFn: ({ pageParam, signal }) =>
    call<Page<AuditLine>>(`/admin/v1/audit?${cursor(pageParam, { limit: "50" })}`, { signal }),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export const verifyLedger = () => call<Verdict>("/admin/v1/ledger/verify");

export const peopleQuery = queryOptions({
  queryKey: ["admin", "people"],
  queryFn: ({ signal }) => call<{ data: readonly Person[] }>("/console/api/people", { signal }),
});
const person = (id: string) => `/console/api/people/${encodeURIComponent(id)}`;
export const approvePerson = (id: string) => call(`${person(id)}/approve`, { method: "POST", body: {} });
export const makeResetLink = (id: string) =>
  call<{ link: string }>(`${person(id)}/reset-link`, { method: "POST", body: {} });

export const openDataQuery = queryOptions({
  queryKey: ["admin", "open-data"],
  queryFn: ({ signal }) => call<OpenData>("/admin/v1/open-data", { signal }),
  refetchInterval: 5_000,
});

/** A set by its name, or all that can be brought. */
export const getOpenData = (name: string) =>
  call<Job>(`/admin/v1/open-data/${encodeURIComponent(name)}`, { method: "POST", body: {} });

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

/** Begins maintenance, changes what is said about it, or ends it. */
export const setMaintenance = (change: MaintenanceChange) =>
  call("/admin/v1/maintenance", { method: "POST", body: change });
