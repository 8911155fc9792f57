import { invalid } from "@dataq/contract";
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
import type { FastifyInstance, FastifyRequest } from "fastify";
import { assertMayGrant, grantOf, isSelf } from "../../accounts/principal.ts";
import {
  type Invitation,
  invite,
  listInvitations,
  listMembers,
  type Member,
  type PermitRole,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from "../../people/members.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** The members of the caller's account and their roles. */
export function addMemberRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database, people } = parts;

  app.get("/v1/members", async (request): Promise<Sent<typeof memberList>> => {
    const { account } = principalOf(request);
    const [members, invitations] = await Promise.all([
      listMembers(database, account.id),
      listInvitations(database, account.id, parts.clock()),
    ]);
    return { data: members.map(memberBody), invitations: invitations.map(invitationBody) };
  });

  app.post("/v1/members/invitations", async (request, reply): Promise<Sent<typeof createdInvitation>> => {
    const { account } = principalOf(request);
    const wanted = check(newInvitation, readJson(request));
    const made = await invite(database, account.id, wanted, authorOf(parts, request), permitOf(request));
    reply.code(201).header("cache-control", "no-store");
    const link = `${people.publicUrl}/console/join#token=${made.token}`;
    return { ...invitationBody(made.invitation), link };
  });

  app.delete<{ Params: { id: string } }>("/v1/members/invitations/:id", async (request, reply) => {
    const { account } = principalOf(request);
    const { id } = request.params;
    await withdrawInvitation(database, account.id, id, authorOf(parts, request), permitOf(request));
    return reply.code(204).send();
  });

  app.patch<{ Params: { id: string } }>(
    "/v1/members/:id",
    async (request): Promise<Sent<typeof changedMember>> => {
      const { account } = principalOf(request);
      const { role } = check(memberRole, readJson(request));
      const { id } = request.params;
      const author = authorOf(parts, request);
      const permit = permitOf(request);
      await setMemberRole(database, account.id, id, role, author, permit, people.tellOfEndedKeys);
      return { id, role };
    },
  );

  app.delete<{ Params: { id: string } }>("/v1/members/:id", async (request, reply) => {
    const principal = principalOf(request);
    const { id } = request.params;
    const permit = isSelf(principal, id) ? () => {} : permitOf(request);
    const author = authorOf(parts, request);
    await removeMember(database, principal.account.id, id, author, permit, people.tellOfEndedKeys);
    return reply.code(204).send();
  });
}

/** Nobody grants or removes a role with more rights than their own. */
function permitOf(request: FastifyRequest): PermitRole {
  const principal = principalOf(request);
  return (role) => {
    assertMayGrant(principal, grantOf(role, principal.account.role), "role");
    if (role === "support" && principal.account.role !== "admin")
      throw invalid(
        "role",
        "choice",
        "role must not be support: only the operator of the service has it",
        "send read-only, finance, developer or owner",
        "请使用 read-only、finance、developer 或 owner",
      );
  };
}

function memberBody(one: Member): Sent<typeof member> {
  const { id, name, email, role: as, isFromProvider: from_provider, createdAt } = one;
  return { id, name, email, role: as, from_provider, created_at: createdAt };
}

function invitationBody({ id, email, role: as, expiresAt }: Invitation): Sent<typeof invitation> {
  return { id, email, role: as, expires_at: expiresAt };
}
