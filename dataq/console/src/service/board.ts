import type {
  AccountNote,
  AccountPrice,
  ApiKey,
  Approval,
  Board,
  Coupon,
  Entry,
  FreeTier,
  NewAccountPrice,
  NewCoupon,
  NewFreeTier,
  NewVolumeLadder,
  RequestRow,
  UsageRow,
  VolumeLadder,
} from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Page } from "./money.ts";

const at = (id: string) => `/admin/v1/accounts/${encodeURIComponent(id)}`;
const get = <Answer>(key: readonly string[], path: string) =>
  queryOptions({
    queryKey: ["admin", ...key],
    queryFn: ({ signal }) => call<Answer>(path, { signal }),
  });

export const boardQuery = (from: string, to: string) =>
  get<Board>(["board", from, to], `/admin/v1/board?${new URLSearchParams({ from, to })}`);

/** The newest rows of an account's page. */
const shown = "limit=10";
export const accountKeysQuery = (id: string) =>
  get<{ data: readonly ApiKey[] }>(["account", id, "keys"], `${at(id)}/keys`);
export const accountUsageQuery = (id: string) =>
  get<{ data: readonly UsageRow[] }>(["account", id, "usage"], `${at(id)}/usage?group_by=operation`);
export const accountRequestsQuery = (id: string) =>
  get<Page<RequestRow>>(["account", id, "requests"], `${at(id)}/requests?${shown}`);
export const accountEntriesQuery = (id: string) =>
  get<Page<Entry>>(["account", id, "ledger"], `${at(id)}/ledger?${shown}`);
export const accountNotesQuery = (id: string) =>
  get<{ data: readonly AccountNote[] }>(["account", id, "notes"], `${at(id)}/notes`);
export const accountPricesQuery = (id: string) =>
  get<{ data: readonly AccountPrice[] }>(["account", id, "prices"], `${at(id)}/prices`);

export const addNote = (id: string, text: string) =>
  call<AccountNote>(`${at(id)}/notes`, { method: "POST", body: { text } });
export const refundCall = (request_id: string, tokens: number, reason: string) =>
  call<{ balance: number }>("/admin/v1/refunds", { method: "POST", body: { request_id, tokens, reason } });
export const setAccountPrice = (id: string, price: NewAccountPrice) =>
  call<AccountPrice>(`${at(id)}/prices`, { method: "POST", body: price });

export const approvalsQuery = get<{ data: readonly Approval[] }>(["approvals"], "/admin/v1/approvals");
/** Approves what another operator asked for, with the same request. */
export const approve = ({ method, path, body }: Approval) => call(path, { method, body });
export const reject = ({ id }: Approval) =>
  call<Approval>(`/admin/v1/approvals/${encodeURIComponent(id)}/reject`, { method: "POST", body: {} });

export const couponsQuery = get<{ data: readonly Coupon[] }>(["coupons"], "/admin/v1/coupons");
/** Ends a coupon now. What was redeemed of it stays. */
export const endCoupon = (code: string) =>
  call<Coupon>(`/admin/v1/coupons/${encodeURIComponent(code)}`, {
    method: "PATCH",
    body: { expires_at: new Date().toISOString() },
  });
export const createCoupon = (coupon: NewCoupon) =>
  call<Coupon>("/admin/v1/coupons", { method: "POST", body: coupon });
export const setFreeTier = (tier: NewFreeTier) =>
  call<FreeTier>("/admin/v1/free-tiers", { method: "POST", body: tier });
export const setVolumeLadder = (ladder: NewVolumeLadder) =>
  call<VolumeLadder>("/admin/v1/volume-ladders", { method: "POST", body: ladder });
