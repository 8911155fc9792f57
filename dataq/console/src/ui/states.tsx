import type { ReactNode } from "react";
import CircleAlert from "~icons/lucide/circle-alert";
import CircleCheck from "~icons/lucide/circle-check";
import Info from "~icons/lucide/info";
import TriangleAlert from "~icons/lucide/triangle-alert";
import { ServiceError } from "../service/call.ts";
import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { explain } from "./explain.ts";

/** A message box with optional actions. */
export function Notice({
  tone = "info",
  title,
  children,
  actions,
}: {
  readonly tone?: "info" | "good" | "warn" | "bad";
  readonly title: ReactNode;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const tones = {
    info: ["border-line bg-sunken text-soft", <Info key="i" className="size-4.5" />],
    good: ["border-good/25 bg-good-wash text-good", <CircleCheck key="i" className="size-4.5" />],
    warn: ["border-warn/25 bg-warn-wash text-warn", <TriangleAlert key="i" className="size-4.5" />],
    bad: ["border-bad/25 bg-bad-wash text-bad", <CircleAlert key="i" className="size-4.5" />],
  } as const;
  const [look, icon] = tones[tone];
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={classes("flex gap-3 rounded-lg border px-4 py-3", look)}
    >
      <span className="mt-0.5 shrink-0">{icon}</span>
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{title}</p>
        {children && <div className="mt-0.5 text-sm break-words text-soft">{children}</div>}
        {actions && <div className="mt-2.5 flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  );
}

/** An error message with the next step and the request ID. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const t = useText();
  const { title, next, requestId } = explain(error, t);
  return (
    <Notice
      tone="bad"
      title={title}
      actions={
        // What is not there will not be there the next time either.
        onRetry &&
        !(error instanceof ServiceError && error.status === 404) && (
          <Button size="small" onClick={onRetry}>
            {t.retry}
          </Button>
        )
      }
    >
      {next && <p>{next}</p>}
      {requestId && (
        <p className="mt-1 text-xs">
          {t.requestId} <code className="font-mono">{requestId}</code>
        </p>
      )}
    </Notice>
  );
}

/** An empty state that explains how to fill it. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      {icon && (
        <span className="mb-3 flex size-11 items-center justify-center rounded-full bg-sunken text-faint">
          {icon}
        </span>
      )}
      <p className="font-medium">{title}</p>
      {children && <p className="mt-1 max-w-md text-sm text-soft">{children}</p>}
      {action && <div className="mt-4">{action}</div>}
    </div>
  );
}

/** Placeholder lines while text loads. */
export function Skeleton({ lines = 4, className }: { readonly lines?: number; readonly className?: string }) {
  const t = useText();
  return (
    <div role="status" className={classes("flex flex-col gap-3 p-4 sm:p-5", className)}>
      <span className="sr-only">{t.loading}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: lines without an identity
          key={index}
          className={classes(
            "h-4 animate-pulse rounded bg-sunken",
            ["w-11/12", "w-3/4", "w-5/6", "w-2/3"][index % 4],
          )}
        />
      ))}
    </div>
  );
}

/** Shows loading, error or data, so that no page forgets a state. */
export function Loaded<Data>({
  query,
  lines,
  children,
}: {
  readonly query: {
    readonly data: Data | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error)
    return (
      <div className="p-4 sm:p-5">
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  return <Skeleton {...(lines !== undefined && { lines })} />;
}
