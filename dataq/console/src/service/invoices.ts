import type {
  AnyInvoice,
  CorrectionKind,
  Invoice,
  InvoiceBuyer,
  InvoiceFilter,
  Statement,
} from "@dataq/contract/wire";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call, ServiceError } from "./call.ts";
import { cursor, type Page } from "./money.ts";

/** Who the account's invoices are made out to; null before it is set. */
export const buyerQuery = queryOptions({
  queryKey: ["invoice-buyer"],
  queryFn: async ({ signal }) => {
    try {
      return await call<Required<InvoiceBuyer>>("/v1/invoices/buyer", { signal });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "not_found") return null;
      throw error;
    }
  },
});

export const setBuyer = (buyer: InvoiceBuyer) =>
  call<Required<InvoiceBuyer>>("/v1/invoices/buyer", { method: "PATCH", body: buyer });

export const invoicesQuery = infiniteQueryOptions({
  queryKey: ["invoices"],
  queryFn: ({ pageParam, signal }) =>
    call<Page<Invoice>>(`/v1/invoices?${cursor(pageParam, { limit: "20" })}`, { signal }),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export const requestInvoice = (payments: string[]) =>
  call<Invoice>("/v1/invoices", { method: "POST", body: { payments } });

export const statementQuery = (month: string) =>
  queryOptions({
    queryKey: ["statement", month],
    queryFn: ({ signal }) => call<Statement>(`/v1/statements/${month}`, { signal }),
  });

export const allInvoicesQuery = (state: InvoiceFilter | "") =>
  infiniteQueryOptions({
    queryKey: ["admin", "invoices", state],
    queryFn: ({ pageParam, signal }) =>
      call<Page<AnyInvoice>>(`/admin/v1/invoices?${cursor(pageParam, { limit: "50", state })}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const issueInvoice = ({ id, amount_fen }: AnyInvoice, number: string) =>
  call<AnyInvoice>(`/admin/v1/invoices/${encodeURIComponent(id)}/issue`, {
    method: "POST",
    body: { number, amount_fen },
  });

export const correctInvoice = (
  { id }: AnyInvoice,
  body: { readonly kind: CorrectionKind; readonly number: string; readonly amount_fen: number },
) => call<AnyInvoice>(`/admin/v1/invoices/${encodeURIComponent(id)}/corrections`, { method: "POST", body });
