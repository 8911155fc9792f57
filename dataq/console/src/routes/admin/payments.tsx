import type { AnyPayment, PaymentState, PaymentTrouble } from "@dataq/contract/wire";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import WalletCards from "~icons/lucide/wallet-cards";
import {
  allPaymentsQuery,
  confirmPayment,
  paymentOptionsQuery,
  returnPayment,
} from "../../service/payments.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { FilteredList } from "../../ui/filtered-list.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { PageHead } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Notice } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { takenByBank, usePaymentColumns } from "../top-up/payment-table.tsx";

type Act = { readonly kind: "confirm" | "refund"; readonly payment: AnyPayment };

/** Payments of all accounts: transfers to confirm, refunds, and what does not fit. */
export function Payments() {
  const t = useText();
  const [state, setState] = useState<PaymentState | "">("");
  const [act, setAct] = useState<Act | null>(null);
  const query = useInfiniteQuery(allPaymentsQuery(state));
  const format = useFormat();
  const { data: options } = useQuery(paymentOptionsQuery);
  return (
    <>
      <PageHead title={t.pages.payments} about={t.payments.about} />
      {options?.providers.length === 0 && (
        <div className="mb-5">
          <Notice title={t.payments.off}>{t.payments.offAbout}</Notice>
        </div>
      )}
      {query.data?.pages[0]?.shut.map(({ provider, since, said, right }) => (
        <div key={provider} className="mb-5">
          {right === null ? (
            <Notice tone="bad" title={t.payments.shut(t.pay.providers[provider])}>
              {t.payments.shutAbout(format.moment(since), said)}
            </Notice>
          ) : (
            <Notice tone="bad" title={t.payments.lacks(t.pay.providers[provider])}>
              {t.payments.lacksAbout(format.moment(since), right, said)}
            </Notice>
          )}
        </div>
      ))}
      <FilteredList<AnyPayment, PaymentState>
        title={t.pay.list}
        query={query}
        states={t.pay.states}
        state={state}
        onState={setState}
        empty={
          <Empty icon={<WalletCards className="size-5" />} title={t.payments.none}>
            {t.payments.noneAbout}
          </Empty>
        }
      >
        {(rows) => <Rows rows={rows} onAct={setAct} />}
      </FilteredList>
      {act && <ActDialog act={act} onClose={() => setAct(null)} />}
    </>
  );
}

function Rows({ rows, onAct }: { readonly rows: readonly AnyPayment[]; readonly onAct: (act: Act) => void }) {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const columns = usePaymentColumns<AnyPayment>();
  return (
    <Table
      label={t.pay.list}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        ...columns,
        {
          name: t.payments.account,
          cell: ({ account_id, account_name }) => (
            <Link
              to="/admin/accounts/$id"
              params={{ id: account_id }}
              className="text-accent underline-offset-4 hover:underline"
            >
              {account_name}
            </Link>
          ),
        },
        {
          name: t.payments.transaction,
          isExtra: true,
          className: "max-w-56",
          cell: ({ id, transaction, trouble, lost_tokens, returns }) => (
            <>
              <code className="block font-mono text-xs break-all">{transaction ?? id}</code>
              {trouble && (
                <span className="mt-1 block text-xs text-bad">
                  <Trouble trouble={trouble} />
                </span>
              )}
              {lost_tokens > 0 && (
                <span className="mt-1 block text-xs text-bad">
                  {t.payments.lost(format.yuan(lost_tokens))}
                </span>
              )}
              {takenByBank(returns) > 0 && (
                <span className="mt-1 block text-xs text-soft">{t.payments.disputeAbout}</span>
              )}
            </>
          ),
        },
        {
          name: t.payments.act,
          cell: (payment) =>
            !mayOperate(user, "admin:finance") ? null : payment.state === "paid" &&
              payment.returned_fen < payment.amount_fen ? (
              <Button size="small" onClick={() => onAct({ kind: "refund", payment })}>
                {t.payments.refund}
              </Button>
            ) : payment.provider === "bank" && payment.state !== "paid" ? (
              <Button size="small" onClick={() => onAct({ kind: "confirm", payment })}>
                {t.payments.confirm}
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

/** What does not fit about a payment, and what to do. */
function Trouble({ trouble }: { readonly trouble: PaymentTrouble }) {
  const { payments } = useText();
  const format = useFormat();
  const { troubles } = payments;
  switch (trouble.code) {
    case "paid_twice":
      return troubles.paid_twice(trouble.transaction);
    case "other_amount": {
      const { amount, currency, transaction } = trouble;
      const said =
        currency === "CNY"
          ? format.yuan(amount * TOKENS_PER_FEN)
          : payments.smallest(format.number(amount), currency);
      return troubles.other_amount(said, transaction);
    }
    case "account_closed":
      return troubles.account_closed;
    case "returned_too_much":
      return troubles.returned_too_much(format.yuan(trouble.amount_fen * TOKENS_PER_FEN));
    case "other":
      return troubles.other(trouble.text);
  }
}

function ActDialog({ act, onClose }: { readonly act: Act; readonly onClose: () => void }) {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const { kind, payment } = act;
  const leftFen = payment.amount_fen - payment.returned_fen;
  const amount = format.yuan(leftFen * TOKENS_PER_FEN);
  const send = async ({ yuan = "", transaction = "", reason = "" }: Record<string, string>) => {
    const amount_fen = Math.round(Number(yuan) * 100);
    const number = transaction.trim();
    if (kind === "confirm") await confirmPayment(payment.id, { transaction: number, amount_fen });
    else await returnPayment(payment.id, { amount_fen, reason, ...(number && { transaction: number }) });
    await client.invalidateQueries({ queryKey: ["admin"] });
    say(t.accounts.booked);
    onClose();
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={
        kind === "confirm" ? t.payments.confirmTitle(amount) : t.payments.refundTitle(payment.account_name)
      }
      about={kind === "confirm" ? t.payments.confirmAbout : t.payments.refundAbout}
    >
      <SettingForm action={kind === "confirm" ? t.payments.confirm : t.payments.refund} onSend={send}>
        <Field label={t.accounts.amount} hint={kind === "refund" && t.payments.atMost(amount)}>
          {(attributes) => (
            <Input
              {...attributes}
              name="yuan"
              type="number"
              min="0.01"
              max={leftFen / 100}
              step="0.01"
              required
              defaultValue={kind === "refund" ? leftFen / 100 : ""}
            />
          )}
        </Field>
        {payment.provider === "bank" && (
          <Field label={t.payments.bankNumber} hint={t.payments.bankNumberHint}>
            {(attributes) => (
              <Input {...attributes} name="transaction" required maxLength={200} autoComplete="off" />
            )}
          </Field>
        )}
        {kind === "refund" && (
          <Field label={t.accounts.reason}>
            {(attributes) => (
              <Input {...attributes} name="reason" required maxLength={200} autoComplete="off" />
            )}
          </Field>
        )}
      </SettingForm>
    </Dialog>
  );
}
