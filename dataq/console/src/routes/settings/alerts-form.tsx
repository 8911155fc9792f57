import { useQuery, useQueryClient } from "@tanstack/react-query";
import { alertsQuery, setAlerts } from "../../service/alerts.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { useToast } from "../../ui/toast.tsx";

const fields = [
  ["low_balance", 1e12, 1],
  ["cap_percent", 100, 1],
  ["spend_factor", 1000, 0.1],
] as const;

/** When the account is warned by email and by webhook. */
export function AlertsForm() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  const { data } = useQuery({ ...alertsQuery, retry: false });
  if (!data) return null;
  return (
    <Panel title={t.alerts.title} about={t.alerts.about}>
      <SettingForm
        action={t.save}
        onSend={async (values) => {
          const wishes = Object.fromEntries(fields.map(([name]) => [name, Number(values[name])]));
          client.setQueryData(alertsQuery.queryKey, await setAlerts(wishes));
          say(t.settings.saved);
        }}
      >
        <div className="grid items-start gap-4 sm:grid-cols-3">
          {fields.map(([name, most, step]) => (
            <Field key={name} label={t.alerts[name].label} hint={t.alerts[name].hint}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name={name}
                  type="number"
                  min={0}
                  max={most}
                  step={step}
                  required
                  defaultValue={data[name]}
                />
              )}
            </Field>
          ))}
        </div>
      </SettingForm>
    </Panel>
  );
}
