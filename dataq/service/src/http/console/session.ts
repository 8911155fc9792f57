import { Failure } from "@dataq/contract";
import {
  chosenAccount,
  invitationToken,
  type openSession,
  type person,
  type Sent,
  type session,
} from "@dataq/contract/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { acceptInvitation, accountsOf, actFor } from "../../people/members.ts";
import type { People, SignedIn } from "../../people/people.ts";
import { admit, type HttpParts } from "../app.ts";
import { check, readJson } from "../body.ts";
import { headersOf } from "../credentials.ts";
import { authorOf } from "../routes/keys.ts";
import { assertOwnPage } from "./origin.ts";

interface ConsoleSettings {
  readonly mode: "local" | "hosted";
  readonly signup: "open" | "approve" | "closed";
  /** Address of the model server next door. */
  readonly locallm: string | undefined;
}

/** What the console asks beside the public endpoints: who is there, where else, and who waits to be let in. */
export function addSessionRoutes(
  app: FastifyInstance,
  parts: HttpParts & { readonly people: People },
  settings: ConsoleSettings,
): void {
  const { people, database } = parts;

  app.get("/console/api/session", async (request, reply): Promise<Sent<typeof session>> => {
    reply.header("cache-control", "no-store");
    const signedIn = await people.find(headersOf(request));
    return {
      mode: settings.mode,
      signup: settings.signup,
      mail: people.sendsMail,
      models: settings.locallm !== undefined && signedIn !== undefined && isOperator(signedIn),
      user: signedIn
        ? { ...personBody(signedIn), accounts: await accountsOf(database, signedIn.person.id) }
        : null,
    };
  });

  const visitor = async (request: FastifyRequest): Promise<SignedIn> => {
    if (request.method !== "GET") assertOwnPage(request);
    const signedIn = await people.find(headersOf(request));
    if (!signedIn) throw new Failure("missing_api_key");
    return signedIn;
  };

  app.get("/console/api/sessions", async (request): Promise<Sent<typeof openSession>[]> => {
    const { person, sessionId } = await visitor(request);
    const found = await database.pool.query<Omit<Sent<typeof openSession>, "isCurrent">>(
      `select "id", "createdAt", "updatedAt", "ipAddress", "userAgent" from people."session"
       where "userId" = $1 and "expiresAt" > $2 order by "updatedAt" desc limit 100`,
      [person.id, parts.clock()],
    );
    return found.rows.map((row) => ({ ...row, isCurrent: row.id === sessionId }));
  });

  app.delete<{ Params: { id: string } }>("/console/api/sessions/:id", async (request, reply) => {
    const { person } = await visitor(request);
    const ended = await database.pool.query(
      `delete from people."session" where "id" = $1 and "userId" = $2`,
      [request.params.id, person.id],
    );
    if (ended.rowCount === 0) throw new Failure("not_found", { what: "The session" });
    return reply.code(204).send();
  });

  app.post("/console/api/join", async (request) => {
    const { person } = await visitor(request);
    const { token } = check(invitationToken, readJson(request));
    const author = { ...authorOf(parts, request), actor: `user_${person.id}` };
    return { account_id: await acceptInvitation(database, token, person, author) };
  });

  app.post("/console/api/account", async (request) => {
    const { person } = await visitor(request);
    const { account_id } = check(chosenAccount, readJson(request));
    await actFor(database, person.id, account_id);
    return { account_id };
  });

  app.get("/console/api/people", async (request): Promise<{ data: Sent<typeof person>[] }> => {
    await admitOperator(parts, request);
    return { data: await people.list(500) };
  });

  app.post<{ Params: { id: string } }>("/console/api/people/:id/approve", async (request) => {
    await admitOperator(parts, request);
    await people.approve(request.params.id, authorOf(parts, request));
    return { status: "approved" };
  });

  app.post<{ Params: { id: string } }>("/console/api/people/:id/reset-link", async (request, reply) => {
    await admitOperator(parts, request);
    reply.header("cache-control", "no-store");
    return { link: await people.makeResetLink(request.params.id, authorOf(parts, request)) };
  });
}

export async function admitOperator(parts: HttpParts, request: FastifyRequest): Promise<void> {
  const principal = await admit(parts, request, "admin");
  if (principal.account.role !== "admin") throw new Failure("scope_denied", { scope: "admin" });
}

/** The pages of the operator are for owners of an account of the admin role. */
function isOperator({ person, account }: SignedIn): boolean {
  return account?.role === "admin" && person.role === "owner";
}

function personBody(signedIn: SignedIn): Omit<NonNullable<Sent<typeof session>["user"]>, "accounts"> {
  const { id, name, email, accountId, role, isVerified, isApproved, isLocal, twoFactor } = signedIn.person;
  return {
    id,
    name,
    email,
    accountId,
    isVerified,
    isApproved,
    isLocal,
    twoFactor,
    role: isOperator(signedIn) ? "admin" : "customer",
    memberRole: role,
  };
}
