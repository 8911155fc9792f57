import type { UsageRow } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import ChartColumn from "~icons/lucide/chart-column";
import Download from "~icons/lucide/download";
import { keysQuery } from "../../service/keys.ts";
import { chinaDay, usageQuery } from "../../service/money.ts";
import { projectsQuery } from "../../service/projects.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { DayRange } from "../../ui/day-range.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { PageHead, Panel, Stat, Stats } from "../../ui/panel.tsx";
import { Empty, Loaded, Skeleton } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { OpenPlayground } from "../playground/open-playground.tsx";
import { CodeName, useCodeName } from "./code-name.tsx";
import { type Part, partOfRow } from "./part.ts";

const DayChart = lazy(() => import("./day-chart.tsx").then((module) => ({ default: module.DayChart })));

/** Usage by day and by operation, key or code of the error. Totals match the ledger. */
export function Usage() {
  const t = useText();
  const [from, setFrom] = useState(chinaDay(29));
  const [to, setTo] = useState(chinaDay());
  const [part, setPart] = useState<Part>("operation");
  const [measure, setMeasure] = useState<"tokens" | "calls">("tokens");
  const isRight = from !== "" && to !== "" && from <= to;
  const query = useQuery({ ...usageQuery(from, to, `day,${part}`), enabled: isRight });
  const nameOf = usePartName(part);
  const csv = `/v1/usage.csv?${new URLSearchParams({ from, to, group_by: "day,operation,key,project,code" })}`;
  return (
    <>
      <PageHead
        title={t.pages.usage}
        about={t.usage.about}
        actions={
          <a href={csv} download className={buttonClass()}>
            <Download className="size-4" />
            {t.csv}
          </a>
        }
      />
      <div className="mb-5 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
        <DayRange from={from} to={to} onFrom={setFrom} onTo={setTo} />
        <Field label={t.usage.by}>
          {(attributes) => (
            <Select
              {...attributes}
              value={part}
              onChange={(event) => {
                setPart(event.target.value as Part);
                // Errors cost nothing, so only their number says something.
                if (event.target.value === "code") setMeasure("calls");
              }}
            >
              <option value="operation">{t.requests.operation}</option>
              <option value="key">{t.requests.key}</option>
              <option value="project">{t.projects.one}</option>
              <option value="code">{t.requests.result}</option>
            </Select>
          )}
        </Field>
        <Field label={t.usage.measure}>
          {(attributes) => (
            <Select
              {...attributes}
              value={measure}
              onChange={(event) => setMeasure(event.target.value as "tokens" | "calls")}
            >
              <option value="tokens">{t.usage.spending}</option>
              <option value="calls">{t.usage.calls}</option>
            </Select>
          )}
        </Field>
      </div>
      {!isRight ? (
        <Panel>
          <Empty title={t.usage.wrongRange} />
        </Panel>
      ) : (
        <Loaded query={query} lines={8}>
          {({ data }) =>
            data.length === 0 ? (
              <Panel>
                <Empty
                  icon={<ChartColumn className="size-5" />}
                  title={t.usage.none}
                  action={<OpenPlayground />}
                >
                  {t.usage.noneAbout}
                </Empty>
              </Panel>
            ) : (
              <>
                <Totals rows={data} />
                <Panel title={t.usage.chart} className="mt-5">
                  <Suspense fallback={<Skeleton lines={6} />}>
                    <DayChart rows={data} part={part} nameOf={nameOf} from={from} to={to} measure={measure} />
                  </Suspense>
                </Panel>
                <Panel title={t.usage.table} className="mt-5" isFlush>
                  <Parts rows={data} part={part} nameOf={nameOf} />
                </Panel>
              </>
            )
          }
        </Loaded>
      )}
    </>
  );
}

function usePartName(part: Part): (id: string) => string {
  const t = useText();
  const operationName = useOperationName();
  const codeName = useCodeName();
  const { data: keys } = useQuery(keysQuery);
  const { data: projects } = useQuery({ ...projectsQuery, enabled: part === "project" });
  if (part === "code") return codeName;
  if (part === "project")
    return (id) =>
      id === "" ? t.projects.outside : (projects?.data.find((one) => one.id === id)?.name ?? id);
  if (part === "operation") return (id) => (id === "" ? "–" : operationName(id));
  return (id) => {
    const key = keys?.data.find((one) => one.id === id);
    if (key) return key.name || `${key.prefix}…${key.last4}`;
    return id.startsWith("user_") ? t.requests.console : id || "–";
  };
}

function Totals({ rows }: { readonly rows: readonly UsageRow[] }) {
  const t = useText();
  const format = useFormat();
  const sum = (name: "calls" | "billed_calls" | "cached_calls" | "tokens") =>
    rows.reduce((total, row) => total + row[name], 0);
  const billed = sum("billed_calls");
  return (
    <Stats>
      <Stat
        name={t.usage.spending}
        value={format.yuan(sum("tokens"))}
        note={t.amount(format.tokens(sum("tokens")))}
      />
      <Stat name={t.usage.calls} value={format.number(sum("calls"))} />
      <Stat name={t.usage.free} value={format.number(sum("calls") - billed)} note={t.usage.freeNote} />
      <Stat
        name={t.overview.cacheShare}
        value={billed > 0 ? format.percent(sum("cached_calls") / billed) : "–"}
        note={billed > 0 && t.overview.cacheNote(format.number(sum("cached_calls")), format.number(billed))}
      />
    </Stats>
  );
}

function Parts({
  rows,
  part,
  nameOf,
}: {
  readonly rows: readonly UsageRow[];
  readonly part: Part;
  readonly nameOf: (id: string) => string;
}) {
  const t = useText();
  const format = useFormat();
  const sums = new Map<
    string,
    { id: string; calls: number; billed: number; cached: number; tokens: number }
  >();
  for (const row of rows) {
    const id = partOfRow(row, part);
    const sum = sums.get(id) ?? { id, calls: 0, billed: 0, cached: 0, tokens: 0 };
    sum.calls += row.calls;
    sum.billed += row.billed_calls;
    sum.cached += row.cached_calls;
    sum.tokens += row.tokens;
    sums.set(id, sum);
  }
  return (
    <Table
      label={t.usage.table}
      rows={[...sums.values()].sort((a, b) => b.tokens - a.tokens || b.calls - a.calls)}
      keyOf={({ id }) => id}
      columns={[
        {
          name: {
            operation: t.requests.operation,
            key: t.requests.key,
            project: t.projects.one,
            code: t.requests.result,
          }[part],
          className: "min-w-40 max-w-72",
          cell: ({ id }) =>
            part === "code" ? <CodeName code={id} /> : <span className="block truncate">{nameOf(id)}</span>,
        },
        { name: t.usage.calls, isNumber: true, cell: ({ calls }) => format.number(calls) },
        { name: t.usage.billed, isNumber: true, cell: ({ billed }) => format.number(billed) },
        { name: t.usage.cached, isNumber: true, isExtra: true, cell: ({ cached }) => format.number(cached) },
        { name: t.usage.tokens, isNumber: true, cell: ({ tokens }) => format.tokens(tokens) },
        { name: t.invoices.yuan, isNumber: true, isExtra: true, cell: ({ tokens }) => format.yuan(tokens) },
      ]}
    />
  );
}
