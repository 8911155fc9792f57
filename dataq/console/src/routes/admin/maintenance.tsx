import type { MaintenanceWindow } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { setMaintenance } from "../../service/admin.ts";
import { mayOperate, sessionQuery, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DayField } from "../../ui/day-field.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { useToast } from "../../ui/toast.tsx";

type Wanted = Parameters<typeof setMaintenance>[0];

/** The switch that refuses customers' calls while an operator works on the service, and what customers are told. */
export function Maintenance() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const [isEnding, setEnding] = useState(false);
  const [beginning, setBeginning] = useState<Wanted | null>(null);
  const open = session?.maintenance ?? null;
  const done = async () => {
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    say(t.settings.saved);
  };
  if (!mayOperate(useSignedIn(), "admin:support")) return null;
  return (
    <Panel title={t.maintenance.title} about={open ? t.maintenance.isOn : t.maintenance.about}>
      <SettingForm
        key={open?.since ?? "off"}
        action={open ? t.maintenance.change : t.maintenance.begin}
        beside={open && <Button onClick={() => setEnding(true)}>{t.maintenance.end}</Button>}
        onSend={async ({ until = "", en = "", zh = "" }) => {
          const wanted: Wanted = {
            on: true,
            until: until === "" ? null : new Date(until).toISOString(),
            message: { ...(en.trim() && { en: en.trim() }), ...(zh.trim() && { zh: zh.trim() }) },
          };
          if (!open) return setBeginning(wanted);
          await setMaintenance(wanted);
          await done();
        }}
      >
        <div className="grid gap-4 sm:grid-cols-3">
          <DayField
            label={t.maintenance.until}
            optionalText={t.optional}
            hint={t.maintenance.untilHint}
            name="until"
            hasTime
            day={localTimeOf(open)}
          />
          {(["en", "zh"] as const).map((language) => (
            <Field key={language} label={t.maintenance.words[language]} optionalText={t.optional}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name={language}
                  maxLength={300}
                  lang={language}
                  defaultValue={open?.message[language] ?? ""}
                  autoComplete="off"
                />
              )}
            </Field>
          ))}
        </div>
      </SettingForm>
      {beginning && (
        <Confirm
          title={t.maintenance.beginTitle}
          about={t.maintenance.beginAbout}
          action={t.maintenance.begin}
          onConfirm={async () => {
            await setMaintenance(beginning);
            await done();
          }}
          onClose={() => setBeginning(null)}
        />
      )}
      {isEnding && (
        <Confirm
          kind="primary"
          title={t.maintenance.endTitle}
          about={t.maintenance.endAbout}
          action={t.maintenance.end}
          onConfirm={async () => {
            await setMaintenance({ on: false });
            await done();
          }}
          onClose={() => setEnding(false)}
        />
      )}
    </Panel>
  );
}

/** As the field wants it, in the time of this machine. */
function localTimeOf(open: MaintenanceWindow | null): string {
  if (!open?.until) return "";
  const until = new Date(open.until);
  return new Date(until.getTime() - until.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16)
    .replace("T", " ");
}
