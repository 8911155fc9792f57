import type { Delivery } from "@dataq/contract/wire";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { deliveriesQuery, redeliver, webhooksQuery } from "../../service/webhooks.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useFormat } from "../../ui/format.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { useOnce } from "../../ui/once.ts";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loaded } from "../../ui/states.tsx";
import { Facts, Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";

/** The messages of one webhook, newest first. */
export function Deliveries() {
  const t = useText();
  const { id } = useParams({ from: "/shell/webhooks/$id" });
  const webhooks = useQuery(webhooksQuery);
  const query = useInfiniteQuery(deliveriesQuery(id));
  const [shown, setShown] = useState<Delivery | null>(null);
  const url = webhooks.data?.data.find((one) => one.id === id)?.url ?? "";
  return (
    <>
      <PageHead title={t.webhooks.deliveries} about={url} />
      <Panel isFlush>
        <Loaded query={query}>
          {({ pages }) => {
            const rows = pages.flatMap(({ data }) => data);
            return rows.length === 0 ? (
              <Empty title={t.webhooks.noDeliveries}>{t.webhooks.noDeliveriesAbout}</Empty>
            ) : (
              <>
                <DeliveryTable rows={rows} webhookId={id} onShow={setShown} />
                <MoreRows query={query} />
              </>
            );
          }}
        </Loaded>
      </Panel>
      {shown && <Message delivery={shown} onClose={() => setShown(null)} />}
    </>
  );
}

const tones = { waiting: "accent", delivered: "good", failed: "bad" } as const;

function DeliveryTable({
  rows,
  webhookId,
  onShow,
}: {
  readonly rows: readonly Delivery[];
  readonly webhookId: string;
  readonly onShow: (delivery: Delivery) => void;
}) {
  const t = useText();
  const format = useFormat();
  const client = useQueryClient();
  const say = useToast();
  const { mutate, isPending, error, variables } = useOnce({
    mutationFn: (message: string) => redeliver(webhookId, message),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: deliveriesQuery(webhookId).queryKey });
      say(t.webhooks.sentAgain);
    },
  });
  return (
    <>
      {error && (
        <div className="p-4">
          <Failure error={error} />
        </div>
      )}
      <Table
        label={t.webhooks.deliveries}
        rows={rows}
        keyOf={(one) => one.id}
        columns={[
          {
            name: t.webhooks.event,
            cell: (one) => (
              <>
                <span className="block font-medium">{t.webhooks.events[one.type] ?? one.type}</span>
                <span className="tabular text-xs whitespace-nowrap text-faint">
                  {format.moment(one.created_at)}
                </span>
              </>
            ),
          },
          {
            name: t.webhooks.state,
            cell: (one) => <Badge tone={tones[one.state]}>{t.webhooks.states[one.state]}</Badge>,
          },
          { name: t.webhooks.attempts, isNumber: true, cell: (one) => format.number(one.attempts) },
          {
            name: t.webhooks.answer,
            className: "max-w-60",
            cell: (one) => (
              <>
                <span className="block truncate" title={one.error ?? ""}>
                  {one.status ?? one.error ?? "–"}
                </span>
                {one.next_attempt_at && one.attempts > 0 && (
                  <span className="tabular block text-xs text-faint">
                    {t.webhooks.next(format.moment(one.next_attempt_at))}
                  </span>
                )}
              </>
            ),
          },
          {
            name: t.actions,
            isWide: true,
            cell: (one) => (
              <span className="flex flex-wrap gap-1.5">
                <Button size="small" aria-label={`${t.webhooks.show}: ${one.id}`} onClick={() => onShow(one)}>
                  {t.webhooks.show}
                </Button>
                <Button
                  size="small"
                  aria-label={`${t.webhooks.redeliver}: ${one.id}`}
                  isBusy={isPending && variables === one.id}
                  onClick={() => mutate(one.id)}
                >
                  {t.webhooks.redeliver}
                </Button>
              </span>
            ),
          },
        ]}
      />
    </>
  );
}

function Message({ delivery, onClose }: { readonly delivery: Delivery; readonly onClose: () => void }) {
  const t = useText();
  return (
    <Dialog isOpen onClose={onClose} title={t.webhooks.events[delivery.type] ?? delivery.type} isWide>
      <Facts
        facts={[
          ["webhook-id", <code key="id">{delivery.id}</code>],
          [
            t.webhooks.answer,
            <span key="answer" className="whitespace-pre-wrap">
              {[delivery.status, delivery.error, delivery.answer].filter(Boolean).join("\n") || "–"}
            </span>,
          ],
        ]}
      />
      <div className="mt-4">
        <JsonTree value={delivery.payload} />
      </div>
    </Dialog>
  );
}
