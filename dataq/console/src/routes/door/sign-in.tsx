import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { proveBackupCode, proveCode, signIn } from "../../service/identity.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { DoorForm, linkClass } from "./form.tsx";

/** Email and password, then the two-factor code if enabled. */
export function SignIn() {
  const t = useText();
  const finish = useFinish();
  const { data: session } = useQuery(sessionQuery);
  const { next } = useSearch({ strict: false });
  const isInvited = next === "/join";
  const [step, setStep] = useState<"password" | "code" | "backup">("password");
  if (step !== "password")
    return (
      <DoorForm
        key={step}
        title={t.door.codeTitle}
        about={step === "code" ? t.door.codeAbout : t.door.backupAbout}
        action={t.door.signIn}
        onSend={async ({ code = "" }) => {
          await (step === "code" ? proveCode(code.replace(/\s/g, "")) : proveBackupCode(code.trim()));
          await finish();
        }}
        foot={
          <button
            type="button"
            className={`${linkClass} self-start`}
            onClick={() => setStep(step === "code" ? "backup" : "code")}
          >
            {step === "code" ? t.door.useBackup : t.door.useCode}
          </button>
        }
      >
        <Field label={step === "code" ? t.door.code : t.door.backupCode}>
          {(attributes) => (
            <Input
              {...attributes}
              name="code"
              required
              autoFocus
              autoComplete="one-time-code"
              inputMode={step === "code" ? "numeric" : "text"}
            />
          )}
        </Field>
      </DoorForm>
    );
  return (
    <DoorForm
      title={t.door.signInTitle}
      about={session?.mode === "local" ? t.door.signInLocal : undefined}
      action={t.door.signIn}
      onSend={async ({ email = "", password = "" }) => {
        const { twoFactorRedirect } = await signIn(email, password);
        if (twoFactorRedirect) setStep("code");
        else await finish();
      }}
      foot={
        <>
          <Link to="/forgot" className={`${linkClass} self-start`}>
            {t.door.forgot}
          </Link>
          {(session?.signup !== "closed" || isInvited) && (
            <p>
              {t.door.noAccount}{" "}
              <Link to="/sign-up" search={{ next: isInvited ? next : undefined }} className={linkClass}>
                {t.door.signUp}
              </Link>
            </p>
          )}
        </>
      }
    >
      <Field label={t.door.email}>
        {(attributes) => <Input {...attributes} name="email" type="email" required autoComplete="username" />}
      </Field>
      <Field label={t.door.password}>
        {(attributes) => (
          <Input {...attributes} name="password" type="password" required autoComplete="current-password" />
        )}
      </Field>
    </DoorForm>
  );
}

/** Opens the requested page. Only paths of the console count. */
export function useFinish() {
  const client = useQueryClient();
  const router = useRouter();
  const { next } = useSearch({ strict: false });
  return async () => {
    client.clear();
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    const target = next && /^\/(?![/\\])/.test(next) ? next.replace(/^\/console/, "") || "/" : "/";
    router.history.push(`/console${target === "/" ? "/" : target}`);
    await router.invalidate();
  };
}
