import {
  type CreatedWebhook,
  operatorEvents,
  type Webhook,
  type WebhookEvent,
  webhookEvents,
} from "@dataq/contract/wire";
import { type FormEvent, useState } from "react";
import { useSignedIn } from "../../service/session.ts";
import { changeWebhook, createWebhook } from "../../service/webhooks.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field, Input } from "../../ui/field.tsx";
import { useOnce } from "../../ui/once.ts";
import { Failure } from "../../ui/states.tsx";

/** Creates or edits a webhook. */
export function WebhookForm({
  webhook,
  onClose,
  onDone,
}: {
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
  readonly onDone: (made?: CreatedWebhook) => void;
}) {
  const t = useText();
  const { role } = useSignedIn();
  const offered = webhookEvents.filter((event) => role === "admin" || !operatorEvents.includes(event));
  const [events, setEvents] = useState<readonly WebhookEvent[]>(webhook?.events ?? ["balance.low"]);
  const { mutate, isPending, error } = useOnce({
    mutationFn: async (url: string) => {
      const wishes = { url, events };
      if (!webhook) return createWebhook(wishes);
      await changeWebhook(webhook.id, wishes);
      return undefined;
    },
    onSuccess: onDone,
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(String(new FormData(event.currentTarget).get("url") ?? "").trim());
  };
  return (
    <Dialog isOpen onClose={onClose} title={webhook ? t.webhooks.changeTitle : t.webhooks.make}>
      <form className="flex flex-col gap-4" onSubmit={send}>
        <Field label={t.webhooks.url} hint={t.webhooks.urlHint}>
          {(attributes) => (
            <Input
              {...attributes}
              name="url"
              type="url"
              required
              maxLength={2000}
              placeholder="https://shop.example/dataq"
              defaultValue={webhook?.url ?? ""}
              autoComplete="off"
            />
          )}
        </Field>
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{t.webhooks.eventsName}</legend>
          {offered.map((event) => (
            <Checkbox
              key={event}
              label={t.webhooks.events[event]}
              hint={<code className="font-mono">{event}</code>}
              checked={events.includes(event)}
              onChange={({ target }) =>
                setEvents(target.checked ? [...events, event] : events.filter((one) => one !== event))
              }
            />
          ))}
        </fieldset>
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" kind="primary" isBusy={isPending} disabled={events.length === 0}>
            {webhook ? t.save : t.webhooks.make}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
