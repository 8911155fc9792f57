import type { AutoTopUp, NewAutoTopUp } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const autoTopUpQuery = queryOptions({
  queryKey: ["auto-top-up"],
  queryFn: ({ signal }) => call<AutoTopUp>("/v1/auto-top-up", { signal }),
});

export const allowAutoTopUp = (wishes: NewAutoTopUp) =>
  call<AutoTopUp>("/v1/auto-top-up", { method: "PATCH", body: wishes });

export const endAutoTopUp = () => call("/v1/auto-top-up", { method: "DELETE" });
