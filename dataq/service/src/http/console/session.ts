import { Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Account } from "../../accounts/account.ts";
import type { People, Person, SignedIn } from "../../people/people.ts";
import { admit, type HttpParts } from "../app.ts";
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

  app.get("/console/api/session", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const signedIn = await people.find(headersOf(request));
    return {
      mode: settings.mode,
      signup: settings.signup,
      mail: people.sendsMail,
      models: settings.locallm !== undefined && signedIn?.account?.role === "admin",
      user: signedIn ? personBody(signedIn.person, signedIn.account) : null,
    };
  });

  const visitor = async (request: FastifyRequest): Promise<SignedIn> => {
    if (request.method !== "GET") assertOwnPage(request);
    const signedIn = await people.find(headersOf(request));
    if (!signedIn) throw new Failure("missing_api_key");
    return signedIn;
  };

  app.get("/console/api/sessions", async (request) => {
    const { person, sessionId } = await visitor(request);
    const found = await database.pool.query<{ id: string }>(
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

  app.get("/console/api/people", async (request) => {
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

function personBody(person: Person, account: Account | undefined): object {
  const { id, name, email, accountId, isVerified, isApproved, isLocal, twoFactor } = person;
  return {
    id,
    name,
    email,
    accountId,
    isVerified,
    isApproved,
    isLocal,
    twoFactor,
    role: account?.role ?? "customer",
  };
}
