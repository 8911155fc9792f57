import type { Job, NewImport } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { jobsQuery } from "../../service/admin.ts";
import { datasetsQuery, startImport, uploadFile } from "../../service/datasets.ts";
import { useText } from "../../text/text.tsx";
import { DayField } from "../../ui/day-field.tsx";
import { Checkbox, Field, Input, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Panel } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { JobReport } from "./job-report.tsx";

const kinds = ["third_party", "official", "licensed"] as const;

/** Sends a file from the browser and imports it. */
export function UploadForm() {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const client = useQueryClient();
  const jobs = useQuery(jobsQuery);
  const [file, setFile] = useState<File>();
  const [sent, setSent] = useState<number>();
  const [job, setJob] = useState<Job>();
  const megabytes = (bytes: number) => `${format.number(Math.round(bytes / 1e5) / 10)} MB`;
  const send = async (values: Record<string, string>) => {
    if (file === undefined) return;
    setJob(undefined);
    setSent(0);
    try {
      const from = await uploadFile(file, setSent);
      const given = (name: string) => values[name]?.trim() || undefined;
      const isOn = (name: string) => values[name] === "on" || undefined;
      const wishes: Record<string, string | boolean | undefined> = {
        operation: values["operation"],
        from,
        dataset: given("dataset"),
        source: given("source"),
        licence: given("licence"),
        retrieved: given("retrieved"),
        kind: given("kind"),
        update: isOn("update"),
        dry_run: isOn("dry_run"),
        yes: isOn("yes"),
        accept_versions: isOn("accept_versions"),
      };
      setJob(await startImport(wishes as unknown as NewImport));
    } finally {
      setSent(undefined);
      await client.invalidateQueries({ queryKey: jobsQuery.queryKey });
      await client.invalidateQueries({ queryKey: datasetsQuery.queryKey });
    }
  };
  return (
    <Panel title={t.datasets.upload} about={t.datasets.uploadAbout} className="mt-5">
      <div className="grid items-start gap-6 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <SettingForm action={t.datasets.send} onSend={send}>
          <Field label={t.requests.operation}>
            {(attributes) => (
              <Select {...attributes} name="operation" required>
                {(jobs.data?.operations ?? []).map((name) => (
                  <option key={name} value={name}>
                    {t.sources.targets[name] ?? nameOf(name)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label={t.datasets.file} hint={t.datasets.fileHint}>
            {(attributes) => (
              <Input
                {...attributes}
                type="file"
                required
                className="py-1.5 text-sm"
                onChange={(event) => setFile(event.currentTarget.files?.[0])}
              />
            )}
          </Field>
          <Field label={t.datasets.name} optionalText={t.optional} hint={t.datasets.nameHint}>
            {(attributes) => <Input {...attributes} name="dataset" maxLength={200} autoComplete="off" />}
          </Field>
          <Field label={t.datasets.publisher} optionalText={t.optional}>
            {(attributes) => <Input {...attributes} name="source" maxLength={200} autoComplete="off" />}
          </Field>
          <Field label={t.datasets.kind}>
            {(attributes) => (
              <Select {...attributes} name="kind">
                {kinds.map((kind) => (
                  <option key={kind} value={kind}>
                    {t.datasets.kinds[kind]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label={t.datasets.licence} optionalText={t.optional}>
            {(attributes) => <Input {...attributes} name="licence" maxLength={200} autoComplete="off" />}
          </Field>
          <DayField
            label={t.datasets.retrieved}
            optionalText={t.optional}
            hint={t.datasets.retrievedHint}
            name="retrieved"
          />
          <div>
            <Checkbox name="dry_run" label={t.datasets.check} hint={t.datasets.checkHint} />
            <Checkbox name="update" label={t.datasets.update} hint={t.datasets.updateHint} />
            <Checkbox name="yes" label={t.datasets.yes} hint={t.datasets.yesHint} />
            <Checkbox name="accept_versions" label={t.datasets.accept} hint={t.datasets.acceptHint} />
          </div>
        </SettingForm>
        <div className="min-w-0" aria-live="polite">
          {sent !== undefined && file !== undefined && (
            <Progress label={t.datasets.upload} done={sent} total={file.size} show={megabytes} />
          )}
          {job && <JobReport id={job.id} key={job.id} />}
        </div>
      </div>
    </Panel>
  );
}
