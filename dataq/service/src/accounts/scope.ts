/** What a key may do. */
export const scopes = [
  "data:query",
  "read:account",
  "manage:keys",
  "manage:members",
  "manage:billing",
  "admin",
] as const;
export type Scope = (typeof scopes)[number];

/** Sets of scopes by what a person does: of the members of an account, and of keys made for a role. */
export const roles = {
  owner: ["data:query", "read:account", "manage:keys", "manage:members", "manage:billing"],
  developer: ["data:query", "read:account"],
  finance: ["read:account", "manage:billing"],
  "read-only": ["read:account"],
} as const satisfies Record<string, readonly Scope[]>;
export type Role = keyof typeof roles;

/** What a key gets when nothing is said. */
export const defaultScopes: readonly Scope[] = roles.developer;
