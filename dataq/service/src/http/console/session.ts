import { Failure, invalid } from "@dataq/contract";
import {
  acceptedTerms,
  type approved,
  chosenAccount,
  type consoleRoutes,
  invitationToken,
  type openSession,
  type person,
  type resetLink,
  type Sent,
  type session,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { assertMayGrant, grantOf } from "../../accounts/principal.ts";
import { holds, type Role, rights, type Scope } from "../../accounts/scope.ts";
import { acceptInvitation, accountsOf, actFor } from "../../people/members.ts";
import type { Person, SignedIn } from "../../people/people.ts";
import { acceptTerms, hasAccepted, type Terms } from "../../people/terms.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf, visitorOf } from "../caller.ts";
import { headersOf } from "../credentials.ts";
import type { HttpParts } from "../parts.ts";
import { windowBody } from "../routes/admin/maintenance.ts";

interface ConsoleSettings {
  readonly mode: "local" | "hosted";
  readonly signup: "open" | "approve" | "closed";
  /** DATAQ_LOCALLM */
  readonly locallm: string | undefined;
  /** DATAQ_TERMS */
  readonly terms: Terms | undefined;
}

/**
 * What the console needs besides the public API: the session, other sessions, and people who await approval.
 */
export function addSessionRoutes(app: FastifyInstance, parts: HttpParts, settings: ConsoleSettings): void {
  const { people, database } = parts;

  app.get("/console/api/session", async (request, reply): Promise<Sent<typeof session>> => {
    reply.header("cache-control", "no-store");
    const signedIn = await people.find(headersOf(request));
    const { terms = null } = settings;
    // The owner of the machine does not agree with themselves.
    const mustAccept =
      terms !== null &&
      signedIn !== undefined &&
      !signedIn.person.isLocal &&
      !(await hasAccepted(database, signedIn.person.id, terms.version));
    return {
      terms: terms && { version: terms.version, url: terms.url },
      mode: settings.mode,
      signup: settings.signup,
      mail: people.sendsMail,
      maintenance: windowBody(await parts.maintenance.current()),
      sso: people.sso ? { name: people.sso.settings.name } : null,
      models: settings.locallm !== undefined && signedIn !== undefined && holds(scopesOf(signedIn), "admin"),
      user: signedIn
        ? {
            ...userBody(signedIn),
            accounts: await accountsOf(database, signedIn.person.id),
            must_accept_terms: mustAccept,
          }
        : null,
    };
  });

  app.get(
    "/console/api/sessions",
    async (request): Promise<Sent<typeof consoleRoutes.listSessions.answer>> => {
      const { person, sessionId } = visitorOf(request);
      const found = await database.pool.query<Omit<Sent<typeof openSession>, "is_current">>(
        `select "id", "createdAt" as created_at, "updatedAt" as updated_at, "ipAddress" as ip_address,
           "userAgent" as user_agent
         from people."session" where "userId" = $1 and "expiresAt" > $2 order by "updatedAt" desc limit 100`,
        [person.id, parts.clock()],
      );
      return { data: found.rows.map((row) => ({ ...row, is_current: row.id === sessionId })) };
    },
  );

  app.delete<{ Params: { id: string } }>("/console/api/sessions/:id", async (request, reply) => {
    const { person } = visitorOf(request);
    const ended = await database.pool.query(
      `delete from people."session" where "id" = $1 and "userId" = $2`,
      [request.params.id, person.id],
    );
    if (ended.rowCount === 0) throw new Failure("not_found", { what: "The session" });
    return reply.code(204).send();
  });

  app.post("/console/api/join", async (request): Promise<Sent<typeof chosenAccount>> => {
    const { person } = visitorOf(request);
    const { token } = check(invitationToken, readJson(request));
    return { account_id: await acceptInvitation(database, token, person, authorOf(parts, request)) };
  });

  app.post("/console/api/account", async (request): Promise<Sent<typeof chosenAccount>> => {
    const { person } = visitorOf(request);
    const { account_id } = check(chosenAccount, readJson(request));
    await actFor(database, person.id, account_id);
    return { account_id };
  });

  app.post("/console/api/terms", async (request, reply) => {
    const { person } = visitorOf(request);
    const { version } = check(acceptedTerms, readJson(request));
    if (version !== settings.terms?.version)
      throw invalid(
        "version",
        "value",
        "version is not that of the present terms",
        "read the present terms, and send their version",
        "请阅读现行条款，并发送其版本",
      );
    await acceptTerms(database, person.id, version, authorOf(parts, request));
    return reply.code(204).send();
  });

  app.get("/console/api/people", async (): Promise<Sent<typeof consoleRoutes.listPeople.answer>> => {
    return { data: (await people.list(500)).map(personBody) };
  });

  app.post<{ Params: { id: string } }>(
    "/console/api/people/:id/approve",
    async (request): Promise<Sent<typeof approved>> => {
      await people.approve(request.params.id, authorOf(parts, request));
      return { status: "approved" };
    },
  );

  app.post<{ Params: { id: string } }>(
    "/console/api/people/:id/reset-link",
    async (request, reply): Promise<Sent<typeof resetLink>> => {
      reply.header("cache-control", "no-store");
      const principal = principalOf(request);
      const permit = (role: Role) => assertMayGrant(principal, grantOf(role, "admin"), "id");
      return { link: await people.makeResetLink(request.params.id, authorOf(parts, request), permit) };
    },
  );
}

function scopesOf({ person, account }: SignedIn): readonly Scope[] {
  return account && person.role ? rights[account.role][person.role] : [];
}

function userBody(
  signedIn: SignedIn,
): Omit<NonNullable<Sent<typeof session>["user"]>, "accounts" | "must_accept_terms"> {
  const { role: member_role, created_at: _, ...own } = personBody(signedIn.person);
  const scopes = scopesOf(signedIn);
  // Whoever sees what operators see has their pages.
  const role = holds(scopes, "admin:read") ? "admin" : "customer";
  return { ...own, member_role, role, scopes: [...scopes] };
}

function personBody(one: Person): Sent<typeof person> {
  return {
    id: one.id,
    name: one.name,
    email: one.email,
    account_id: one.accountId,
    role: one.role,
    is_verified: one.isVerified,
    is_approved: one.isApproved,
    is_local: one.isLocal,
    two_factor: one.twoFactor,
    created_at: one.createdAt,
  };
}
