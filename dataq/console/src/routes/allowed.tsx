import type { Scope } from "@dataq/contract/wire";
import type { ReactNode } from "react";
import { useMay } from "../service/session.ts";
import { useText } from "../text/text.tsx";
import { Notice } from "../ui/states.tsx";

/** What a role allows. Others read why it is not there, instead of being refused after they filled it in. */
export function Allowed({ to, children }: { readonly to: Scope; readonly children: ReactNode }) {
  return useMay(to) ? children : <NotAllowed />;
}

export function NotAllowed() {
  const t = useText();
  return <Notice title={t.errors.scope_denied}>{t.team.askOwner}</Notice>;
}
