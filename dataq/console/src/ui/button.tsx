import type { ButtonHTMLAttributes, ReactNode } from "react";
import LoaderCircle from "~icons/lucide/loader-circle";
import { classes } from "./classes.ts";

type Kind = "primary" | "plain" | "quiet" | "danger";

const kinds: Record<Kind, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-strong border-transparent shadow-card",
  plain: "bg-surface text-ink border-line-strong/60 hover:bg-sunken shadow-card",
  quiet: "bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink",
  danger: "bg-surface text-bad border-bad/50 hover:bg-bad-wash shadow-card",
};

/** Class names of a button, or of a link that looks like one. */
export function buttonClass(kind: Kind = "plain", size: "small" | "normal" = "normal"): string {
  return classes(
    "inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors",
    "disabled:opacity-55 disabled:cursor-not-allowed",
    size === "small" ? "h-8 px-2.5 text-sm" : "h-9 px-3.5 text-base",
    kinds[kind],
  );
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: Kind;
  readonly size?: "small" | "normal";
  readonly isBusy?: boolean;
  readonly icon?: ReactNode;
}

export function Button({ kind, size, isBusy, icon, children, className, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      className={classes(buttonClass(kind, size), className)}
    >
      {isBusy ? <LoaderCircle className="size-4 animate-spin" /> : icon}
      {children}
    </button>
  );
}

/** A button with an icon only; `label` is its accessible name. */
export function IconButton({
  label,
  children,
  className,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { readonly label: string }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={classes(
        "inline-flex size-9 shrink-0 items-center justify-center rounded-md text-soft transition-colors hover:bg-sunken hover:text-ink",
        className,
      )}
    >
      {children}
    </button>
  );
}
