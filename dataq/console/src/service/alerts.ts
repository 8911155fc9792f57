import type { AlertThresholds } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const alertsQuery = queryOptions({
  queryKey: ["alerts"],
  queryFn: ({ signal }) => call<AlertThresholds>("/v1/alerts", { signal }),
});

export function setAlerts(wishes: Partial<AlertThresholds>): Promise<AlertThresholds> {
  return call("/v1/alerts", { method: "PATCH", body: wishes });
}
