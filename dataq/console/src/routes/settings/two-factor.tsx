import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { renderSVG } from "uqr";
import { proveCode, startTwoFactor, stopTwoFactor, type TwoFactorStart } from "../../service/identity.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Badge, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { useToast } from "../../ui/toast.tsx";

/** Sets up an authenticator app: the secret, a first code to verify it, and backup codes. */
export function TwoFactor({ isOn }: { readonly isOn: boolean }) {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  const [start, setStart] = useState<TwoFactorStart | null>(null);
  const done = async (text: string) => {
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    say(text);
  };
  const password = (
    <Field label={t.auth.password}>
      {(attributes) => (
        <Input {...attributes} name="password" type="password" required autoComplete="current-password" />
      )}
    </Field>
  );
  return (
    <Panel
      title={t.settings.twoFactor}
      about={t.settings.twoFactorAbout}
      actions={<Badge tone={isOn ? "good" : "plain"}>{isOn ? t.settings.on : t.settings.off}</Badge>}
    >
      {isOn && !start ? (
        <SettingForm
          action={t.settings.turnOff}
          onSend={async ({ password: text = "" }) => {
            await stopTwoFactor(text);
            await done(t.settings.off);
          }}
        >
          {password}
        </SettingForm>
      ) : start === null ? (
        <SettingForm
          action={t.settings.turnOn}
          onSend={async ({ password: text = "" }) => setStart(await startTwoFactor(text))}
        >
          {password}
        </SettingForm>
      ) : (
        <>
          <p className="text-soft">{t.settings.secretAbout}</p>
          <img
            src={`data:image/svg+xml,${encodeURIComponent(renderSVG(start.totpURI, { border: 2 }))}`}
            alt={t.settings.qrCode}
            width={176}
            height={176}
            className="mt-3 rounded-lg border border-line"
          />
          <div className="mt-3 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken p-3">
            <code data-testid="totp-secret" className="min-w-0 flex-1 font-mono text-sm break-all select-all">
              {secretOf(start.totpURI)}
            </code>
            <CopyButton text={secretOf(start.totpURI)} />
          </div>
          <p className="mt-2 text-sm">
            <a href={start.totpURI} className="text-accent underline underline-offset-4">
              {t.settings.openApp}
            </a>
          </p>
          <h3 className="mt-4 text-sm font-medium">{t.settings.backup}</h3>
          <p className="text-sm text-soft">{t.settings.backupAbout}</p>
          <ul className="my-3 grid grid-cols-2 gap-1 rounded-lg border border-line bg-sunken p-3 font-mono text-sm">
            {start.backupCodes.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ul>
          <SettingForm
            action={t.settings.prove}
            onSend={async ({ code = "" }) => {
              await proveCode(code.replace(/\s/g, ""));
              setStart(null);
              await done(t.settings.on);
            }}
          >
            <Field label={t.auth.code}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="code"
                  required
                  inputMode="numeric"
                  autoComplete="one-time-code"
                />
              )}
            </Field>
          </SettingForm>
        </>
      )}
    </Panel>
  );
}

function secretOf(uri: string): string {
  return new URL(uri).searchParams.get("secret") ?? "";
}
