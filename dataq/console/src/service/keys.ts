import type { ApiKey, CreatedKey, NewKey, Scope } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

/** Scopes that a key created in the console can have. Only the operator's own key has `admin`. */
export const keyScopes = [
  "data:query",
  "read:account",
  "manage:keys",
  "manage:members",
  "manage:billing",
  "manage:webhooks",
] as const satisfies readonly Scope[];

export const graces = [0, 3600, 86_400, 604_800] as const;

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => call<{ data: readonly ApiKey[] }>("/v1/keys", { signal }),
});

export function createKey(wishes: NewKey): Promise<CreatedKey> {
  return call("/v1/keys", { method: "POST", body: wishes });
}

export function changeKey(id: string, wishes: NewKey): Promise<ApiKey> {
  return call(`/v1/keys/${encodeURIComponent(id)}`, { method: "PATCH", body: wishes });
}

export function rotateKey(id: string, graceS: number): Promise<CreatedKey> {
  return call(`/v1/keys/${encodeURIComponent(id)}/rotate`, { method: "POST", body: { grace_s: graceS } });
}

export function revokeKey(id: string): Promise<unknown> {
  return call(`/v1/keys/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export type KeyState = "active" | "ending" | "expired" | "revoked";

export function stateOf(key: ApiKey, now = Date.now()): KeyState {
  if (key.revoked_at && Date.parse(key.revoked_at) <= now) return "revoked";
  if (!key.expires_at) return "active";
  const end = Date.parse(key.expires_at);
  if (end <= now) return "expired";
  return end - now < 7 * 86_400_000 ? "ending" : "active";
}
