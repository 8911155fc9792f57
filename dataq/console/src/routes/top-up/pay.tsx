import type { Payment, PaymentOptions, PaymentProvider } from "@dataq/contract/wire";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { createPayment } from "../../service/payments.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Field, Input } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useOnce } from "../../ui/once.ts";
import { Panel } from "../../ui/panel.tsx";
import { Failure } from "../../ui/states.tsx";

/** Chooses an amount and a way to pay. */
export function Pay({
  options,
  onBegun,
}: {
  readonly options: PaymentOptions;
  readonly onBegun: (payment: Payment) => void;
}) {
  const t = useText();
  const format = useFormat();
  const client = useQueryClient();
  const { providers, offers_fen: offers } = options;
  const [provider, setProvider] = useState<PaymentProvider>(providers[0]!.name);
  const [yuan, setYuan] = useState(String((offers[0] ?? 0) / 100));
  const leastFen = providers.find(({ name }) => name === provider)!.least_fen;
  const amountFen = Math.round(Number(yuan) * 100);
  const begin = useOnce({
    mutationFn: () => createPayment({ provider, amount_fen: amountFen }),
    onSuccess: async (payment) => {
      onBegun(payment);
      await client.invalidateQueries({ queryKey: ["payments"] });
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  return (
    <Panel title={t.pay.title} about={t.pay.about}>
      <form className="flex flex-col gap-5" onSubmit={send}>
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1.5 text-sm font-medium">{t.pay.amount}</legend>
          <div className="flex flex-wrap gap-2">
            {offers.map((fen) => (
              <Choice
                key={fen}
                group="offer"
                isChosen={amountFen === fen}
                onChoose={() => setYuan(String(fen / 100))}
              >
                {format.yuan(fen * TOKENS_PER_FEN)}
              </Choice>
            ))}
          </div>
          <Field
            label={t.pay.other}
            hint={t.pay.gets(format.tokens(Math.max(0, amountFen) * TOKENS_PER_FEN || 0))}
          >
            {(attributes) => (
              <Input
                {...attributes}
                className="max-w-40"
                type="number"
                inputMode="decimal"
                required
                min={leastFen / 100}
                max={options.most_fen / 100}
                step="0.01"
                value={yuan}
                onChange={(event) => setYuan(event.target.value)}
              />
            )}
          </Field>
        </fieldset>
        <fieldset>
          <legend className="mb-1.5 text-sm font-medium">{t.pay.way}</legend>
          <div className="flex flex-wrap gap-2">
            {providers.map(({ name }) => (
              <Choice
                key={name}
                group="provider"
                isChosen={provider === name}
                onChoose={() => setProvider(name)}
              >
                {t.pay.providers[name]}
              </Choice>
            ))}
          </div>
        </fieldset>
        {begin.error && <Failure error={begin.error} />}
        <Button type="submit" kind="primary" isBusy={begin.isPending} className="self-start">
          {t.pay.begin}
        </Button>
      </form>
    </Panel>
  );
}

/** A radio button that looks like a button. */
function Choice({
  group,
  isChosen,
  onChoose,
  children,
}: {
  readonly group: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: string;
}) {
  return (
    <label
      className={classes(
        "inline-flex h-10 cursor-pointer items-center rounded-md border px-4 font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent",
        isChosen
          ? "border-accent bg-accent-wash text-accent-strong"
          : "border-line-strong/60 hover:bg-sunken",
      )}
    >
      <input type="radio" name={group} className="sr-only" checked={isChosen} onChange={onChoose} />
      {children}
    </label>
  );
}
