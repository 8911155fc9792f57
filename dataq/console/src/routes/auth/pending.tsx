import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { ServiceError } from "../../service/call.ts";
import { askVerification, signOut } from "../../service/identity.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { explain } from "../../ui/explain.ts";
import { Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { keptInvitation } from "./kept-invitation.ts";

/** For users who must still verify their address or await approval. */
export function Pending() {
  const t = useText();
  const say = useToast();
  const { data: session } = useQuery({ ...sessionQuery, refetchInterval: 5_000 });
  const user = session?.user;
  // Before verification there is no session, so the previous page passes the address.
  const signedUpAs = useRouterState({ select: ({ location }) => location.state.signedUpAs });
  const email = user?.email ?? signedUpAs;
  const wantsMail = !user?.is_verified;
  return (
    <>
      <h1 className="text-2xl font-semibold">
        {wantsMail && session?.mail !== false ? t.auth.pendingMail : t.auth.pendingApproval}
      </h1>
      <p className="mt-1.5 text-soft">
        {wantsMail
          ? session?.mail
            ? t.auth.pendingMailAbout(email ?? "")
            : t.auth.pendingNoMail
          : t.auth.pendingApprovalAbout}
      </p>
      {keptInvitation() && <p className="mt-1.5 text-soft">{t.auth.pendingInvited}</p>}
      {user?.account_id && (
        <div className="mt-5">
          <Notice tone="good" title={t.auth.verified} />
        </div>
      )}
      <div className="mt-6 flex flex-wrap gap-2">
        {user?.account_id ? (
          <Link to="/" className={buttonClass("primary")}>
            {t.auth.goOn}
          </Link>
        ) : (
          email &&
          wantsMail &&
          session?.mail && (
            <Button
              onClick={() =>
                void askVerification(email).then(
                  () => say(t.auth.sentAgain),
                  (error: unknown) =>
                    say(
                      error instanceof ServiceError && error.status === 429
                        ? t.auth.sentTooOften
                        : explain(error, t).title,
                    ),
                )
              }
            >
              {t.auth.sendAgain}
            </Button>
          )
        )}
        {user ? (
          <Button
            onClick={() =>
              void signOut()
                .catch(() => {})
                .then(() => location.assign("/console/sign-in"))
            }
          >
            {t.shell.signOut}
          </Button>
        ) : (
          <Link to="/sign-in" search={{ next: undefined }} className={buttonClass()}>
            {t.auth.back}
          </Link>
        )}
      </div>
    </>
  );
}
