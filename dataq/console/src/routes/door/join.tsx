import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { joinAccount } from "../../service/members.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Notice } from "../../ui/states.tsx";
import { DoorForm, linkClass } from "./form.tsx";
import { useLinkToken } from "./link-token.ts";
import { useFinish } from "./sign-in.tsx";

/** Where the link waits while somebody signs in or up; gone with the tab. */
const KEPT = "dataq_join";

/** An invitation to act for somebody's account. */
export function Join() {
  const t = useText();
  const found = useLinkToken();
  const [token] = useState(() => {
    if (found) sessionStorage.setItem(KEPT, found);
    return found || (sessionStorage.getItem(KEPT) ?? "");
  });
  const { data: session } = useQuery(sessionQuery);
  const finish = useFinish();
  if (token === "")
    return (
      <Notice tone="bad" title={t.door.linkBroken}>
        {t.door.joinBroken}
      </Notice>
    );
  if (!session?.user)
    return (
      <>
        <h1 className="text-2xl font-semibold">{t.door.joinTitle}</h1>
        <p className="mt-1.5 text-soft">{t.door.joinFirst}</p>
        <div className="mt-5 flex flex-col gap-2">
          <Link to="/sign-in" search={{ next: "/join" }} className={linkClass}>
            {t.door.signIn}
          </Link>
          <Link to="/sign-up" search={{ next: "/join" }} className={linkClass}>
            {t.door.signUp}
          </Link>
        </div>
      </>
    );
  return (
    <DoorForm
      title={t.door.joinTitle}
      about={t.door.joinAbout(session.user.email)}
      action={t.door.join}
      onSend={async () => {
        await joinAccount(token);
        sessionStorage.removeItem(KEPT);
        await finish();
      }}
    >
      {null}
    </DoorForm>
  );
}
