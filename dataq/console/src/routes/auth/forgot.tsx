import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { askReset } from "../../service/identity.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Notice } from "../../ui/states.tsx";
import { AuthForm, linkClass } from "./form.tsx";

/** Requests a reset link. The answer is the same for known and unknown addresses. */
export function Forgot() {
  const t = useText();
  const { data: session } = useQuery(sessionQuery);
  const [isSent, setSent] = useState(false);
  const back = (
    <Link to="/sign-in" search={{ next: undefined }} className={`${linkClass} self-start`}>
      {t.auth.back}
    </Link>
  );
  if (isSent)
    return (
      <div className="flex flex-col gap-5">
        {session?.mail ? (
          <Notice tone="good" title={t.auth.resetSent}>
            {t.auth.resetByMail}
          </Notice>
        ) : (
          <Notice tone="warn" title={t.auth.askOperator}>
            {t.auth.resetByOperator}
          </Notice>
        )}
        {back}
      </div>
    );
  return (
    <AuthForm
      title={t.auth.forgotTitle}
      about={session?.mail ? t.auth.forgotAbout : undefined}
      action={t.auth.sendLink}
      onSend={async ({ email = "" }) => {
        await askReset(email);
        setSent(true);
      }}
      foot={back}
    >
      <Field label={t.auth.email}>
        {(attributes) => <Input {...attributes} name="email" type="email" required autoComplete="username" />}
      </Field>
    </AuthForm>
  );
}
