import type { ReactNode } from "react";
import { classes } from "./classes.ts";

/** A box with its own scroll bar. It is focusable, so that arrow keys can scroll it. */
export function ScrollBox({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would double the panel around it
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div role="region" aria-label={label} tabIndex={0} className={classes("scroll-x", className)}>
      {children}
    </div>
  );
}
