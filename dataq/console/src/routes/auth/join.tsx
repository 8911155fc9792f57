import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ServiceError } from "../../service/call.ts";
import { signOut } from "../../service/identity.ts";
import { joinAccount } from "../../service/members.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { BrokenLink } from "./broken-link.tsx";
import { AuthForm, linkClass } from "./form.tsx";
import { dropInvitation, keepInvitation, keptInvitation } from "./kept-invitation.ts";
import { useLinkToken } from "./link-token.ts";
import { useFinish } from "./sign-in.tsx";

/** Accepts an invitation to an account. */
export function Join() {
  const t = useText();
  const found = useLinkToken();
  const [token] = useState(() => {
    if (found) keepInvitation(found);
    return found || keptInvitation();
  });
  const { data: session } = useQuery(sessionQuery);
  const finish = useFinish();
  /** The invitation is not for this user, or for nobody any more. */
  const [isRefused, setRefused] = useState(false);
  if (token === "") return <BrokenLink about={t.auth.joinBroken} />;
  if (!session?.user)
    return (
      <>
        <h1 className="text-2xl font-semibold">{t.auth.joinTitle}</h1>
        <p className="mt-1.5 text-soft">{t.auth.joinFirst}</p>
        <div className="mt-6 flex flex-col gap-3">
          <Link to="/sign-in" search={{ next: "/join" }} className={buttonClass("primary")}>
            {t.auth.signIn}
          </Link>
          <Link to="/sign-up" search={{ next: "/join" }} className={buttonClass()}>
            {t.auth.signUp}
          </Link>
        </div>
      </>
    );
  return (
    <AuthForm
      title={t.auth.joinTitle}
      about={t.auth.joinAbout(session.user.email)}
      action={t.auth.join}
      kind={isRefused ? "plain" : "primary"}
      onSend={async () => {
        await joinAccount(token).catch((error: unknown) => {
          setRefused(error instanceof ServiceError && error.status < 429);
          throw error;
        });
        dropInvitation();
        await finish();
      }}
      foot={
        <>
          <button
            type="button"
            className={isRefused ? buttonClass("primary") : `${linkClass} self-start`}
            onClick={() =>
              void signOut()
                .catch(() => {})
                .then(() => location.assign("/console/join"))
            }
          >
            {t.auth.joinAsOther}
          </button>
          {session.user.account_id && (
            <Link to="/" className={`${linkClass} self-start`}>
              {t.auth.joinNot}
            </Link>
          )}
        </>
      }
    >
      {null}
    </AuthForm>
  );
}
