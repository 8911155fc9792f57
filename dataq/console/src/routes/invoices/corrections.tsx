import type { Invoice } from "@dataq/contract/wire";
import { useText } from "../../text/text.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";

/** The invoices over parts of one: what they are over, their days and numbers. */
export function Corrections({ invoice }: { readonly invoice: Invoice }) {
  const t = useText();
  const format = useFormat();
  if (invoice.corrections.length === 0) return null;
  return (
    <ul className="mt-1.5 flex flex-col gap-1.5 text-xs text-soft">
      {invoice.corrections.map(({ kind, number, amount_fen, issued_at }) => (
        <li key={number}>
          {t.invoices.corrections[kind](
            format.yuan(amount_fen * TOKENS_PER_FEN),
            format.day(format.moment(issued_at)),
          )}
          <code className="block font-mono break-all">{number}</code>
        </li>
      ))}
    </ul>
  );
}
