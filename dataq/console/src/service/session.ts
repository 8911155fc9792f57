import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Role } from "./members.ts";

/** What the console may know before and after somebody signs in. */
export interface Session {
  readonly mode: "local" | "hosted";
  readonly signup: "open" | "approve" | "closed";
  /** Whether the service can send mail; without it, links are handed out by an operator. */
  readonly mail: boolean;
  /** Whether a model server next door may be shown. */
  readonly models: boolean;
  readonly user: SignedIn | null;
}

export interface SignedIn {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: "admin" | "customer";
  /** The account that they act for, and as what; `accounts` are all that they may act for. */
  readonly accountId: string | null;
  readonly memberRole: Role | null;
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly role: Role }[];
  readonly isVerified: boolean;
  readonly isApproved: boolean;
  readonly twoFactor: boolean;
  /** The account of the machine's owner: no password, in by the link that the start prints. */
  readonly isLocal: boolean;
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => call<Session>("/console/api/session", { signal }),
  staleTime: 60_000,
});

/** The signed-in person; pages below the shell always have one. */
export function useSignedIn(): SignedIn {
  const { data } = useQuery(sessionQuery);
  if (!data?.user) throw new Error("This page is for people who signed in.");
  return data.user;
}
