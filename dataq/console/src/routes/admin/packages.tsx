import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { pricingQuery } from "../../service/money.ts";
import { endOffer, offerPackage } from "../../service/packages.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { TOKENS_PER_FEN, TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { FieldGroup, NumberField } from "../../ui/number-field.tsx";
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
                {
                  name: t.packages.days,
                  isNumber: true,
                  cell: ({ days }) => t.daysLong(format.number(days)),
                },
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
          <NewPackage />
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

/** The service refuses more tokens than ten times what the price buys. */
const MOST_TIMES = 10;
const example = { tokens: "5000000", yuan: "80", days: "365" };

/** The fields of a package, and what a customer saves by it: of the example until they are filled in. */
function NewPackage() {
  const t = useText();
  const format = useFormat();
  const [values, setValues] = useState({ tokens: "", yuan: "", days: "" });
  const { packages, units } = t;
  const fields = [
    {
      name: "tokens",
      label: packages.tokens,
      unit: units.tokens,
      hint: packages.tokensHint,
      step: 1,
      max: 1e12,
    },
    { name: "yuan", label: packages.price, unit: units.yuan, hint: packages.priceHint, step: 0.01, max: 1e8 },
    { name: "days", label: packages.days, unit: units.days, hint: packages.daysHint, step: 1, max: 1096 },
  ] as const;
  const isFilled = Object.values(values).every((value) => Number(value) > 0);
  const shown = isFilled ? values : example;
  const tokens = Number(shown.tokens);
  const paid = Number(shown.yuan) * TOKENS_PER_YUAN;
  const isDear = tokens < paid;
  const isTooMany = tokens > paid * MOST_TIMES;
  const text = t.packages.outcome({
    price: format.yuan(paid),
    offer: t.packages.offer(format.tokens(tokens), format.number(Number(shown.days))),
    usual: format.yuan(tokens),
    saved: format.percent(1 - paid / tokens),
  });
  const outcome = isDear
    ? packages.tooDear(format.yuan(tokens))
    : isTooMany
      ? packages.tooMany(format.number(paid * MOST_TIMES))
      : text;
  return (
    <FieldGroup
      title={t.packages.new}
      outcome={isFilled ? outcome : t.exampleOf(text)}
      isWrong={isDear || isTooMany}
    >
      {fields.map((field) => (
        <NumberField
          key={field.name}
          {...field}
          example={example[field.name]}
          value={values[field.name]}
          onValue={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
    </FieldGroup>
  );
}
