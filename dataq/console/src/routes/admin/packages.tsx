import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { pricingQuery } from "../../service/money.ts";
import { endOffer, offerPackage } from "../../service/packages.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ForFinance } from "./plans.tsx";

/** Packages that customers can buy. */
export function PackageOffers() {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const mayChange = mayOperate(useSignedIn(), "admin:finance");
  const query = useQuery(pricingQuery);
  const [ending, setEnding] = useState<string | null>(null);
  const changed = async () => {
    await client.invalidateQueries({ queryKey: pricingQuery.queryKey });
    await client.invalidateQueries({ queryKey: ["packages"] });
    say(t.plans.published);
  };
  const fields = [
    ["tokens", t.packages.tokens, 1, undefined],
    ["yuan", t.packages.price, 0.01, undefined],
    ["days", t.packages.days, 1, 30],
  ] as const;
  return (
    <Panel title={t.packages.title} about={t.packages.operatorAbout} isFlush>
      <Loaded query={query} lines={2}>
        {({ packages }) =>
          packages.length === 0 ? (
            <Empty title={t.packages.none} />
          ) : (
            <Table
              label={t.packages.title}
              rows={packages}
              keyOf={({ id }) => id}
              columns={[
                { name: t.packages.tokens, isNumber: true, cell: ({ tokens }) => format.tokens(tokens) },
                {
                  name: t.packages.price,
                  isNumber: true,
                  cell: ({ price_fen }) => format.yuan(price_fen * TOKENS_PER_FEN),
                },
                { name: t.packages.days, isNumber: true, cell: ({ days }) => format.number(days) },
                {
                  name: t.actions,
                  cell: ({ id }) =>
                    mayChange ? (
                      <Button size="small" kind="danger" onClick={() => setEnding(id)}>
                        {t.packages.end}
                      </Button>
                    ) : (
                      "–"
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <ForFinance>
        <SettingForm
          key={query.data?.packages.length ?? 0}
          action={t.packages.create}
          onSend={async ({ tokens = "", yuan = "", days = "" }) => {
            await offerPackage({
              tokens: Number(tokens),
              price_fen: Math.round(Number(yuan) * 100),
              days: Number(days),
            });
            await changed();
          }}
        >
          <div className="grid gap-4 sm:grid-cols-3">
            {fields.map(([name, label, step, value]) => (
              <Field key={name} label={label}>
                {(attributes) => (
                  <Input
                    {...attributes}
                    name={name}
                    type="number"
                    min={step}
                    step={step}
                    required
                    defaultValue={value}
                  />
                )}
              </Field>
            ))}
          </div>
        </SettingForm>
      </ForFinance>
      {ending !== null && (
        <Confirm
          title={t.packages.endTitle}
          about={t.packages.endAbout}
          action={t.packages.end}
          onConfirm={async () => {
            await endOffer(ending);
            setEnding(null);
            await changed();
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </Panel>
  );
}
