import { z } from "zod";
import { isNetworkBlock } from "../values/network-block.ts";
import type { Received } from "./answer.ts";
import { keyModes, keyRoles, revocationReasons, scopes } from "./choices.ts";
import { moment } from "./moment.ts";
import { tokenCount } from "./page.ts";
import { wellFormed } from "./well-formed.ts";

/** A key as its account sees it. Only the answer that creates a key contains its text. */
export const apiKey = z.strictObject({
  id: z.string(),
  name: z.string(),
  mode: z.enum(keyModes),
  prefix: z.string(),
  last4: z.string(),
  scopes: z.array(z.enum(scopes)),
  monthly_cap: z
    .number()
    .int()
    .nullable()
    .meta({ description: "Tokens per month (China time); null: no limit of its own" }),
  project_id: z.string().nullable().meta({ description: "The project whose budget its calls use" }),
  session_budget: z
    .number()
    .int()
    .nullable()
    .meta({ description: "Tokens that each session may spend; X-Tokens-Budget can only lower it" }),
  per_second: z.number().nullable().meta({ description: "Calls per second; null: the account's rate limit" }),
  ip_list: z
    .array(z.string())
    .meta({ description: "Addresses and blocks that may use the key; empty: any address" }),
  person: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .meta({ description: "The member with whom the key ends; null: a key of a service" }),
  created_at: moment,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  revoked_reason: z.enum(revocationReasons).nullable(),
  last_used_at: moment.nullable(),
  last_refused_at: moment.nullable().meta({
    description:
      "When it was last rejected, to the hour, because it had expired, the address was not on its list, or its cap was reached",
  }),
});
export type ApiKey = Received<typeof apiKey>;

/** The only answer that contains the key's text. */
export const createdKey = apiKey.extend({ key: z.string() });
export type CreatedKey = Received<typeof createdKey>;

const address = z
  .string()
  .refine(isNetworkBlock, {
    error: "must be an IP address or a block of addresses",
    params: {
      fix: "send addresses or blocks such as 203.0.113.0/24",
      fixZh: "请发送地址或网段，例如 203.0.113.0/24",
    },
  })
  .meta({ format: "network-block" });

const name = wellFormed(z.string().max(100));

const scopeList = z
  .array(z.enum(scopes))
  .min(1)
  .refine((list) => new Set(list).size === list.length, {
    error: "contains a scope twice",
    params: { fix: "send each scope once", fixZh: "每个权限请只发送一次" },
  })
  .meta({ uniqueItems: true });

/**
 * What a key may do, and from which addresses. On a change, omitted fields keep their values; for a new key,
 * they get the defaults.
 */
export const changedKey = z.strictObject({
  name: name.optional(),
  scopes: scopeList.optional(),
  role: z.enum(keyRoles).optional().meta({ description: "The scopes of this role; instead of scopes" }),
  monthly_cap: z.number().int().min(0).nullable().optional(),
  session_budget: z.number().int().min(0).nullable().optional(),
  per_second: z.number().min(0.01).max(10_000).nullable().optional(),
  ip_list: z.array(address).max(100).optional(),
  expires_at: moment.nullable().optional(),
  person_id: z
    .string()
    .max(64)
    .nullable()
    .optional()
    .meta({ description: "The member with whom the key ends; null: a key of a service" }),
});
export type ChangedKey = Received<typeof changedKey>;

export const newKey = z.strictObject({
  mode: z.enum(keyModes).optional(),
  project_id: z
    .string()
    .max(64)
    .nullable()
    .optional()
    .meta({ description: "The project that the key belongs to for good; keys that replace it do, too" }),
  ...changedKey.shape,
});
export type NewKey = Received<typeof newKey>;

export const rotation = z.strictObject({
  grace_s: z
    .number()
    .int()
    .min(0)
    .max(604_800)
    .default(0)
    .meta({ description: "How long the old key keeps working, in seconds" }),
});

export const leakReport = z.strictObject({ key: z.string().max(200) });

/** Keys that an operator creates for an account. */
export const newKeys = z.strictObject({
  count: z.number().int().min(1).max(100).default(1),
  mode: z.enum(keyModes).optional(),
  name: name.optional(),
  scopes: scopeList.optional(),
  monthly_cap: tokenCount.nullable().optional(),
});
export const createdKeys = z.strictObject({
  account_id: z.string(),
  keys: z.array(z.string()),
  data: z.array(createdKey),
});
