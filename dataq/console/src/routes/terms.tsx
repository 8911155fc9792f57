import type { Session } from "@dataq/contract/wire";
import { useQueryClient } from "@tanstack/react-query";
import { acceptTerms, signOut } from "../service/identity.ts";
import { sessionQuery } from "../service/session.ts";
import { useText } from "../text/text.tsx";
import { Button } from "../ui/button.tsx";
import { Brand, LookSwitch } from "../ui/look-switch.tsx";
import { useOnce } from "../ui/once.ts";
import { Panel } from "../ui/panel.tsx";
import { Failure } from "../ui/states.tsx";

/** Shown instead of every page until the person has accepted the operator's terms. */
export function Terms({ terms }: { readonly terms: NonNullable<Session["terms"]> }) {
  const t = useText();
  const client = useQueryClient();
  const { mutate, isPending, error } = useOnce({
    mutationFn: () => acceptTerms(terms.version),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  return (
    <div className="mx-auto flex min-h-dvh max-w-lg flex-col gap-6 px-4 py-6">
      <header className="flex items-center justify-between">
        <Brand />
        <div className="flex items-center">
          <LookSwitch />
        </div>
      </header>
      <main className="my-auto flex flex-col gap-4">
        <h1 className="text-2xl font-semibold">{t.terms.title}</h1>
        <Panel>
          <div className="flex flex-col gap-4">
            <p>
              {t.terms.about(terms.version)}{" "}
              <a
                href={terms.url}
                target="_blank"
                rel="noreferrer"
                className="text-accent underline underline-offset-4"
              >
                {t.terms.read}
              </a>
            </p>
            {error && <Failure error={error} />}
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" isBusy={isPending} onClick={() => mutate()}>
                {t.terms.accept}
              </Button>
              <Button onClick={() => void signOut().finally(() => location.assign("/console/sign-in"))}>
                {t.shell.signOut}
              </Button>
            </div>
          </div>
        </Panel>
      </main>
    </div>
  );
}
