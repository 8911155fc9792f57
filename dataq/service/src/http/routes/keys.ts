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
import type { Author } from "../../accounts/audit.ts";
import type { ApiKey, Principal } from "../../accounts/key.ts";
import { roles, type Scope } from "../../accounts/scope.ts";
import { admit, type HttpParts } from "../app.ts";
import { check, readJson } from "../body.ts";
import { scrub } from "../scrub.ts";

/** Keys of one's own account. Their text is in the answer that makes them, and nowhere else. */
export function addKeyRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.get("/v1/keys", async (request): Promise<{ data: Sent<typeof apiKey>[] }> => {
    const { account } = await admit(parts, request, "manage:keys");
    return { data: (await parts.keys.list(account.id)).map(keyBody) };
  });

  app.post("/v1/keys", async (request, reply): Promise<Sent<typeof createdKey>> => {
    const principal = await admit(parts, request, "manage:keys");
    const wanted = readRights(check(newKey, readJson(request, {})), principal);
    const made = await parts.keys.create(principal.account.id, wanted, authorOf(parts, request));
    reply.code(201).header("cache-control", "no-store");
    return { ...keyBody(made.key), key: made.text };
  });

  app.patch<{ Params: { id: string } }>("/v1/keys/:id", async (request): Promise<Sent<typeof apiKey>> => {
    const principal = await admit(parts, request, "manage:keys");
    const wanted = readRights(check(changedKey, readJson(request)), principal);
    await refuseStronger(parts, principal, request.params.id);
    return keyBody(
      await parts.keys.change(principal.account.id, request.params.id, wanted, authorOf(parts, request)),
    );
  });

  app.post<{ Params: { id: string } }>(
    "/v1/keys/:id/rotate",
    async (request, reply): Promise<Sent<typeof createdKey>> => {
      const principal = await admit(parts, request, "manage:keys");
      const { account } = principal;
      const { grace_s } = check(rotation, readJson(request, {}));
      await refuseStronger(parts, principal, request.params.id);
      const made = await parts.keys.rotate(account.id, request.params.id, grace_s, authorOf(parts, request));
      reply.code(201).header("cache-control", "no-store");
      return { ...keyBody(made.key), key: made.text };
    },
  );

  app.delete<{ Params: { id: string } }>("/v1/keys/:id", async (request, reply) => {
    const { account } = await admit(parts, request, "manage:keys");
    await parts.keys.revoke(account.id, request.params.id, "revoked", authorOf(parts, request));
    return reply.code(204).send();
  });

  // For scanners: takes any text without a key of one's own, and never says whether it was one of ours.
  app.post("/v1/keys/leak-report", async (request, reply) => {
    const { key } = check(leakReport, readJson(request));
    const author = { ...authorOf(parts, request), actor: "leak-report" };
    const leaked = await parts.keys.reportLeak(key.trim(), author);
    // Not waited for: how long the answer takes must not tell whether it was a key of ours.
    if (leaked)
      void parts.people
        .tellOfLeak(leaked.accountId, leaked)
        .catch((error: Error) =>
          parts.logger.warn({ err: error.message }, "an owner was not told of a leak"),
        );
    return reply.code(202).send({ status: "accepted" });
  });
}

/** Who changes something through this request. */
export function authorOf(parts: Pick<HttpParts, "clock">, request: FastifyRequest): Author {
  return {
    actor: request.notes.principal?.key.id ?? "nobody",
    now: parts.clock(),
    ip: request.ip,
    userAgent: scrub(request.headers["user-agent"] ?? "") || undefined,
    requestId: request.id,
  };
}

/** A key as it may be shown. */
export function keyBody(key: ApiKey): Sent<typeof apiKey> {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    prefix: key.prefix,
    last4: key.last4,
    scopes: key.scopes,
    monthly_cap: key.monthlyCap,
    per_second: key.perSecond,
    ip_list: key.ipList,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    revoked_reason: key.revokedReason,
    last_used_at: key.lastUsedAt,
    last_refused_at: key.lastRefusedAt,
  };
}

/** Who may not do something with their own key does not get a key that may: rotation gives its new text. */
async function refuseStronger(parts: HttpParts, { account, key }: Principal, id: string): Promise<void> {
  const target = await parts.keys.find(account.id, id);
  const excess = target.scopes.find((scope) => !key.scopes.includes(scope));
  if (excess) throw new Failure("scope_denied", { scope: excess });
}

/** Nobody gives away a right that they do not have. */
function readRights(body: z.infer<typeof newKey>, principal: Principal) {
  if (body.scopes && body.role) throw new Failure("ambiguous_parameter", { param: "role" });
  const wanted: readonly Scope[] | undefined = body.role ? roles[body.role] : body.scopes;
  const excess = wanted?.find((scope) => !principal.key.scopes.includes(scope));
  if (excess) throw new Failure("scope_denied", { scope: excess, param: "scopes" });
  return {
    mode: body.mode,
    name: body.name,
    scopes: wanted,
    monthlyCap: body.monthly_cap,
    perSecond: body.per_second,
    ipList: body.ip_list,
    expiresAt: body.expires_at,
  };
}
