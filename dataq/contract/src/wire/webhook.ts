import { z } from "zod";
import type { Received } from "./answer.ts";
import { deliveryStates, disabledReasons, webhookEvents } from "./choices.ts";
import { moment } from "./moment.ts";
import { pageLimit } from "./page.ts";

const address = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((text) => !/^https?:\/\/[^/?#]*@/i.test(text), {
    error: "must not contain a user name or password",
    params: { fix: "send a URL without credentials", fixZh: "请去掉 URL 中的用户名和密码" },
  })
  .meta({
    description: "Where messages are posted; https to a public address, unless the operator allows others",
  });
const events = z
  .array(z.enum(webhookEvents))
  .min(1)
  .transform((chosen) => [...new Set(chosen)])
  .meta({
    description:
      "Events to send; `import.done`, `refresh.done`, `vendor.failing`, `payments.failing` and `customer.charged_back` are for operators",
  });

/** An endpoint that gets signed messages. Its secret is in the answers that create or rotate it, and nowhere else. */
export const webhook = z.strictObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(disabledReasons)
    .nullable()
    .meta({ description: "Why the service disabled it; null if it is enabled or was disabled by hand" }),
  created_at: moment,
  old_secret_until: moment
    .nullable()
    .meta({ description: "Until then, messages are also signed with the secret before the rotation" }),
});
export type Webhook = Received<typeof webhook>;

export const createdWebhook = webhook.extend({
  secret: z.string().meta({ description: "Starts with `whsec_`; verifies signatures; shown once" }),
});
export type CreatedWebhook = Received<typeof createdWebhook>;

export const newWebhook = z.strictObject({ url: address, events, enabled: z.boolean().optional() });
export type NewWebhook = Received<typeof newWebhook>;

/** Omitted fields keep their values. */
export const changedWebhook = newWebhook.partial();
export type ChangedWebhook = Received<typeof changedWebhook>;

export const secretRotation = z.strictObject({
  grace_s: z
    .number()
    .int()
    .min(0)
    .max(604_800)
    .default(86_400)
    .meta({ description: "How long messages are signed with both secrets, in seconds" }),
});

/** One message to one endpoint. */
export const delivery = z.strictObject({
  id: z.string().meta({ description: "The header webhook-id: the same for every attempt" }),
  type: z.enum(webhookEvents),
  state: z.enum(deliveryStates),
  attempts: z.number().int(),
  created_at: moment,
  last_attempt_at: moment.nullable(),
  next_attempt_at: moment.nullable().meta({ description: "Null unless another attempt will follow" }),
  status: z.number().int().nullable().meta({ description: "HTTP status of the last attempt" }),
  error: z.string().nullable().meta({ description: "Why the last attempt got no HTTP answer" }),
  answer: z.string().nullable().meta({ description: "The start of the last answer, up to 1,000 characters" }),
  payload: z
    .record(z.string(), z.unknown())
    .meta({ description: "The body: `type`, `timestamp` and `data`" }),
});
export type Delivery = Received<typeof delivery>;

export const deliveriesQuery = z.strictObject({
  cursor: z.coerce.number().int().positive().optional(),
  limit: pageLimit,
  state: z.enum(deliveryStates).optional(),
});
