import { chinaDay } from "../service/money.ts";
import { useText } from "../text/text.tsx";
import { DayField } from "./day-field.tsx";

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
      <DayField label={t.usage.from} day={from} max={to || chinaDay()} onDay={onFrom} />
      <DayField label={t.usage.to} day={to} max={chinaDay()} onDay={onTo} />
    </>
  );
}
