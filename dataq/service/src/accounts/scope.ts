import { type Role, type Scope, scopes } from "@dataq/contract/wire";

export { type Role, type Scope, scopes };

/** The scopes of a key that is created for a role. */
export const roles = {
  owner: ["data:query", "read:account", "manage:keys", "manage:members", "manage:billing", "manage:webhooks"],
  developer: ["data:query", "read:account"],
  finance: ["read:account", "manage:billing"],
  "read-only": ["read:account"],
} as const satisfies Record<Role, readonly Scope[]>;

/** The scopes of members by kind of account and role: an owner of an admin account operates the service. */
export const rights: Readonly<Record<"admin" | "customer", Readonly<Record<Role, readonly Scope[]>>>> = {
  customer: roles,
  admin: { ...roles, owner: scopes },
};

/** The scopes of a key that is created without any. */
export const defaultScopes: readonly Scope[] = roles.developer;
