import { changedWatch, type createdWatch, newWatch, type Sent, type watch } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { assertMayGrant, type Principal } from "../../accounts/principal.ts";
import { changeWatch, createWatch, listWatches, removeWatch, type Watch } from "../../watches/watch.ts";
import { check, readJson } from "../body.ts";
import { admitCall } from "../call-limits.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

type ById = { Params: { id: string } };

/** Questions that are asked again after every refresh of their data. */
export function addWatchRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;

  app.get("/v1/watches", async (request): Promise<{ data: Sent<typeof watch>[] }> => {
    const { account } = principalOf(request);
    return { data: (await listWatches(database, account.id, parts.clock())).map(watchBody) };
  });

  app.post("/v1/watches", async (request, reply): Promise<Sent<typeof createdWatch>> => {
    const principal = await admitCall(parts, request, reply);
    const { name, operation, params, monthly_limit } = check(newWatch, readJson(request));
    assertMaySpend(principal, monthly_limit);
    const wanted = { name, operation, params, monthlyLimit: monthly_limit };
    const made = await createWatch(parts, principal.account, wanted, authorOf(parts, request));
    reply.code(201);
    return { ...watchBody(made.watch), records: made.records, tokens: made.tokens };
  });

  app.patch<ById>("/v1/watches/:id", async (request): Promise<Sent<typeof watch>> => {
    const principal = principalOf(request);
    const { name, monthly_limit, enabled } = check(changedWatch, readJson(request));
    if (monthly_limit !== undefined || enabled) assertMaySpend(principal, monthly_limit ?? 1);
    const wanted = { name, monthlyLimit: monthly_limit, enabled };
    const { id } = request.params;
    return watchBody(await changeWatch(database, principal.account.id, id, wanted, authorOf(parts, request)));
  });

  app.delete<ById>("/v1/watches/:id", async (request, reply) => {
    const { account } = principalOf(request);
    await removeWatch(database, account.id, request.params.id, authorOf(parts, request));
    return reply.code(204).send();
  });
}

/** A watch spends like a key with this cap, so only somebody who may create such a key may create it. */
function assertMaySpend(principal: Principal, monthlyCap: number): void {
  assertMayGrant(
    principal,
    {
      mode: "live",
      scopes: ["data:query"],
      monthlyCap,
      projectId: null,
      sessionBudget: null,
      perSecond: null,
      ipList: [],
      expiresAt: null,
    },
    "monthly_limit",
  );
}

function watchBody(one: Watch): Sent<typeof watch> {
  return {
    id: one.id,
    name: one.name,
    operation: one.operation,
    params: one.params,
    monthly_limit: one.monthlyLimit,
    spent: one.spent,
    enabled: one.enabled,
    stopped_reason: one.stoppedReason,
    last_error: one.lastError,
    last_asked_at: one.lastAskedAt,
    created_at: one.createdAt,
  };
}
