import type {
  ChangedWatch,
  ChangedWebhook,
  CreatedWatch,
  CreatedWebhook,
  Delivery,
  NewWatch,
  NewWebhook,
  Watch,
  Webhook,
} from "@dataq/contract/wire";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { cursor, type Page } from "./money.ts";

export const webhooksQuery = queryOptions({
  queryKey: ["webhooks"],
  queryFn: ({ signal }) => call<{ data: readonly Webhook[] }>("/v1/webhooks", { signal }),
});

export function createWebhook(wishes: NewWebhook): Promise<CreatedWebhook> {
  return call("/v1/webhooks", { method: "POST", body: wishes });
}

export function changeWebhook(id: string, wishes: ChangedWebhook): Promise<Webhook> {
  return call(pathOf(id), { method: "PATCH", body: wishes });
}

export function deleteWebhook(id: string): Promise<unknown> {
  return call(pathOf(id), { method: "DELETE" });
}

export function rotateSecret(id: string): Promise<CreatedWebhook> {
  return call(`${pathOf(id)}/rotate`, { method: "POST", body: {} });
}

export function deliveriesQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["deliveries", id],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Delivery>>(`${pathOf(id)}/deliveries?${cursor(pageParam, { limit: "50" })}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    // Shows the outcome of a message that is on its way.
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((one) => one.state === "waiting")) ? 3_000 : false,
  });
}

export function redeliver(id: string, message: string): Promise<Delivery> {
  return call(`${pathOf(id)}/deliveries/${encodeURIComponent(message)}/redeliver`, {
    method: "POST",
    body: {},
  });
}

export const watchesQuery = queryOptions({
  queryKey: ["watches"],
  queryFn: ({ signal }) => call<{ data: readonly Watch[] }>("/v1/watches", { signal }),
});

export function createWatch(wishes: NewWatch): Promise<CreatedWatch> {
  return call("/v1/watches", { method: "POST", body: wishes });
}

export function changeWatch(id: string, wishes: ChangedWatch): Promise<Watch> {
  return call(`/v1/watches/${encodeURIComponent(id)}`, { method: "PATCH", body: wishes });
}

export function deleteWatch(id: string): Promise<unknown> {
  return call(`/v1/watches/${encodeURIComponent(id)}`, { method: "DELETE" });
}

function pathOf(id: string): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`;
}
