import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import ReceiptText from "~icons/lucide/receipt-text";
import { buyerQuery, requestInvoice } from "../../service/invoices.ts";
import { paymentsQuery } from "../../service/payments.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { useOnce } from "../../ui/once.ts";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loaded } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";

/** Requests an invoice for payments that are on none yet. */
export function RequestForm() {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const query = useInfiniteQuery(paymentsQuery);
  const { data: buyer } = useQuery(buyerQuery);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { mutate, isPending, error } = useOnce({
    mutationFn: () => requestInvoice([...chosen]),
    onSuccess: async () => {
      setChosen(new Set());
      say(t.invoices.requested);
      await Promise.all([
        client.invalidateQueries({ queryKey: ["payments"] }),
        client.invalidateQueries({ queryKey: ["invoices"] }),
      ]);
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <Panel title={t.invoices.request} about={t.invoices.requestAbout} isFlush>
      <Loaded query={query} lines={4}>
        {({ pages }) => {
          const open = pages
            .flatMap(({ data }) => data)
            .filter(
              ({ state, invoice_id, amount_fen, returned_fen }) =>
                state === "paid" && invoice_id === null && returned_fen < amount_fen,
            );
          const fenOf = (payment: (typeof open)[number]) => payment.amount_fen - payment.returned_fen;
          const sum = open.reduce((total, one) => (chosen.has(one.id) ? total + fenOf(one) : total), 0);
          if (open.length === 0)
            return (
              <Empty icon={<ReceiptText className="size-5" />} title={t.invoices.nothing}>
                {t.invoices.nothingAbout}
              </Empty>
            );
          return (
            <form className="flex flex-col" onSubmit={send}>
              <ul className="divide-y divide-line">
                {open.map((payment) => (
                  <li key={payment.id} className="px-4 py-2 sm:px-5">
                    <Checkbox
                      checked={chosen.has(payment.id)}
                      onChange={() => toggle(payment.id)}
                      label={
                        <span className="tabular">
                          {format.yuan(fenOf(payment) * TOKENS_PER_FEN)}
                          <span className="ml-2 text-soft">{t.pay.providers[payment.provider]}</span>
                        </span>
                      }
                      hint={format.moment(payment.paid_at)}
                    />
                  </li>
                ))}
              </ul>
              <div className="flex flex-col gap-3 border-t border-line p-4 sm:px-5">
                {error && <Failure error={error} />}
                <div className="flex flex-wrap items-center gap-3">
                  <Button
                    type="submit"
                    kind="primary"
                    isBusy={isPending}
                    disabled={chosen.size === 0 || buyer === null}
                  >
                    {t.invoices.request}
                  </Button>
                  <span className="tabular text-sm text-soft">
                    {buyer === null
                      ? t.invoices.buyerFirst
                      : t.invoices.sum(format.yuan(sum * TOKENS_PER_FEN))}
                  </span>
                </div>
              </div>
            </form>
          );
        }}
      </Loaded>
      <MoreRows query={query} />
    </Panel>
  );
}
