import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { isObject, ServiceError } from "../../service/call.ts";
import { signIn, signUp } from "../../service/identity.ts";
import { sessionQuery, verifiesAddresses } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Input } from "../../ui/field.tsx";
import { NewPassword } from "../../ui/new-password.tsx";
import { AuthForm, linkClass } from "./form.tsx";

export function SignUp() {
  const t = useText();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const [problem, setProblem] = useState("");
  const [mailProblem, setMailProblem] = useState("");
  const { next } = useSearch({ strict: false });
  const isInvited = next === "/join";
  if (session?.signup === "closed" && !isInvited)
    return (
      <>
        <h1 className="text-2xl font-semibold">{t.auth.closedTitle}</h1>
        <p className="mt-1.5 text-soft">{t.auth.closedAbout}</p>
        <Link to="/sign-in" search={{ next }} className={`${buttonClass()} mt-6 self-start`}>
          {t.auth.back}
        </Link>
      </>
    );
  const about = isInvited
    ? t.auth.signUpInvited
    : session?.signup === "approve"
      ? t.auth.signUpApproval
      : t.auth.signUpAbout;
  return (
    <AuthForm
      title={t.auth.signUpTitle}
      about={about}
      action={t.auth.signUp}
      onSend={async ({ name = "", email = "", password = "" }) => {
        setProblem("");
        setMailProblem("");
        try {
          await signUp(name.trim(), email.trim(), password);
          // The answer never reveals whether the address is known. Only a successful sign-in, which needs the
          // password, does.
          if (!verifiesAddresses(session)) await signIn(email.trim(), password);
        } catch (error) {
          if (error instanceof ServiceError && paramOf(error) === "email")
            return setMailProblem(t.auth.mailRefused);
          if (error instanceof ServiceError && error.code.includes("password"))
            return setProblem(explain(error, t).title);
          throw error;
        }
        client.clear();
        const { user } = await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
        if (user && isInvited) await navigate({ to: "/join" });
        else if (user?.account_id) await navigate({ to: "/" });
        else await navigate({ to: "/pending", state: { signedUpAs: email.trim() } });
      }}
      foot={
        <p>
          {t.auth.haveAccount}{" "}
          <Link to="/sign-in" search={{ next }} className={linkClass}>
            {t.auth.signIn}
          </Link>
        </p>
      }
    >
      <Field label={t.auth.name} hint={t.auth.nameHint}>
        {(attributes) => <Input {...attributes} name="name" required maxLength={80} autoComplete="name" />}
      </Field>
      <Field label={t.auth.email} error={mailProblem || undefined}>
        {(attributes) => <Input {...attributes} name="email" type="email" required autoComplete="username" />}
      </Field>
      <NewPassword label={t.auth.password} error={problem || undefined} />
    </AuthForm>
  );
}

/** The field that an error names. */
function paramOf({ body }: ServiceError): unknown {
  const error = body["error"];
  return isObject(error) ? error["param"] : undefined;
}
