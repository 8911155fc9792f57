import type { Role, Scope } from "@dataq/contract/wire";

export { type Role, type Scope, scopes } from "@dataq/contract/wire";

/** Sets of scopes by what a person does: of the members of an account, and of keys made for a role. */
export const roles = {
  owner: ["data:query", "read:account", "manage:keys", "manage:members", "manage:billing"],
  developer: ["data:query", "read:account"],
  finance: ["read:account", "manage:billing"],
  "read-only": ["read:account"],
} as const satisfies Record<Role, readonly Scope[]>;

/** What a key gets when nothing is said. */
export const defaultScopes: readonly Scope[] = roles.developer;
