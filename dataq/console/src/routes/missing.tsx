import { Link } from "@tanstack/react-router";
import { useText } from "../text/text.tsx";
import { buttonClass } from "../ui/button.tsx";
import { Failure } from "../ui/states.tsx";

export function MissingPage() {
  const t = useText();
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col items-center justify-center px-6 text-center">
      <p className="font-mono text-sm text-faint">404</p>
      <h1 className="mt-2 text-xl font-semibold">{t.missing.title}</h1>
      <p className="mt-1 text-soft">{t.missing.about}</p>
      <Link to="/" className={`${buttonClass("primary")} mt-5`}>
        {t.missing.back}
      </Link>
    </main>
  );
}

/** Shown when a page cannot load, usually because the service does not respond. */
export function StartFailure({ error }: { readonly error: unknown }) {
  return (
    <main className="mx-auto max-w-lg px-6 py-16">
      <Failure error={error} onRetry={() => location.reload()} />
    </main>
  );
}
