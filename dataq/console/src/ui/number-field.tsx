import type { ReactNode } from "react";
import { Field, Input } from "./field.tsx";

/** A number with its unit, what it may be, and an example while it is empty. */
export function NumberField({
  name,
  label,
  unit,
  hint,
  example,
  value,
  onValue,
  step,
  min = step,
  max,
}: {
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly hint: ReactNode;
  readonly example?: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly step: number;
  readonly min?: number;
  readonly max?: number;
}) {
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <span className="flex items-center gap-2">
          <Input
            {...attributes}
            name={name}
            type="number"
            inputMode={step < 1 ? "decimal" : "numeric"}
            min={min}
            max={max}
            step={step}
            placeholder={example}
            required
            className="tabular"
            value={value}
            onChange={(event) => onValue(event.target.value)}
          />
          <span className="shrink-0 text-sm text-soft">{unit}</span>
        </span>
      )}
    </Field>
  );
}

/** Fields that belong together, under their name, with what they come to. */
export function FieldGroup({
  title,
  outcome,
  isWrong = false,
  children,
}: {
  readonly title: string;
  /** What the fields, as they stand, mean. */
  readonly outcome: ReactNode;
  readonly isWrong?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-3 font-semibold">{title}</legend>
      <div className="grid items-start gap-4 sm:grid-cols-3">{children}</div>
      <div className="mt-3">
        <Outcome isWrong={isWrong}>{outcome}</Outcome>
      </div>
    </fieldset>
  );
}

/** What fields, as they stand, mean. */
export function Outcome({ isWrong, children }: { readonly isWrong: boolean; readonly children: ReactNode }) {
  return (
    <p
      role="status"
      className={`rounded-md px-3 py-2 text-sm ${isWrong ? "bg-warn-wash text-warn" : "bg-sunken text-soft"}`}
    >
      {children}
    </p>
  );
}
