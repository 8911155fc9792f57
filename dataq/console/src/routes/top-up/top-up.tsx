import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { balanceQuery, redeemVoucher } from "../../service/money.ts";
import { paymentOptionsQuery } from "../../service/payments.ts";
import { mayOperate, useMay, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { PageHead, Panel, Stat } from "../../ui/panel.tsx";
import { Failure, Loaded, Notice } from "../../ui/states.tsx";
import { Allowed } from "../allowed.tsx";
import { AutomaticTopUp } from "./auto-top-up.tsx";
import { OpenPayment } from "./open-payment.tsx";
import { Packages } from "./packages.tsx";
import { Pay } from "./pay.tsx";
import { PaymentTable } from "./payment-table.tsx";

export function TopUp() {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const mayPay = useMay("manage:billing");
  const client = useQueryClient();
  const balance = useQuery(balanceQuery);
  const { data: options } = useQuery(paymentOptionsQuery);
  // A provider's page leads back here with the payment.
  const { payment } = useSearch({ from: "/shell/top-up" });
  const navigate = useNavigate({ from: "/top-up" });
  const open = (id?: string) => void navigate({ search: id === undefined ? {} : { payment: id } });
  const [code, setCode] = useState("");
  const redeem = useMutation({
    mutationFn: () => redeemVoucher(code.trim()),
    onSuccess: async () => {
      setCode("");
      await client.invalidateQueries();
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    redeem.mutate();
  };
  return (
    <>
      <PageHead title={t.pages.topUp} about={t.topUp.about} />
      {balance.data?.frozen && (
        <div className="mb-5">
          <Notice tone="bad" title={t.overview.frozen}>
            {t.overview.frozenAbout}
          </Notice>
        </div>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-5">
          {payment ? (
            <OpenPayment id={payment} onClose={() => open()} />
          ) : (
            mayPay &&
            options !== undefined &&
            options.providers.length > 0 && <Pay options={options} onBegun={({ id }) => open(id)} />
          )}
          <Packages options={mayPay ? options : undefined} onBegun={({ id }) => open(id)} />
          <AutomaticTopUp options={options} />
          <Panel title={t.topUp.voucher} about={t.topUp.voucherAbout}>
            <Allowed to="manage:billing">
              <form className="flex flex-col gap-4" onSubmit={send}>
                <Field label={t.topUp.code} hint={t.topUp.codeHint}>
                  {(attributes) => (
                    <Input
                      {...attributes}
                      required
                      className="font-mono tracking-wide"
                      autoComplete="off"
                      spellCheck={false}
                      maxLength={80}
                      value={code}
                      onChange={(event) => setCode(event.target.value)}
                    />
                  )}
                </Field>
                {redeem.error && <Failure error={redeem.error} />}
                {redeem.data && (
                  <Notice
                    tone="good"
                    title={
                      redeem.data.percent !== undefined
                        ? t.topUp.discounted(
                            String(redeem.data.percent),
                            format.moment(redeem.data.until ?? ""),
                          )
                        : t.topUp.done(format.tokens(redeem.data.tokens), format.yuan(redeem.data.tokens))
                    }
                  >
                    <Link to="/ledger" className="underline underline-offset-4">
                      {t.pages.ledger}
                    </Link>
                  </Notice>
                )}
                <Button
                  type="submit"
                  kind="primary"
                  isBusy={redeem.isPending}
                  disabled={code.trim() === ""}
                  className="self-start"
                >
                  {t.topUp.redeem}
                </Button>
              </form>
            </Allowed>
          </Panel>
        </div>
        <div className="flex flex-col gap-3">
          <Loaded query={balance} lines={2}>
            {(data) => (
              <dl className="grid gap-3">
                <Stat
                  name={t.shell.balance}
                  value={format.yuan(data.balance)}
                  note={t.amount(format.tokens(data.balance))}
                />
              </dl>
            )}
          </Loaded>
          <p className="text-sm text-faint">{t.topUp.rate}</p>
          {mayOperate(user, "admin:finance") && (
            <Link to="/admin/vouchers" className={buttonClass()}>
              {t.topUp.makeVouchers}
            </Link>
          )}
        </div>
      </div>
      <PaymentTable onOpen={open} />
    </>
  );
}
