import type { ConnectedAnswer, ConnectorRow, ConnectorTrial, VendorRow } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const connectorsQuery = queryOptions({
  queryKey: ["admin", "connectors"],
  queryFn: ({ signal }) => call<{ data: readonly ConnectorRow[] }>("/admin/v1/connectors", { signal }),
});

export const vendorsQuery = queryOptions({
  queryKey: ["admin", "vendors"],
  queryFn: ({ signal }) => call<{ data: readonly VendorRow[] }>("/admin/v1/vendors", { signal }),
});

export const testConnector = ({ operation, contract }: { operation: string; contract: string }) =>
  call<ConnectorTrial>(`/admin/v1/connectors/${encodeURIComponent(operation)}/test`, {
    method: "POST",
    body: { contract },
  });

/** Tests the vendor, and connects it if it answers. */
export const connectVendor = (wishes: {
  readonly vendor: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly cost_fen?: number;
  readonly balance_fen?: number;
  readonly join?: boolean;
  readonly untested?: boolean;
}) => call<ConnectedAnswer>("/admin/v1/connectors", { method: "POST", body: wishes });

export const disconnectVendor = (name: string) =>
  call<void>(`/admin/v1/connectors/${encodeURIComponent(name)}`, { method: "DELETE" });
