import type { ReactNode } from "react";
import { classes } from "./classes.ts";

/** The title of a page with a description and actions. */
export function PageHead({
  title,
  about,
  actions,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 max-w-2xl">
        <h1 className="text-2xl font-semibold wrap-anywhere">{title}</h1>
        {about && <p className="mt-1 text-soft wrap-anywhere">{about}</p>}
      </div>
      {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
    </header>
  );
}

/** A section of a page with its own heading. */
export function Panel({
  title,
  about,
  actions,
  children,
  className,
  isFlush,
}: {
  readonly title?: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** Set for content with its own margins, such as tables. */
  readonly isFlush?: boolean;
}) {
  return (
    <section className={classes("min-w-0 rounded-xl border border-line bg-surface shadow-card", className)}>
      {(title || actions) && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-3 sm:px-5">
          <div className="min-w-0">
            {title && <h2 className="text-base font-semibold">{title}</h2>}
            {about && <p className="mt-0.5 text-sm text-faint">{about}</p>}
          </div>
          {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
      )}
      <div className={isFlush ? "" : "p-4 sm:p-5"}>{children}</div>
    </section>
  );
}

/** Figures side by side: four in a row, or two on a phone. */
export function Stats({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-2 gap-3 xl:grid-cols-4">{children}</dl>;
}

/** A figure with its name. */
export function Stat({
  name,
  value,
  note,
  tone,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: "good" | "warn" | "bad";
}) {
  const toneClass =
    tone === "bad" ? "text-bad" : tone === "warn" ? "text-warn" : tone === "good" ? "text-good" : "";
  return (
    <div className="min-w-0 rounded-xl border border-line bg-surface px-3.5 py-3 shadow-card sm:px-5 sm:py-3.5">
      <dt className="text-sm text-faint">{name}</dt>
      <dd
        className={classes(
          "tabular mt-1 text-lg font-semibold tracking-tight wrap-anywhere sm:text-xl",
          toneClass,
        )}
      >
        {value}
      </dd>
      {note && <dd className="tabular mt-0.5 text-xs text-soft">{note}</dd>}
    </div>
  );
}

/** The colours of a word that stands out from the text around it. */
export const tones = {
  plain: "bg-sunken text-soft",
  accent: "bg-accent-wash text-accent-strong",
  good: "bg-good-wash text-good",
  warn: "bg-warn-wash text-warn",
  bad: "bg-bad-wash text-bad",
} as const;

export function Badge({
  children,
  tone = "plain",
}: {
  readonly children: ReactNode;
  readonly tone?: keyof typeof tones;
}) {
  return (
    <span
      className={classes(
        "inline-flex min-h-5.5 items-center rounded-xl px-2 text-xs font-medium whitespace-nowrap",
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
