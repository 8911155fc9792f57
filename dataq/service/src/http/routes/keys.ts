import { Failure } from "@dataq/contract";
import {
  type apiKey,
  changedKey,
  type createdKey,
  leakReport,
  newKey,
  rotation,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { z } from "zod";
import { callerOf } from "../../accounts/address.ts";
import type { ApiKey } from "../../accounts/grant.ts";
import type { CreatedKey, Permit } from "../../accounts/key.ts";
import { assertMayGrant, withBounds } from "../../accounts/principal.ts";
import { roles } from "../../accounts/scope.ts";
import { inTransaction } from "../../database/transaction.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** Leak reports of one address. */
const leakReports = { perSecond: 0.2, burst: 30 };

/** Keys of the caller's account. Only the answer that creates a key contains its text. */
export function addKeyRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database, keys } = parts;

  app.get("/v1/keys", async (request): Promise<{ data: Sent<typeof apiKey>[] }> => {
    const { account } = principalOf(request);
    return { data: (await keys.list(account.id)).map(keyBody) };
  });

  app.post("/v1/keys", async (request, reply): Promise<Sent<typeof createdKey>> => {
    const principal = principalOf(request);
    const wanted = withBounds(principal, readRights(check(newKey, readJson(request, { whenEmpty: {} }))));
    assertMayGrant(principal, wanted, "scopes");
    const author = authorOf(parts, request);
    const made = await inTransaction(database, (transaction) =>
      keys.create(transaction, principal.account.id, wanted, author),
    );
    reply.code(201).header("cache-control", "no-store");
    return createdBody(made);
  });

  app.patch<{ Params: { id: string } }>("/v1/keys/:id", async (request): Promise<Sent<typeof apiKey>> => {
    const { account } = principalOf(request);
    const wanted = readRights(check(changedKey, readJson(request)));
    const author = authorOf(parts, request);
    return keyBody(await keys.change(account.id, request.params.id, wanted, author, permitOf(request)));
  });

  app.post<{ Params: { id: string } }>(
    "/v1/keys/:id/rotate",
    async (request, reply): Promise<Sent<typeof createdKey>> => {
      const { account } = principalOf(request);
      const { grace_s } = check(rotation, readJson(request, { whenEmpty: {} }));
      const author = authorOf(parts, request);
      const made = await keys.rotate(account.id, request.params.id, grace_s, author, permitOf(request));
      reply.code(201).header("cache-control", "no-store");
      return createdBody(made);
    },
  );

  app.delete<{ Params: { id: string } }>("/v1/keys/:id", async (request, reply) => {
    const { account } = principalOf(request);
    const author = authorOf(parts, request);
    await keys.revoke(account.id, request.params.id, "revoked", author, permitOf(request));
    return reply.code(204).send();
  });

  // For scanners: anybody may send any text, and the answer never reveals whether it was a key of this service. The
  // work starts after the answer was sent, so the response time does not reveal it either.
  const working = new Set<Promise<void>>();
  app.addHook("onClose", async () => void (await Promise.all(working)));
  app.post("/v1/keys/leak-report", async (request, reply) => {
    const bucket = `leak:${callerOf(request.ip)}`;
    const waitS = await parts.limiter.take(bucket, 1, leakReports, parts.clock());
    if (waitS !== undefined) throw new Failure("rate_limited", { retry_after: waitS });
    const { key } = check(leakReport, readJson(request));
    const author = { ...authorOf(parts, request), actor: "leak-report" };
    const work = async () => {
      try {
        await keys.reportLeak(key.trim(), author, ({ accountId, name, last4 }, transaction) =>
          parts.people.tellOwners(accountId, { about: "key.leaked", data: { name, last4 } }, transaction),
        );
      } catch (error) {
        parts.logger.warn({ request_id: request.id, err: (error as Error).message }, "leak report failed");
      }
    };
    reply.raw.once("close", () => {
      const done = work().finally(() => working.delete(done));
      working.add(done);
    });
    return reply.code(202).send({ status: "accepted" });
  });
}

/** A key without its text. */
export function keyBody(key: ApiKey): Sent<typeof apiKey> {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    prefix: key.prefix,
    last4: key.last4,
    scopes: key.scopes,
    monthly_cap: key.monthlyCap,
    project_id: key.projectId,
    session_budget: key.sessionBudget,
    per_second: key.perSecond,
    ip_list: key.ipList,
    person: key.personId === null ? null : { id: key.personId, name: key.personName ?? "" },
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    revoked_reason: key.revokedReason,
    last_used_at: key.lastUsedAt,
    last_refused_at: key.lastRefusedAt,
  };
}

export function createdBody({ key, text }: CreatedKey): Sent<typeof createdKey> {
  return { ...keyBody(key), key: text };
}

/** Nobody may rotate or change a key with more rights than their own: rotation would give them its new text. */
function permitOf(request: FastifyRequest): Permit {
  const principal = principalOf(request);
  return (grant) => assertMayGrant(principal, grant);
}

function readRights(body: z.infer<typeof newKey>) {
  if (body.scopes && body.role) throw new Failure("ambiguous_parameter", { param: "role" });
  return {
    mode: body.mode,
    name: body.name,
    scopes: body.role ? roles[body.role] : body.scopes,
    monthlyCap: body.monthly_cap,
    projectId: body.project_id,
    sessionBudget: body.session_budget,
    perSecond: body.per_second,
    ipList: body.ip_list,
    expiresAt: body.expires_at,
    personId: body.person_id,
  };
}
