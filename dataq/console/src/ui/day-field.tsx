import { type ReactNode, useRef, useState } from "react";
import CalendarDays from "~icons/lucide/calendar-days";
import { useText } from "../text/text.tsx";
import { asDay } from "./day-text.ts";
import { Field, Input } from "./field.tsx";

interface DayFieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly optionalText?: string;
  /** Its name in a form. */
  readonly name?: string;
  readonly required?: boolean;
  /** Whether a time of the day belongs to it: YYYY-MM-DD HH:MM. */
  readonly hasTime?: boolean;
  /** What it shows at first, or, with `onDay`, what it shows. */
  readonly day?: string;
  /** The last day that may be chosen. */
  readonly max?: string;
  /** Told of each day that is complete, and of "" otherwise. */
  readonly onDay?: (day: string) => void;
}

/**
 * A field for a day, as a text. A browser writes its own fields for dates in its own language, whatever that of the page
 * is, so only its calendar is used, behind a button.
 */
export function DayField({
  label,
  hint,
  optionalText,
  name,
  required,
  hasTime = false,
  day = "",
  max,
  onDay,
}: DayFieldProps) {
  const t = useText();
  const calendar = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(day);
  const [told, setTold] = useState(day);
  const [isLeft, setLeft] = useState(false);
  // The page chose another day.
  if (onDay && day !== told) {
    setTold(day);
    setText(day);
  }
  const read = (written: string) => {
    const found = asDay(written, hasTime);
    return found !== undefined && (max === undefined || found <= max) ? found : undefined;
  };
  const form = hasTime ? "YYYY-MM-DD HH:MM" : "YYYY-MM-DD";
  const isWrong = text.trim() !== "" && read(text) === undefined;
  const problem = max === undefined ? t.day.wrong(form) : t.day.wrongUntil(form, max);
  const change = (written: string) => {
    setText(written);
    const found = read(written) ?? "";
    if (found !== told) onDay?.(found);
    if (onDay) setTold(found);
  };
  return (
    <Field
      label={label}
      hint={hint}
      {...(optionalText !== undefined && { optionalText })}
      error={isWrong && isLeft ? problem : undefined}
    >
      {(attributes) => (
        <span className="relative block">
          <Input
            {...attributes}
            ref={(input) => input?.setCustomValidity(isWrong ? problem : "")}
            required={required}
            value={text}
            placeholder={form}
            autoComplete="off"
            spellCheck={false}
            inputMode="numeric"
            maxLength={30}
            className="tabular pr-9"
            onChange={(event) => {
              setLeft(false);
              change(event.target.value);
            }}
            onBlur={() => {
              setLeft(true);
              const found = read(text);
              if (found !== undefined) setText(found);
            }}
          />
          {/* Only its calendar is seen, which opens at its place. */}
          <input
            ref={calendar}
            type={hasTime ? "datetime-local" : "date"}
            name={name}
            tabIndex={-1}
            aria-hidden="true"
            className="pointer-events-none absolute inset-0 opacity-0"
            value={(read(text) ?? "").replace(" ", "T")}
            max={max}
            onChange={(event) => change(event.target.value.replace("T", " "))}
          />
          <button
            type="button"
            aria-label={t.day.calendar(label)}
            title={t.day.calendar(label)}
            className="absolute top-1 right-1 rounded p-1.5 text-faint hover:text-ink"
            onClick={() => calendar.current?.showPicker()}
          >
            <CalendarDays className="size-4" aria-hidden="true" />
          </button>
        </span>
      )}
    </Field>
  );
}
