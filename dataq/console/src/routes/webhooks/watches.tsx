import type { Watch } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import Eye from "~icons/lucide/eye";
import Plus from "~icons/lucide/plus";
import { changeWatch, deleteWatch, watchesQuery } from "../../service/webhooks.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { WatchForm } from "./watch-form.tsx";

/** Questions that are asked again after every refresh of their data. */
export function Watches() {
  const t = useText();
  const query = useQuery(watchesQuery);
  const client = useQueryClient();
  const [isMaking, setMaking] = useState(false);
  const [removed, setRemoved] = useState<Watch | null>(null);
  const changed = () => {
    setMaking(false);
    void client.invalidateQueries({ queryKey: watchesQuery.queryKey });
  };
  const make = (
    <Button icon={<Plus className="size-4" />} onClick={() => setMaking(true)}>
      {t.watches.make}
    </Button>
  );
  return (
    <Panel title={t.watches.title} about={t.watches.about} actions={make} isFlush>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={<Eye className="size-5" />} title={t.watches.none}>
              {t.watches.noneAbout}
            </Empty>
          ) : (
            <WatchTable watches={data} onChanged={changed} onRemove={setRemoved} />
          )
        }
      </Loaded>
      {isMaking && <WatchForm onClose={() => setMaking(false)} onDone={changed} />}
      {removed && (
        <Confirm
          title={t.watches.removeTitle(removed.name || removed.operation)}
          about={t.watches.removeAbout}
          action={t.webhooks.remove}
          onConfirm={async () => {
            await deleteWatch(removed.id);
            changed();
          }}
          onClose={() => setRemoved(null)}
        />
      )}
    </Panel>
  );
}

function WatchTable({
  watches,
  onChanged,
  onRemove,
}: {
  readonly watches: readonly Watch[];
  readonly onChanged: () => void;
  readonly onRemove: (watch: Watch) => void;
}) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  return (
    <Table
      label={t.watches.title}
      rows={watches}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t.watches.question,
          className: "min-w-40 max-w-72",
          cell: (one) => (
            <>
              <span className="block truncate font-medium" title={one.name}>
                {one.name || nameOf(one.operation)}
              </span>
              <span className="block truncate text-xs text-faint">{Object.values(one.params).join(" ")}</span>
            </>
          ),
        },
        {
          name: t.webhooks.state,
          cell: (one) => {
            const problem = one.stopped_reason ?? one.last_error;
            return (
              <span className="flex flex-col items-start gap-1">
                <Badge tone={one.enabled ? "good" : "warn"}>
                  {one.enabled ? t.webhooks.enabled : t.webhooks.disabled}
                </Badge>
                {problem && (
                  <span className="text-xs text-bad">
                    {t.watches.problems[problem as keyof typeof t.watches.problems] ?? problem}
                  </span>
                )}
              </span>
            );
          },
        },
        {
          name: t.watches.spent,
          isNumber: true,
          cell: (one) => `${format.tokens(one.spent)} / ${format.tokens(one.monthly_limit)}`,
        },
        {
          name: t.watches.lastAsked,
          isExtra: true,
          cell: (one) => (one.last_asked_at ? format.ago(one.last_asked_at) : "–"),
        },
        {
          name: t.actions,
          isWide: true,
          cell: (one) => (
            <span className="flex flex-wrap gap-1.5">
              <Button
                size="small"
                aria-label={`${one.enabled ? t.webhooks.disable : t.webhooks.enable}: ${one.name || one.id}`}
                onClick={() => void changeWatch(one.id, { enabled: !one.enabled }).then(onChanged, onChanged)}
              >
                {one.enabled ? t.webhooks.disable : t.webhooks.enable}
              </Button>
              <Button
                size="small"
                kind="danger"
                aria-label={`${t.webhooks.remove}: ${one.name || one.id}`}
                onClick={() => onRemove(one)}
              >
                {t.webhooks.remove}
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}
