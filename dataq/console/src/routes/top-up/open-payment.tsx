import type { Payment } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { renderSVG } from "uqr";
import { paymentQuery } from "../../service/payments.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Loaded, Notice } from "../../ui/states.tsx";

/** Where a payment is paid, and what has become of it. */
export function OpenPayment({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText();
  const client = useQueryClient();
  const query = useQuery(paymentQuery(id));
  const state = query.data?.state;
  // The balance above and the list below have changed, too.
  useEffect(() => {
    if (state !== undefined && state !== "open")
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "payment" });
  }, [client, state]);
  return (
    <Panel
      title={t.pay.title}
      actions={
        <Button size="small" onClick={onClose}>
          {state === "open" ? t.pay.another : t.close}
        </Button>
      }
    >
      <Loaded query={query} lines={4}>
        {(payment) => <Outcome payment={payment} />}
      </Loaded>
    </Panel>
  );
}

function Outcome({ payment }: { readonly payment: Payment }) {
  const t = useText();
  const format = useFormat();
  const amount = format.yuan(payment.amount_fen * TOKENS_PER_FEN);
  if (payment.state === "paid")
    return (
      <Notice tone="good" title={t.topUp.done(format.tokens(payment.tokens), amount)}>
        <Link to="/ledger" className="underline underline-offset-4">
          {t.pages.ledger}
        </Link>
      </Notice>
    );
  if (payment.state !== "open")
    return (
      <Notice tone="warn" title={t.pay.states[payment.state]}>
        {t.pay.tryAgain}
      </Notice>
    );
  const provider = t.pay.providers[payment.provider];
  return (
    <div className="flex flex-col gap-4">
      <p className="tabular text-2xl font-semibold">{amount}</p>
      {payment.url && (
        <>
          <a href={payment.url} rel="noreferrer" className={`${buttonClass("primary")} self-start`}>
            {t.pay.openPage(provider)}
          </a>
          <p className="text-sm text-soft">{t.pay.pageAbout}</p>
        </>
      )}
      {payment.qr && (
        <>
          <img
            src={`data:image/svg+xml,${encodeURIComponent(renderSVG(payment.qr, { border: 2 }))}`}
            alt={t.pay.scan(provider)}
            width={208}
            height={208}
            className="rounded-lg border border-line bg-white"
          />
          <p className="text-sm text-soft">{t.pay.scan(provider)}</p>
        </>
      )}
      {payment.transfer && (
        <>
          <dl className="grid gap-x-6 gap-y-2 rounded-lg border border-line bg-sunken p-4 sm:grid-cols-[auto_1fr] sm:items-center">
            {(
              [
                [t.pay.payee, payment.transfer.payee],
                [t.pay.account, payment.transfer.account],
                [t.pay.bank, payment.transfer.bank],
                [t.pay.reference, payment.transfer.reference],
              ] as const
            ).map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-sm text-faint">{name}</dt>
                <dd className="flex flex-wrap items-center gap-2">
                  <span className="font-medium break-all select-all">{value}</span>
                  <CopyButton text={value} />
                </dd>
              </div>
            ))}
          </dl>
          <p className="text-sm text-soft">{t.pay.transferAbout}</p>
        </>
      )}
      <p role="status" className="text-sm text-faint">
        {payment.transfer ? t.pay.waitingForOperator : t.pay.waiting}
      </p>
      <p className="tabular text-xs text-faint">{t.pay.deadline(format.moment(payment.expires_at))}</p>
    </div>
  );
}
