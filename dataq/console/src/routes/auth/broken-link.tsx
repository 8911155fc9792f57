import { Link } from "@tanstack/react-router";
import { useText } from "../../text/text.tsx";
import { Notice } from "../../ui/states.tsx";
import { linkClass } from "./form.tsx";

/** Shown for a link without its secret. `about` tells how to get a complete link. */
export function BrokenLink({ about }: { readonly about: string }) {
  const t = useText();
  return (
    <div className="flex flex-col gap-5">
      <Notice tone="bad" title={t.auth.linkBroken}>
        {about}
      </Notice>
      <Link to="/sign-in" search={{ next: undefined }} className={`${linkClass} self-start`}>
        {t.auth.back}
      </Link>
    </div>
  );
}
