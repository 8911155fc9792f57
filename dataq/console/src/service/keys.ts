import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly mode: "live" | "test";
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly monthly_cap: number | null;
  readonly ip_list: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_reason: "revoked" | "rotated" | "leaked" | null;
  readonly last_used_at: string | null;
  /** When it was last tried although it is over, or from an address that is not on its list; to the hour. */
  readonly last_refused_at: string | null;
}

/** A key just made: the only answer that carries its text. */
export interface MadeKey extends ApiKey {
  readonly key: string;
}

export interface KeyWishes {
  readonly name: string;
  readonly mode?: "live" | "test";
  readonly scopes: readonly string[];
  readonly monthly_cap: number | null;
  readonly ip_list: readonly string[];
  readonly expires_at: string | null;
}

/** What a key made in the console may be allowed; `admin` stays with the operator's own key. */
export const keyScopes = [
  "data:query",
  "read:account",
  "manage:keys",
  "manage:members",
  "manage:billing",
] as const;

export const graces = [0, 3600, 86_400, 604_800] as const;

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => call<{ data: readonly ApiKey[] }>("/v1/keys", { signal }),
});

export function makeKey(wishes: KeyWishes): Promise<MadeKey> {
  return call("/v1/keys", { method: "POST", body: wishes });
}

export function changeKey(id: string, wishes: KeyWishes): Promise<ApiKey> {
  return call(`/v1/keys/${encodeURIComponent(id)}`, { method: "PATCH", body: wishes });
}

export function rotateKey(id: string, graceS: number): Promise<MadeKey> {
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
