import { classes } from "./classes.ts";
import { useFormat } from "./format.tsx";

/** A progress bar. Without a total, it shows only that work is going on. */
export function Progress({
  label,
  done,
  total,
  show,
  warnAt = 0,
}: {
  readonly label: string;
  readonly done: number;
  readonly total: number | null;
  readonly show?: (value: number) => string;
  /** From which share on it is shown as a warning; 0: never. */
  readonly warnAt?: number;
}) {
  const format = useFormat();
  const text = show ?? ((value: number) => format.number(value));
  const isKnown = total !== null && total > 0;
  const isNear = isKnown && warnAt > 0 && done >= total * warnAt;
  return (
    <div className="mt-2">
      <progress
        aria-label={label}
        className={classes(
          "h-1.5 w-full appearance-none overflow-hidden rounded-full bg-sunken indeterminate:animate-pulse indeterminate:bg-accent/40 [&::-webkit-progress-bar]:bg-transparent",
          isNear
            ? "[&::-moz-progress-bar]:bg-warn [&::-webkit-progress-value]:bg-warn"
            : "[&::-moz-progress-bar]:bg-accent [&::-webkit-progress-value]:bg-accent",
        )}
        {...(isKnown && { value: Math.min(done, total), max: total })}
      />
      <p className={classes("tabular text-xs", isNear ? "font-medium text-warn" : "text-soft")}>
        {text(done)}
        {isKnown && ` / ${text(total)} · ${format.percent(Math.min(1, done / total))}`}
      </p>
    </div>
  );
}
