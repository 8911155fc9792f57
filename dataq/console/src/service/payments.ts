import type {
  AnyPayment,
  NewMoneyReturn,
  NewPayment,
  Payment,
  PaymentConfirmation,
  PaymentOptions,
  PaymentState,
  ShutProvider,
} from "@dataq/contract/wire";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { cursor, type Page } from "./money.ts";

export const paymentOptionsQuery = queryOptions({
  queryKey: ["payment-options"],
  queryFn: ({ signal }) => call<PaymentOptions>("/v1/payments/options", { signal }),
  staleTime: 60_000,
});

export const paymentsQuery = infiniteQueryOptions({
  queryKey: ["payments"],
  queryFn: ({ pageParam, signal }) =>
    call<Page<Payment>>(`/v1/payments?${cursor(pageParam, { limit: "20" })}`, { signal }),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** Asked again every few seconds until it is paid or over. */
export const paymentQuery = (id: string) =>
  queryOptions({
    queryKey: ["payment", id],
    queryFn: ({ signal }) => call<Payment>(`/v1/payments/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data && state.data.state !== "open" ? false : 3_000),
  });

export const createPayment = (wishes: NewPayment) =>
  call<Payment>("/v1/payments", { method: "POST", body: wishes });

export const allPaymentsQuery = (state: PaymentState | "") =>
  infiniteQueryOptions({
    queryKey: ["admin", "payments", state],
    queryFn: ({ pageParam, signal }) =>
      call<Page<AnyPayment> & { readonly shut: readonly ShutProvider[] }>(
        `/admin/v1/payments?${cursor(pageParam, { limit: "50", state })}`,
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

const at = (id: string) => `/admin/v1/payments/${encodeURIComponent(id)}`;

export const confirmPayment = (id: string, body: PaymentConfirmation) =>
  call<AnyPayment>(`${at(id)}/confirm`, { method: "POST", body });

export const returnPayment = (id: string, body: NewMoneyReturn) =>
  call<AnyPayment>(`${at(id)}/refunds`, { method: "POST", body });
