import { invalid } from "@dataq/contract";
import {
  changedWebhook,
  type createdWebhook,
  deliveriesQuery,
  type delivery,
  newWebhook,
  operatorEvents,
  type Sent,
  secretRotation,
  type WebhookEvent,
  type webhook,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import type { Account } from "../../accounts/account.ts";
import { type Delivery, listDeliveries, redeliver } from "../../webhooks/delivery-log.ts";
import type { Queue } from "../../webhooks/queue.ts";
import type { Webhook, Webhooks } from "../../webhooks/webhook.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

type ById = { Params: { id: string } };

/** The account's own endpoints for messages, and the log of what was sent to them. */
export function addWebhookRoutes(
  app: FastifyInstance,
  parts: HttpParts,
  { webhooks, queue }: { readonly webhooks: Webhooks; readonly queue: Queue },
): void {
  app.get("/v1/webhooks", async (request): Promise<{ data: Sent<typeof webhook>[] }> => {
    const { account } = principalOf(request);
    return { data: (await webhooks.list(account.id)).map(webhookBody) };
  });

  app.post("/v1/webhooks", async (request, reply): Promise<Sent<typeof createdWebhook>> => {
    const { account } = principalOf(request);
    const wanted = check(newWebhook, readJson(request));
    assertEvents(account, wanted.events);
    const made = await webhooks.create(account.id, wanted, authorOf(parts, request));
    queue.start();
    reply.code(201).header("cache-control", "no-store");
    return { ...webhookBody(made.webhook), secret: made.secret };
  });

  app.patch<ById>("/v1/webhooks/:id", async (request): Promise<Sent<typeof webhook>> => {
    const { account } = principalOf(request);
    const wanted = check(changedWebhook, readJson(request));
    assertEvents(account, wanted.events ?? []);
    return webhookBody(
      await webhooks.change(account.id, request.params.id, wanted, authorOf(parts, request)),
    );
  });

  app.delete<ById>("/v1/webhooks/:id", async (request, reply) => {
    const { account } = principalOf(request);
    await webhooks.remove(account.id, request.params.id, authorOf(parts, request));
    return reply.code(204).send();
  });

  app.post<ById>("/v1/webhooks/:id/rotate", async (request, reply): Promise<Sent<typeof createdWebhook>> => {
    const { account } = principalOf(request);
    const { grace_s } = check(secretRotation, readJson(request, { whenEmpty: {} }));
    const made = await webhooks.rotate(account.id, request.params.id, grace_s, authorOf(parts, request));
    reply.code(201).header("cache-control", "no-store");
    return { ...webhookBody(made.webhook), secret: made.secret };
  });

  app.get<ById>(
    "/v1/webhooks/:id/deliveries",
    async (request): Promise<{ data: Sent<typeof delivery>[]; next_cursor: string | null }> => {
      const { account } = principalOf(request);
      const { cursor, limit, state } = check(deliveriesQuery, request.query);
      const filter = { limit, before: cursor, state };
      const found = await listDeliveries(parts.database, account.id, request.params.id, filter);
      const last = found.at(-1);
      return {
        data: found.map(deliveryBody),
        next_cursor: found.length === limit && last ? String(last.place) : null,
      };
    },
  );

  app.post<{ Params: { id: string; message: string } }>(
    "/v1/webhooks/:id/deliveries/:message/redeliver",
    async (request, reply): Promise<Sent<typeof delivery>> => {
      const { account } = principalOf(request);
      const { id, message } = request.params;
      const sent = await redeliver(parts.database, account.id, id, message, authorOf(parts, request));
      queue.start();
      reply.code(202);
      return deliveryBody(sent);
    },
  );
}

function assertEvents({ role }: Pick<Account, "role">, events: readonly WebhookEvent[]): void {
  const denied = role === "admin" ? undefined : events.find((event) => operatorEvents.includes(event));
  if (denied !== undefined)
    throw invalid(
      "events",
      "choice",
      `${denied} is only for operators of the service`,
      "omit it",
      `${denied} 仅供运营方使用，请去掉`,
    );
}

function webhookBody(one: Webhook): Sent<typeof webhook> {
  return {
    id: one.id,
    url: one.url,
    events: one.events,
    enabled: one.enabled,
    disabled_reason: one.disabledReason,
    created_at: one.createdAt,
    old_secret_until: one.oldSecretUntil,
  };
}

function deliveryBody(one: Delivery): Sent<typeof delivery> {
  return {
    id: one.messageId,
    type: one.type,
    state: one.state,
    attempts: one.attempts,
    created_at: one.createdAt,
    last_attempt_at: one.lastAttemptAt,
    next_attempt_at: one.nextAttemptAt,
    status: one.status,
    error: one.error,
    answer: one.answer,
    payload: JSON.parse(one.body) as Record<string, unknown>,
  };
}
