import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ServiceError } from "../../service/call.ts";
import { proveBackupCode, proveCode, signIn, startSso } from "../../service/identity.ts";
import { sessionQuery, verifiesAddresses } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { useOnce } from "../../ui/once.ts";
import { Failure, Notice } from "../../ui/states.tsx";
import { AuthForm, linkClass } from "./form.tsx";

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
      <AuthForm
        key={step}
        title={t.auth.codeTitle}
        about={step === "code" ? t.auth.codeAbout : t.auth.backupAbout}
        action={t.auth.signIn}
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
            {step === "code" ? t.auth.useBackup : t.auth.useCode}
          </button>
        }
      >
        <Field label={step === "code" ? t.auth.code : t.auth.backupCode}>
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
      </AuthForm>
    );
  return (
    <AuthForm
      title={t.auth.signInTitle}
      about={session?.mode === "local" ? t.auth.signInLocal : undefined}
      before={session?.sso && <SsoButton name={session.sso.name} next={pathOf(next)} />}
      action={t.auth.signIn}
      kind={session?.sso ? "plain" : "primary"}
      onSend={async ({ email = "", password = "" }) => {
        const { twoFactorRedirect } = await signIn(email, password).catch((error: unknown) => {
          const isWrong = error instanceof ServiceError && error.code === "invalid_email_or_password";
          throw isWrong && verifiesAddresses(session) ? new Error(t.auth.wrongOrUnverified) : error;
        });
        if (twoFactorRedirect) setStep("code");
        else await finish();
      }}
      foot={
        <>
          <Link to="/forgot" className={`${linkClass} self-start`}>
            {t.auth.forgot}
          </Link>
          {(session?.signup !== "closed" || isInvited) && (
            <p>
              {t.auth.noAccount}{" "}
              <Link to="/sign-up" search={{ next: isInvited ? next : undefined }} className={linkClass}>
                {t.auth.signUp}
              </Link>
            </p>
          )}
        </>
      }
    >
      <Field label={t.auth.email}>
        {(attributes) => <Input {...attributes} name="email" type="email" required autoComplete="username" />}
      </Field>
      <Field label={t.auth.password}>
        {(attributes) => (
          <Input {...attributes} name="password" type="password" required autoComplete="current-password" />
        )}
      </Field>
    </AuthForm>
  );
}

/** The way to the provider of single sign-on, and why the last one led nowhere. */
function SsoButton({ name, next }: { readonly name: string; readonly next: string }) {
  const t = useText();
  const reason = /^#sso=(\w+)$/.exec(window.location.hash)?.[1];
  const refused = t.auth.ssoRefused;
  const { mutate, isPending, error } = useOnce({
    mutationFn: async () => {
      const { url } = await startSso(next).catch((problem: unknown) => {
        const isAway = problem instanceof ServiceError && problem.code === "unavailable";
        throw isAway ? new Error(t.auth.ssoAway(name)) : problem;
      });
      window.location.assign(url);
    },
  });
  return (
    <div className="mt-6 flex flex-col gap-4">
      {error ? (
        <Failure error={error} />
      ) : (
        reason && <Notice tone="bad" title={refused[reason as keyof typeof refused] ?? refused.failed} />
      )}
      <Button kind="primary" isBusy={isPending} onClick={() => mutate()}>
        {t.auth.sso(name)}
      </Button>
      <p className="flex items-center gap-3 text-sm text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {t.auth.orPassword}
      </p>
    </div>
  );
}

/** Opens the page that was requested before sign-in. Only paths of the console are allowed. */
export function useFinish() {
  const client = useQueryClient();
  const router = useRouter();
  const { next } = useSearch({ strict: false });
  return async () => {
    client.clear();
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    const target = pathOf(next);
    router.history.push(`/console${target === "/" ? "/" : target}`);
    await router.invalidate();
  };
}

function pathOf(next: string | undefined): string {
  return next && /^\/(?![/\\])/.test(next) ? next.replace(/^\/console/, "") || "/" : "/";
}
