import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { resetPassword } from "../../service/identity.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { NewPassword } from "../../ui/new-password.tsx";
import { Notice } from "../../ui/states.tsx";
import { BrokenLink } from "./broken-link.tsx";
import { AuthForm } from "./form.tsx";
import { useLinkToken } from "./link-token.ts";

export function Reset() {
  const t = useText();
  const token = useLinkToken();
  const [isDone, setDone] = useState(false);
  if (token === "") return <BrokenLink about={t.auth.linkBrokenAbout} />;
  if (isDone)
    return (
      <div className="flex flex-col gap-5">
        <Notice tone="good" title={t.auth.passwordChanged}>
          {t.auth.sessionsEnded}
        </Notice>
        <Link to="/sign-in" search={{ next: undefined }} className={buttonClass("primary")}>
          {t.auth.signIn}
        </Link>
      </div>
    );
  return (
    <AuthForm
      title={t.auth.resetTitle}
      action={t.auth.savePassword}
      onSend={async ({ password = "" }) => {
        await resetPassword(token, password);
        setDone(true);
      }}
    >
      <NewPassword label={t.auth.newPassword} />
    </AuthForm>
  );
}
