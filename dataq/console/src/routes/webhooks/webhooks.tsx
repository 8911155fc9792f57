import type { CreatedWebhook, Webhook } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import Plus from "~icons/lucide/plus";
import WebhookIcon from "~icons/lucide/webhook";
import { useMay } from "../../service/session.ts";
import { changeWebhook, deleteWebhook, rotateSecret, webhooksQuery } from "../../service/webhooks.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { NotAllowed } from "../allowed.tsx";
import { NewSecret } from "./new-secret.tsx";
import { Watches } from "./watches.tsx";
import { WebhookForm } from "./webhook-form.tsx";

type Doing =
  | { readonly what: "make" }
  | { readonly what: "change" | "rotate" | "remove"; readonly webhook: Webhook };

/** The account's endpoints for messages, and the questions that are asked again. */
export function Webhooks() {
  const t = useText();
  if (useMay("manage:webhooks")) return <ManagedWebhooks />;
  return (
    <>
      <PageHead title={t.pages.webhooks} about={t.webhooks.about} />
      <NotAllowed />
    </>
  );
}

function ManagedWebhooks() {
  const t = useText();
  const query = useQuery(webhooksQuery);
  const client = useQueryClient();
  const say = useToast();
  const [doing, setDoing] = useState<Doing | null>(null);
  const [made, setMade] = useState<CreatedWebhook | null>(null);
  // A further press of Enter would open another dialog above the one that shows the new secret.
  const start = (next: Doing) => {
    if (made === null) setDoing(next);
  };
  const done = (created?: CreatedWebhook) => {
    setDoing(null);
    if (created) setMade(created);
    void client.invalidateQueries({ queryKey: webhooksQuery.queryKey });
  };
  const make = (
    <Button kind="primary" icon={<Plus className="size-4" />} onClick={() => start({ what: "make" })}>
      {t.webhooks.make}
    </Button>
  );
  return (
    <>
      <PageHead title={t.pages.webhooks} about={t.webhooks.about} actions={make} />
      <div className="flex flex-col gap-6">
        <Panel isFlush>
          <Loaded query={query}>
            {({ data }) =>
              data.length === 0 ? (
                <Empty icon={<WebhookIcon className="size-5" />} title={t.webhooks.none}>
                  {t.webhooks.noneAbout}
                </Empty>
              ) : (
                <WebhookTable webhooks={data} onDo={start} onChanged={done} />
              )
            }
          </Loaded>
        </Panel>
        <Watches />
      </div>
      {(doing?.what === "make" || doing?.what === "change") && (
        <WebhookForm
          webhook={doing.what === "change" ? doing.webhook : undefined}
          onClose={() => setDoing(null)}
          onDone={done}
        />
      )}
      {doing?.what === "rotate" && (
        <Confirm
          kind="primary"
          title={t.webhooks.rotateTitle}
          about={t.webhooks.rotateAbout}
          action={t.webhooks.rotate}
          onConfirm={async () => done(await rotateSecret(doing.webhook.id))}
          onClose={() => setDoing(null)}
        />
      )}
      {doing?.what === "remove" && (
        <Confirm
          title={t.webhooks.removeTitle}
          about={t.webhooks.removeAbout}
          action={t.webhooks.remove}
          onConfirm={async () => {
            await deleteWebhook(doing.webhook.id);
            say(t.webhooks.removed);
            done();
          }}
          onClose={() => setDoing(null)}
        />
      )}
      {made && <NewSecret made={made} onClose={() => setMade(null)} />}
    </>
  );
}

function WebhookTable({
  webhooks,
  onDo,
  onChanged,
}: {
  readonly webhooks: readonly Webhook[];
  readonly onDo: (doing: Doing) => void;
  readonly onChanged: () => void;
}) {
  const t = useText();
  return (
    <Table
      label={t.pages.webhooks}
      rows={webhooks}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t.webhooks.url,
          className: "min-w-40 max-w-72",
          cell: (one) => (
            <Link
              to="/webhooks/$id"
              params={{ id: one.id }}
              className="block truncate font-medium text-accent underline-offset-4 hover:underline"
              title={one.url}
            >
              {one.url}
            </Link>
          ),
        },
        { name: t.webhooks.state, cell: (one) => <State webhook={one} /> },
        {
          name: t.webhooks.eventsName,
          isExtra: true,
          className: "max-w-64",
          cell: (one) => (
            <span className="text-soft">
              {one.events.map((event) => t.webhooks.events[event] ?? event).join(t.comma)}
            </span>
          ),
        },
        {
          name: t.actions,
          isWide: true,
          cell: (one) => (
            <span className="flex flex-wrap gap-1.5">
              <Button
                size="small"
                aria-label={`${one.enabled ? t.webhooks.disable : t.webhooks.enable}: ${one.url}`}
                onClick={() =>
                  void changeWebhook(one.id, { enabled: !one.enabled }).then(onChanged, onChanged)
                }
              >
                {one.enabled ? t.webhooks.disable : t.webhooks.enable}
              </Button>
              {(["change", "rotate", "remove"] as const).map((what) => (
                <Button
                  key={what}
                  size="small"
                  kind={what === "remove" ? "danger" : "plain"}
                  aria-label={`${t.webhooks[what]}: ${one.url}`}
                  onClick={() => onDo({ what, webhook: one })}
                >
                  {t.webhooks[what]}
                </Button>
              ))}
            </span>
          ),
        },
      ]}
    />
  );
}

function State({ webhook }: { readonly webhook: Webhook }) {
  const t = useText();
  return (
    <span className="flex flex-col items-start gap-1">
      <Badge tone={webhook.enabled ? "good" : "warn"}>
        {webhook.enabled ? t.webhooks.enabled : t.webhooks.disabled}
      </Badge>
      {webhook.disabled_reason && (
        <span className="text-xs text-bad">{t.webhooks.disabledReasons[webhook.disabled_reason]}</span>
      )}
    </span>
  );
}
