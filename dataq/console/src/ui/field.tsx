import type {
  ComponentProps,
  InputHTMLAttributes,
  ReactNode,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from "react";
import { useId } from "react";
import ChevronDown from "~icons/lucide/chevron-down";
import { classes } from "./classes.ts";

interface FieldProps {
  readonly label: string;
  /** The name of the field in calls, beside its label. */
  readonly wireName?: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly isOptional?: boolean;
  readonly optionalText?: string;
  readonly children: (attributes: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean | undefined;
  }) => ReactNode;
}

/** A form field with its label, hint and error. */
export function Field({ label, wireName, hint, error, optionalText, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = Boolean(error || hint);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
        {wireName && <code className="ml-1.5 font-mono text-xs font-normal text-faint">{wireName}</code>}
        {optionalText && <span className="ml-1.5 font-normal text-faint">{optionalText}</span>}
      </label>
      {children({
        id,
        "aria-describedby": hasNote ? noteId : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {hasNote && (
        <p id={noteId} className={classes("text-xs", error ? "text-bad" : "text-faint")}>
          {error || hint}
        </p>
      )}
    </div>
  );
}

const box =
  "w-full min-w-0 rounded-md border border-line-strong/70 bg-surface text-ink shadow-card placeholder:text-faint/80 aria-invalid:border-bad disabled:bg-sunken disabled:text-faint";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...rest} className={classes(box, "h-9 px-3", className)} />;
}

export function Textarea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea {...rest} className={classes(box, "px-3 py-2", className)} />;
}

/** A native select, which works with every keyboard, screen reader and phone. */
export function Select({ className, children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <span className={classes("relative block", className)}>
      <select {...rest} className={classes(box, "h-9 appearance-none truncate pr-8 pl-3")}>
        {children}
      </select>
      <ChevronDown className="pointer-events-none absolute top-2.5 right-2.5 size-4 text-faint" />
    </span>
  );
}

export function Checkbox({
  label,
  hint,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { readonly label: ReactNode; readonly hint?: ReactNode }) {
  return (
    <label className="flex items-start gap-2.5 py-1">
      <input {...rest} type="checkbox" className="mt-1 size-4 shrink-0 accent-(--accent)" />
      <span>
        <span className="text-ink">{label}</span>
        {hint && <span className="block text-xs text-faint">{hint}</span>}
      </span>
    </label>
  );
}
