import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";

/** The number of an invoice that was issued at the tax bureau. */
export function InvoiceNumber() {
  const t = useText();
  return (
    <Field label={t.invoices.number} hint={t.allInvoices.numberHint}>
      {(attributes) => (
        <Input
          {...attributes}
          name="number"
          className="font-mono"
          required
          maxLength={50}
          autoComplete="off"
        />
      )}
    </Field>
  );
}
