import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  changeName,
  changePassword,
  endOtherSessions,
  endSession,
  listSessions,
} from "../../service/identity.ts";
import { sessionQuery, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Input, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { setLook, type Theme, useLook } from "../../ui/look.ts";
import { NewPassword } from "../../ui/new-password.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Loaded, Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AlertsForm } from "./alerts-form.tsx";
import { Leaving } from "./leaving.tsx";
import { ActingFor, Team } from "./team.tsx";
import { TwoFactor } from "./two-factor.tsx";

export function Settings() {
  const t = useText();
  const user = useSignedIn();
  const say = useToast();
  const client = useQueryClient();
  const { theme, language } = useLook();
  return (
    <>
      <PageHead title={t.pages.settings} about={user.is_local ? t.settings.local : user.email} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <Panel title={t.settings.profile}>
            <SettingForm
              action={t.save}
              onSend={async ({ name = "" }) => {
                await changeName(name.trim());
                await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
                say(t.settings.saved);
              }}
            >
              <Field label={t.auth.name}>
                {(attributes) => (
                  <Input
                    {...attributes}
                    name="name"
                    required
                    maxLength={80}
                    defaultValue={user.name}
                    autoComplete="name"
                  />
                )}
              </Field>
            </SettingForm>
          </Panel>
          {user.is_local ? (
            <Notice title={t.settings.localPassword}>{t.settings.localPasswordAbout}</Notice>
          ) : (
            <>
              <Panel title={t.settings.password}>
                <SettingForm
                  action={t.auth.savePassword}
                  onSend={async ({ old = "", password = "" }) => {
                    await changePassword(old, password);
                    await client.invalidateQueries({ queryKey: ["sessions"] });
                    say(t.auth.passwordChanged);
                  }}
                >
                  <Field label={t.settings.oldPassword}>
                    {(attributes) => (
                      <Input
                        {...attributes}
                        name="old"
                        type="password"
                        required
                        autoComplete="current-password"
                      />
                    )}
                  </Field>
                  <NewPassword label={t.auth.newPassword} />
                </SettingForm>
              </Panel>
              <TwoFactor isOn={user.two_factor} />
            </>
          )}
          <Sessions />
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Panel title={t.settings.look}>
            <div className="grid gap-4 sm:grid-cols-2">
              <Field label={t.settings.language}>
                {(attributes) => (
                  <Select
                    {...attributes}
                    value={language}
                    onChange={(event) => setLook({ language: event.target.value as "en" | "zh" })}
                  >
                    <option value="zh">中文</option>
                    <option value="en">English</option>
                  </Select>
                )}
              </Field>
              <Field label={t.settings.theme}>
                {(attributes) => (
                  <Select
                    {...attributes}
                    value={theme}
                    onChange={(event) => setLook({ theme: event.target.value as Theme })}
                  >
                    {(["system", "light", "dark"] as const).map((value) => (
                      <option key={value} value={value}>
                        {t.settings.themes[value]}
                      </option>
                    ))}
                  </Select>
                )}
              </Field>
            </div>
          </Panel>
          <AlertsForm />
          <ActingFor />
          <Team />
          <Leaving />
        </div>
      </div>
    </>
  );
}

function Sessions() {
  const t = useText();
  const say = useToast();
  const format = useFormat();
  const client = useQueryClient();
  const query = useQuery({ queryKey: ["sessions"], queryFn: listSessions });
  const end = async (ending: Promise<unknown>) => {
    try {
      await ending;
      say(t.settings.ended);
    } catch (error) {
      say(explain(error, t).title);
    } finally {
      await client.invalidateQueries({ queryKey: ["sessions"] });
    }
  };
  return (
    <Panel
      title={t.settings.sessions}
      about={t.settings.sessionsAbout}
      isFlush
      actions={
        (query.data?.data.length ?? 0) > 1 && (
          <Button size="small" kind="danger" onClick={() => void end(endOtherSessions())}>
            {t.settings.endOthers}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ data: sessions }) => (
          <ul className="divide-y divide-line">
            {sessions.map((session) => (
              <li key={session.id} className="flex items-center justify-between gap-3 px-4 py-3 sm:px-5">
                <span className="min-w-0">
                  <span className="flex items-center gap-2">
                    <span className="truncate">
                      {browserOf(session.user_agent) || t.settings.unknownBrowser}
                    </span>
                    {session.is_current && <Badge tone="good">{t.settings.current}</Badge>}
                  </span>
                  <span className="tabular block truncate text-xs text-faint">
                    {session.ip_address ?? "–"} · {t.settings.since(format.moment(session.created_at))}
                  </span>
                </span>
                {!session.is_current && (
                  <Button size="small" kind="danger" onClick={() => void end(endSession(session.id))}>
                    {t.settings.end}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}

function browserOf(agent: string | null): string {
  const name = /(Edg|Firefox|Chrome|Safari)\/(\d+)/.exec(agent ?? "");
  const system = /(Windows|Mac OS X|Android|iPhone|Linux)/.exec(agent ?? "")?.[1] ?? "";
  if (!name) return (agent ?? "").slice(0, 60);
  return `${name[1] === "Edg" ? "Edge" : name[1]} ${name[2]}${system ? ` · ${system}` : ""}`;
}
