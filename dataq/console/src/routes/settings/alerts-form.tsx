import { useQuery, useQueryClient } from "@tanstack/react-query";
import { alertsQuery, setAlerts } from "../../service/alerts.ts";
import { isMachineOwner, membersQuery } from "../../service/members.ts";
import { mayOperate, sessionQuery, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Notice } from "../../ui/states.tsx";
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
      <Unheard />
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

/** Says that nobody gets these emails, and what to do. */
function Unheard() {
  const t = useText();
  const user = useSignedIn();
  const { data: session } = useQuery(sessionQuery);
  const { data: team } = useQuery(membersQuery);
  if (!session || !team) return null;
  const hasAddress = team.data.some(({ role, email }) => role === "owner" && !isMachineOwner(email));
  if (session.mail && hasAddress) return null;
  return (
    <div className="mb-4">
      <Notice tone="warn" title={t.alerts.unheard}>
        {!hasAddress && <p>{t.alerts.noAddress}</p>}
        {!session.mail && <p>{mayOperate(user, "admin") ? t.alerts.noServer : t.alerts.noMail}</p>}
      </Notice>
    </div>
  );
}
