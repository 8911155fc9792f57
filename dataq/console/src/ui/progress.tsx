import { useFormat } from "./format.tsx";

/** A progress bar. Without a total, it shows only that work is going on. */
export function Progress({
  label,
  done,
  total,
  show,
}: {
  readonly label: string;
  readonly done: number;
  readonly total: number | null;
  readonly show?: (value: number) => string;
}) {
  const format = useFormat();
  const text = show ?? ((value: number) => format.number(value));
  const isKnown = total !== null && total > 0;
  return (
    <div className="mt-2">
      <progress
        aria-label={label}
        className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-sunken indeterminate:animate-pulse indeterminate:bg-accent/40 [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-transparent [&::-webkit-progress-value]:bg-accent"
        {...(isKnown && { value: Math.min(done, total), max: total })}
      />
      <p className="tabular text-xs text-soft">
        {text(done)}
        {isKnown && ` / ${text(total)} · ${format.percent(Math.min(1, done / total))}`}
      </p>
    </div>
  );
}
