import { Failure } from "@dataq/contract";
import {
  type changedMember,
  type createdInvitation,
  type invitation,
  type member,
  type memberList,
  memberRole,
  newInvitation,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import type { Principal } from "../../accounts/key.ts";
import { type Role, roles } from "../../accounts/scope.ts";
import {
  type Invitation,
  invite,
  listInvitations,
  listMembers,
  type Member,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from "../../people/members.ts";
import { admit, type HttpParts } from "../app.ts";
import { check, readJson } from "../body.ts";
import { authorOf } from "./keys.ts";

/** The people of one's own account, and what each may do. */
export function addMemberRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database, people } = parts;

  app.get("/v1/members", async (request): Promise<Sent<typeof memberList>> => {
    const { account } = await admit(parts, request, "read:account");
    const [members, invitations] = await Promise.all([
      listMembers(database, account.id),
      listInvitations(database, account.id, parts.clock()),
    ]);
    return { data: members.map(memberBody), invitations: invitations.map(invitationBody) };
  });

  app.post("/v1/members/invitations", async (request, reply): Promise<Sent<typeof createdInvitation>> => {
    const principal = await admit(parts, request, "manage:members");
    const wanted = check(newInvitation, readJson(request));
    assertMayGive(principal, wanted.role);
    const made = await invite(database, principal.account.id, wanted, authorOf(parts, request));
    reply.code(201).header("cache-control", "no-store");
    const link = `${people.publicUrl}/console/join#token=${made.token}`;
    return { ...invitationBody(made.invitation), link };
  });

  app.delete<{ Params: { id: string } }>("/v1/members/invitations/:id", async (request, reply) => {
    const { account } = await admit(parts, request, "manage:members");
    await withdrawInvitation(database, account.id, request.params.id, authorOf(parts, request));
    return reply.code(204).send();
  });

  app.patch<{ Params: { id: string } }>(
    "/v1/members/:id",
    async (request): Promise<Sent<typeof changedMember>> => {
      const principal = await admit(parts, request, "manage:members");
      const wanted = check(memberRole, readJson(request));
      assertMayGive(principal, wanted.role);
      const { id } = request.params;
      await setMemberRole(database, principal.account.id, id, wanted.role, authorOf(parts, request));
      return { id, role: wanted.role };
    },
  );

  // Everybody may leave.
  app.delete<{ Params: { id: string } }>("/v1/members/:id", async (request, reply) => {
    const { account, key } = await admit(parts, request, "read:account");
    const isSelf = key.id === `user_${request.params.id}`;
    if (!isSelf && !key.scopes.includes("manage:members"))
      throw new Failure("scope_denied", { scope: "manage:members" });
    await removeMember(database, account.id, request.params.id, authorOf(parts, request));
    return reply.code(204).send();
  });
}

/** Nobody gives a right that they do not have. */
function assertMayGive({ key }: Principal, wanted: Role): void {
  const excess = roles[wanted].find((scope) => !key.scopes.includes(scope));
  if (excess) throw new Failure("scope_denied", { scope: excess, param: "role" });
}

function memberBody({ id, name, email, role: as, createdAt }: Member): Sent<typeof member> {
  return { id, name, email, role: as, created_at: createdAt };
}

function invitationBody({ id, email, role: as, expiresAt }: Invitation): Sent<typeof invitation> {
  return { id, email, role: as, expires_at: expiresAt };
}
