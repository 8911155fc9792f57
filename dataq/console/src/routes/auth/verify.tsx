import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { verifyEmail } from "../../service/identity.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Notice } from "../../ui/states.tsx";
import { BrokenLink } from "./broken-link.tsx";
import { AuthForm } from "./form.tsx";
import { keptInvitation } from "./kept-invitation.ts";
import { useLinkToken } from "./link-token.ts";

/** Verifies the address after a click, because mail scanners open links but do not click. */
export function Verify() {
  const t = useText();
  const client = useQueryClient();
  const token = useLinkToken();
  const [isDone, setDone] = useState(false);
  if (token === "") return <BrokenLink about={t.auth.linkBrokenAbout} />;
  if (isDone)
    return (
      <div className="flex flex-col gap-5">
        <Notice tone="good" title={t.auth.verified} />
        <Link to={keptInvitation() ? "/join" : "/"} className={buttonClass("primary")}>
          {t.auth.goOn}
        </Link>
      </div>
    );
  return (
    <AuthForm
      title={t.auth.verifyTitle}
      about={t.auth.verifyAbout}
      action={t.auth.verify}
      onSend={async () => {
        await verifyEmail(token);
        // Fetched now, because the next page depends on it.
        await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
        setDone(true);
      }}
    >
      {null}
    </AuthForm>
  );
}
