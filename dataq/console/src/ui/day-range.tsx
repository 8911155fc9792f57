import { chinaDay } from "../service/money.ts";
import { useText } from "../text/text.tsx";
import { Field, Input } from "./field.tsx";

export interface DayRangeProps {
  /** The first and the last day, as YYYY-MM-DD; empty while somebody types. */
  readonly from: string;
  readonly to: string;
  readonly onFrom: (day: string) => void;
  readonly onTo: (day: string) => void;
}

/** Two fields for the first and the last day of what is shown. */
export function DayRange({ from, to, onFrom, onTo }: DayRangeProps) {
  const t = useText();
  return (
    <>
      <Field label={t.usage.from}>
        {(attributes) => (
          <Input
            {...attributes}
            type="date"
            value={from}
            max={to}
            onChange={(event) => onFrom(event.target.value)}
          />
        )}
      </Field>
      <Field label={t.usage.to}>
        {(attributes) => (
          <Input
            {...attributes}
            type="date"
            value={to}
            max={chinaDay()}
            onChange={(event) => onTo(event.target.value)}
          />
        )}
      </Field>
    </>
  );
}
