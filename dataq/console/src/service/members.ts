import type { Invitation, Member, Role } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) =>
    call<{ data: readonly Member[]; invitations: readonly Invitation[] }>("/v1/members", { signal }),
});

/** Invites a member. Only this answer contains the link. */
export function inviteMember(email: string, role: Role): Promise<Invitation & { readonly link: string }> {
  return call("/v1/members/invitations", { method: "POST", body: { email, role } });
}

export function withdrawInvitation(id: string): Promise<unknown> {
  return call(`/v1/members/invitations/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export function setMemberRole(id: string, role: Role): Promise<unknown> {
  return call(`/v1/members/${encodeURIComponent(id)}`, { method: "PATCH", body: { role } });
}

export function removeMember(id: string): Promise<unknown> {
  return call(`/v1/members/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export function joinAccount(token: string): Promise<unknown> {
  return call("/console/api/join", { method: "POST", body: { token } });
}

export function actFor(accountId: string): Promise<unknown> {
  return call("/console/api/account", { method: "POST", body: { account_id: accountId } });
}

/** The owner of the machine has an address that receives no mail, and that is not shown. */
export function isMachineOwner(email: string): boolean {
  return email.endsWith("@local.invalid");
}
