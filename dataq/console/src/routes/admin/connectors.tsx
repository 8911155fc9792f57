import type { ConnectorTrial } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import PlugZap from "~icons/lucide/plug-zap";
import { connectorsQuery, testConnector } from "../../service/datasets.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { useOnce } from "../../ui/once.ts";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Empty, Failure, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";

/** The contracts with vendors. A button tests each vendor with one call. */
export function Connectors() {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const connectors = useQuery(connectorsQuery);
  const [trial, setTrial] = useState<ConnectorTrial>();
  const { mutate, isPending, error } = useOnce({ mutationFn: testConnector, onSuccess: setTrial });
  return (
    <Panel title={t.datasets.connectors} about={t.datasets.connectorsAbout} className="mt-5" isFlush>
      {error && <Failure error={error} />}
      <Loaded query={connectors}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={<PlugZap className="size-5" />} title={t.datasets.noConnectors} />
          ) : (
            <Table
              label={t.datasets.connectors}
              rows={data}
              keyOf={({ operation }) => operation}
              columns={[
                { name: t.requests.operation, cell: ({ operation }) => nameOf(operation) },
                { name: t.datasets.vendor, cell: ({ vendor }) => vendor },
                { name: t.datasets.calls, isNumber: true, cell: ({ calls }) => format.number(calls) },
                {
                  name: t.datasets.lastFailure,
                  isWide: true,
                  cell: ({ last_failure }) => last_failure ?? "–",
                },
                {
                  name: t.datasets.test,
                  cell: ({ operation }) => (
                    <Button isBusy={isPending} onClick={() => mutate(operation)}>
                      {t.datasets.test}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {trial && <Trial trial={trial} onClose={() => setTrial(undefined)} />}
    </Panel>
  );
}

function Trial({ trial, onClose }: { readonly trial: ConnectorTrial; readonly onClose: () => void }) {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const { request, fields, status, ms, answer } = trial;
  const why = language === "zh" ? trial.why_zh : trial.why;
  const isGood = ["record", "records", "not_found"].includes(trial.outcome);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Dialog isOpen isWide onClose={onClose} title={trial.vendor} about={trial.operation}>
      <div className="flex min-w-0 flex-col gap-4">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={isGood ? "good" : "bad"}>{t.datasets.outcomes[trial.outcome]}</Badge>
          {why}
        </p>
        <section>
          <h3 className="text-sm font-semibold">{t.datasets.request}</h3>
          <Text label={t.datasets.request}>
            {[`${request.method} ${request.url}`, ...headers, request.body ?? ""].join("\n").trim()}
          </Text>
        </section>
        <section>
          <h3 className="text-sm font-semibold">
            {t.datasets.answer} {status !== null && `(${status}, ${format.number(ms)} ms)`}
          </h3>
          <Text label={t.datasets.answer}>{answer ?? "–"}</Text>
        </section>
        {fields.length > 0 && (
          <Table
            label={t.datasets.fields}
            rows={fields}
            keyOf={({ field }) => field}
            columns={[
              { name: t.datasets.field, cell: ({ field }) => <code className="text-xs">{field}</code> },
              { name: t.datasets.path, cell: ({ path }) => <code className="text-xs">{path ?? "–"}</code> },
              { name: t.datasets.found, cell: ({ found }) => <Value value={found} /> },
              {
                name: t.datasets.value,
                cell: ({ value, problem, problem_zh }) =>
                  problem === null ? (
                    <Value value={value} />
                  ) : (
                    <span className="text-bad">{language === "zh" ? problem_zh : problem}</span>
                  ),
              },
            ]}
          />
        )}
      </div>
    </Dialog>
  );
}

function Text({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <ScrollBox label={label} className="mt-1 max-h-48 overflow-auto rounded-md bg-sunken p-3">
      <pre className="font-mono text-xs whitespace-pre-wrap wrap-anywhere">{children}</pre>
    </ScrollBox>
  );
}

function Value({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span className="text-faint">–</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return <span className="text-xs wrap-anywhere">{text.length > 200 ? `${text.slice(0, 200)}…` : text}</span>;
}
