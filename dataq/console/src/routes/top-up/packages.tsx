import type {
  BoughtPackage,
  PackageOffer,
  Payment,
  PaymentOptions,
  PaymentProvider,
} from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { buyPackage, packagesQuery } from "../../service/packages.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useOnce } from "../../ui/once.ts";
import { Panel } from "../../ui/panel.tsx";
import { Failure } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";

/** Packages on offer, and those that the account has. Nothing where there are none. */
export function Packages({
  options,
  onBegun,
}: {
  readonly options: PaymentOptions | undefined;
  readonly onBegun: (payment: Payment) => void;
}) {
  const t = useText();
  const { data } = useQuery(packagesQuery);
  if (!data || ((data.offers.length === 0 || !options) && data.data.length === 0)) return null;
  return (
    <Panel title={t.packages.title} about={t.packages.about} isFlush>
      {options && options.providers.length > 0 && data.offers.length > 0 && (
        <Offers offers={data.offers} options={options} onBegun={onBegun} />
      )}
      {data.data.length > 0 && <Own packages={data.data} />}
    </Panel>
  );
}

function Offers({
  offers,
  options,
  onBegun,
}: {
  readonly offers: readonly PackageOffer[];
  readonly options: PaymentOptions;
  readonly onBegun: (payment: Payment) => void;
}) {
  const t = useText();
  const format = useFormat();
  const client = useQueryClient();
  const [provider, setProvider] = useState<PaymentProvider>(options.providers[0]!.name);
  const leastFen = options.providers.find(({ name }) => name === provider)!.least_fen;
  const buy = useOnce({
    mutationFn: (offer: string) => buyPackage(provider, offer),
    onSuccess: async (payment) => {
      onBegun(payment);
      await client.invalidateQueries({ queryKey: ["payments"] });
    },
  });
  return (
    <div className="flex flex-col gap-4 p-4 sm:p-5">
      {options.providers.length > 1 && (
        <Field label={t.pay.way}>
          {(attributes) => (
            <Select
              {...attributes}
              className="max-w-56"
              value={provider}
              onChange={(event) => setProvider(event.target.value as PaymentProvider)}
            >
              {options.providers.map(({ name }) => (
                <option key={name} value={name}>
                  {t.pay.providers[name]}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      <ul className="flex flex-col gap-2">
        {offers.map(({ id, tokens, price_fen, days }) => {
          const more = tokens / (price_fen * TOKENS_PER_FEN) - 1;
          return (
            <li
              key={id}
              className="flex flex-wrap items-center justify-between gap-3 rounded-md border border-line p-3"
            >
              <span>
                <span className="block font-medium">
                  {t.packages.offer(format.tokens(tokens), format.number(days))}
                </span>
                {more >= 0.005 && (
                  <span className="text-sm text-good">{t.packages.more(format.percent(more))}</span>
                )}
                {price_fen < leastFen && (
                  <span className="block text-sm text-warn">
                    {t.packages.tooCheap(t.pay.providers[provider], format.yuan(leastFen * TOKENS_PER_FEN))}
                  </span>
                )}
              </span>
              <Button
                kind="primary"
                isBusy={buy.isPending}
                disabled={price_fen < leastFen}
                onClick={() => buy.mutate(id)}
              >
                {t.packages.buy(format.yuan(price_fen * TOKENS_PER_FEN))}
              </Button>
            </li>
          );
        })}
      </ul>
      {buy.error && <Failure error={buy.error} />}
    </div>
  );
}

function Own({ packages }: { readonly packages: readonly BoughtPackage[] }) {
  const t = useText();
  const format = useFormat();
  return (
    <>
      <h3 className="border-t border-line px-4 pt-4 font-semibold sm:px-5">{t.packages.own}</h3>
      <Table
        label={t.packages.own}
        rows={packages}
        keyOf={({ id }) => id}
        columns={[
          { name: t.packages.tokens, isNumber: true, cell: ({ tokens }) => format.tokens(tokens) },
          { name: t.packages.left, isNumber: true, cell: ({ left }) => format.tokens(left) },
          {
            name: t.packages.ends,
            className: "tabular whitespace-nowrap",
            cell: ({ ends_at, ended_at }) => (ended_at ? t.packages.ended : format.moment(ends_at)),
          },
        ]}
      />
    </>
  );
}
