import type { Scope, Session, SignedIn } from "@dataq/contract/wire";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./call.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => call<Session>("/console/api/session", { signal }),
  staleTime: 60_000,
});

/** Whether users must open a link in an email before they can sign in. */
export function verifiesAddresses(session: Session | undefined): boolean {
  return session?.mode === "hosted" && session.mail;
}

/** Whether somebody may use a right of operators; `admin` includes its parts. */
export function mayOperate(
  { scopes }: Pick<SignedIn, "scopes">,
  scope: Extract<Scope, `admin${string}`>,
): boolean {
  return scopes.includes("admin") || scopes.includes(scope);
}

/** Whether the signed-in member's role includes a right in the account that they act for. */
export function useMay(scope: Scope): boolean {
  return useSignedIn().scopes.includes(scope);
}

/** The signed-in user. Pages inside the shell always have a signed-in user. */
export function useSignedIn(): SignedIn {
  const { data } = useQuery(sessionQuery);
  if (!data?.user) throw new Error("This page requires a signed-in user.");
  return data.user;
}
