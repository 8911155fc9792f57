import { type keyRoles, type Role, type Scope, scopes } from "@dataq/contract/wire";

export { type Role, type Scope, scopes };

/** The scopes of a key that is created for a role. */
export const roles = {
  owner: ["data:query", "read:account", "manage:keys", "manage:members", "manage:billing", "manage:webhooks"],
  developer: ["data:query", "read:account"],
  finance: ["read:account", "manage:billing"],
  "read-only": ["read:account"],
} as const satisfies Record<(typeof keyRoles)[number], readonly Scope[]>;

/**
 * The scopes of members by kind of account and role. In an admin account, an owner operates the service, and the other
 * roles do a part of that. Developers have no part in it: they write programs on the operator's own account.
 */
export const rights: Readonly<Record<"admin" | "customer", Readonly<Record<Role, readonly Scope[]>>>> = {
  customer: { ...roles, support: roles["read-only"] },
  admin: {
    owner: scopes,
    developer: roles.developer,
    finance: [...roles.finance, "admin:read", "admin:finance"],
    support: ["read:account", "admin:read", "admin:support"],
    "read-only": ["read:account", "admin:read"],
  },
};

/** Whether these scopes include another: `admin` includes its parts. */
export function holds(own: readonly Scope[], scope: Scope): boolean {
  return own.includes(scope) || (isOperators(scope) && own.includes("admin"));
}

/** Whether only members and keys of an admin account can use a scope. */
export function isOperators(scope: Scope): boolean {
  return scope === "admin" || scope.startsWith("admin:");
}

/** The scopes of a key that is created without any. */
export const defaultScopes: readonly Scope[] = roles.developer;
