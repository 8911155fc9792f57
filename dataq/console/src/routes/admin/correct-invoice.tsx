import type { AnyInvoice } from "@dataq/contract/wire";
import { useQueryClient } from "@tanstack/react-query";
import { correctInvoice } from "../../service/invoices.ts";
import { useText } from "../../text/text.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { useToast } from "../../ui/toast.tsx";
import { InvoiceNumber } from "./invoice-number.tsx";

/** Records a red invoice over what went back of an issued one, or another one over what came back. */
export function CorrectInvoice({
  invoice,
  onClose,
}: {
  readonly invoice: AnyInvoice;
  readonly onClose: () => void;
}) {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const kind = invoice.red_fen > 0 ? "red" : "again";
  const dueFen = kind === "red" ? invoice.red_fen : invoice.again_fen;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.allInvoices.correct[kind]}
      about={t.allInvoices.correctAbout[kind]}
    >
      <SettingForm
        action={t.save}
        onSend={async ({ number = "", yuan = "" }) => {
          const amount_fen = Math.round(Number(yuan) * 100);
          await correctInvoice(invoice, { kind, number: number.trim(), amount_fen });
          await client.invalidateQueries({ queryKey: ["admin", "invoices"] });
          say(t.settings.saved);
          onClose();
        }}
      >
        <InvoiceNumber />
        <Field
          label={t.accounts.amount}
          hint={t.allInvoices.correctHint[kind](format.yuan(dueFen * TOKENS_PER_FEN))}
        >
          {(attributes) => (
            <Input
              {...attributes}
              name="yuan"
              type="number"
              min="0.01"
              max={dueFen / 100}
              step="0.01"
              required
              defaultValue={dueFen / 100}
            />
          )}
        </Field>
      </SettingForm>
    </Dialog>
  );
}
