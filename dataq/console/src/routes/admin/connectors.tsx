import type { ConnectorTrial } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import PlugZap from "~icons/lucide/plug-zap";
import { connectorsQuery, disconnectVendor, testConnector, vendorsQuery } from "../../service/vendors.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TOKENS_PER_FEN, TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { useOnce } from "../../ui/once.ts";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Empty, Failure, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { VendorForm } from "./vendor-form.tsx";

/** The contracts with vendors: what they answer and cost, a test of each operation, and a form for one more. */
export function Connectors() {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const client = useQueryClient();
  const connectors = useQuery(connectorsQuery);
  const [trial, setTrial] = useState<ConnectorTrial>();
  const { mutate, isPending, error } = useOnce({ mutationFn: testConnector, onSuccess: setTrial });
  const changed = async () => {
    await client.invalidateQueries({ queryKey: connectorsQuery.queryKey });
    await client.invalidateQueries({ queryKey: vendorsQuery.queryKey });
  };
  const removal = useOnce({ mutationFn: disconnectVendor, onSuccess: changed });
  return (
    <>
      <Panel title={t.vendors.title} about={t.vendors.about} className="mt-5" isFlush>
        {(error ?? removal.error) && <Failure error={error ?? removal.error} />}
        <Loaded query={connectors}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={<PlugZap className="size-5" />} title={t.vendors.none} />
            ) : (
              <Table
                label={t.vendors.title}
                rows={data}
                keyOf={({ name }) => name}
                columns={[
                  { name: t.vendors.vendor, cell: ({ vendor }) => vendor },
                  {
                    name: t.vendors.tests,
                    isWide: true,
                    cell: ({ name, operations }) => (
                      <span className="flex flex-wrap gap-1.5">
                        {operations.map((operation) => (
                          <Button
                            key={operation}
                            size="small"
                            isBusy={isPending}
                            onClick={() => mutate({ operation, contract: name })}
                          >
                            {t.vendors.test(nameOf(operation))}
                          </Button>
                        ))}
                      </span>
                    ),
                  },
                  {
                    name: t.vendors.requests,
                    isNumber: true,
                    cell: ({ requests }) => format.number(requests),
                  },
                  {
                    name: t.vendors.cost,
                    isNumber: true,
                    cell: ({ cost_fen }) => format.yuan(Math.round(cost_fen) * TOKENS_PER_FEN),
                  },
                  {
                    name: t.vendors.balance,
                    isNumber: true,
                    cell: ({ balance_fen, stated }) => (
                      <>
                        {balance_fen === null ? "–" : format.yuan(Math.round(balance_fen) * TOKENS_PER_FEN)}
                        {stated && (
                          <span className="block text-xs text-soft">
                            {t.vendors.stated(
                              stated.unit === "requests"
                                ? t.vendors.requestsLeft(format.number(stated.amount))
                                : format.yuan(
                                    stated.amount *
                                      (stated.unit === "fen" ? TOKENS_PER_FEN : TOKENS_PER_YUAN),
                                  ),
                              format.moment(stated.at),
                            )}
                          </span>
                        )}
                      </>
                    ),
                  },
                  {
                    name: t.vendors.lastFailure,
                    isWide: true,
                    cell: ({ last_failure, paused_until, paused_why, is_out_of_money }) =>
                      paused_until === null
                        ? (last_failure ?? "–")
                        : `${is_out_of_money ? t.vendors.outOfMoney : ""}${t.vendors.paused(format.moment(paused_until))} ${paused_why ?? ""}`,
                  },
                  {
                    name: t.actions,
                    cell: ({ name }) => (
                      <Button size="small" isBusy={removal.isPending} onClick={() => removal.mutate(name)}>
                        {t.vendors.remove}
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
      <VendorForm onConnected={changed} onTrial={setTrial} />
    </>
  );
}

function Trial({ trial, onClose }: { readonly trial: ConnectorTrial; readonly onClose: () => void }) {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const { exchanges, fields } = trial;
  const why = language === "zh" ? trial.why_zh : trial.why;
  const isGood = ["record", "records", "not_found"].includes(trial.outcome);
  return (
    <Dialog isOpen isWide onClose={onClose} title={trial.vendor} about={trial.operation}>
      <div className="flex min-w-0 flex-col gap-4">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={isGood ? "good" : "bad"}>{t.vendors.outcomes[trial.outcome]}</Badge>
          {why}
        </p>
        {exchanges.map(({ request, status, ms, answer }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of the conversation is its identity.
          <div key={place} className="flex min-w-0 flex-col gap-4">
            <section>
              <h3 className="text-sm font-semibold">{t.vendors.request}</h3>
              <Text label={t.vendors.request}>
                {[
                  `${request.method} ${request.url}`,
                  ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
                  request.body ?? "",
                ]
                  .join("\n")
                  .trim()}
              </Text>
            </section>
            <section>
              <h3 className="text-sm font-semibold">
                {t.vendors.answer} {status !== null && `(${status}, ${format.number(ms)} ms)`}
              </h3>
              <Text label={t.vendors.answer}>{answer ?? "–"}</Text>
            </section>
          </div>
        ))}
        {fields.length > 0 && (
          <Table
            label={t.vendors.fields}
            rows={fields}
            keyOf={({ field }) => field}
            columns={[
              { name: t.vendors.field, cell: ({ field }) => <code className="text-xs">{field}</code> },
              { name: t.vendors.path, cell: ({ path }) => <code className="text-xs">{path ?? "–"}</code> },
              { name: t.vendors.found, cell: ({ found }) => <Value value={found} /> },
              {
                name: t.vendors.value,
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
