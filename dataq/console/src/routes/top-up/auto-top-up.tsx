import type { AutoTopUp, PaymentOptions } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { allowAutoTopUp, autoTopUpQuery, endAutoTopUp } from "../../service/auto-top-up.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { FieldGroup, NumberField } from "../../ui/number-field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Allowed } from "../allowed.tsx";

/** Charges of a saved card when the balance is low. Nothing where no provider can. */
export function AutomaticTopUp({ options }: { readonly options: PaymentOptions | undefined }) {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const { data } = useQuery(autoTopUpQuery);
  const leastFen = options?.providers.find(({ automatic }) => automatic)?.least_fen;
  if (!data?.available || leastFen === undefined) return null;
  const { state, amount_fen: amountFen, most_fen: mostFen } = data;
  const isUsed = state === "on" && data.charged_fen + (amountFen ?? 0) > (mostFen ?? Infinity);
  return (
    <Panel title={t.auto.title} about={t.auto.about}>
      <div className="flex flex-col gap-4">
        <Notice
          tone={state === "off" ? "info" : state === "on" && !data.reason && !isUsed ? "good" : "warn"}
          title={t.auto.states[state]}
        >
          {data.card && <p>{data.card}</p>}
          {data.charged_fen > 0 && <p>{t.auto.charged(format.yuan(data.charged_fen * TOKENS_PER_FEN))}</p>}
          {data.reason && <p>{t.auto.failed(t.auto.reasons[data.reason])}</p>}
          {data.retry_at && <p>{t.auto.retry(format.moment(data.retry_at))}</p>}
          {isUsed && <p>{t.auto.used}</p>}
        </Notice>
        <Allowed to="manage:billing">
          {data.url && (
            <a href={data.url} className={buttonClass()}>
              {t.auto.save}
            </a>
          )}
          <SettingForm
            key={data.consented_at ?? ""}
            action={state === "on" ? t.auto.change : t.auto.allow}
            beside={
              state !== "off" && (
                <Button
                  kind="danger"
                  onClick={async () => {
                    await endAutoTopUp();
                    await client.invalidateQueries({ queryKey: autoTopUpQuery.queryKey });
                    say(t.auto.ended);
                  }}
                >
                  {t.auto.end}
                </Button>
              )
            }
            onSend={async ({ low = "", amount = "", most = "", another }) => {
              const allowed = await allowAutoTopUp({
                low_tokens: Math.round(Number(low) * TOKENS_PER_YUAN),
                amount_fen: Math.round(Number(amount) * 100),
                most_fen: Math.round(Number(most) * 100),
                consent: true,
                new_card: another !== undefined,
              });
              client.setQueryData(autoTopUpQuery.queryKey, allowed);
              if (allowed.url) location.assign(allowed.url);
              else say(t.settings.saved);
            }}
          >
            <Limits of={data} leastFen={leastFen} />
            {data.card !== null && <Checkbox name="another" label={t.auto.another} />}
            <Checkbox label={t.auto.consent} required />
          </SettingForm>
        </Allowed>
      </div>
    </Panel>
  );
}

/** When the card is charged, how much, and how often that can happen in a month. */
function Limits({
  of: { low_tokens: low, amount_fen: amount, most_fen: most },
  leastFen,
}: {
  readonly of: AutoTopUp;
  /** The smallest charge that the provider takes. */
  readonly leastFen: number;
}) {
  const t = useText();
  const format = useFormat();
  const [values, setValues] = useState({
    low: String(low === null ? 20 : low / TOKENS_PER_YUAN),
    amount: String((amount ?? Math.max(10_000, leastFen)) / 100),
    most: String((most ?? Math.max(50_000, leastFen)) / 100),
  });
  const yuan = (name: keyof typeof values) => format.yuan(Number(values[name]) * TOKENS_PER_YUAN);
  const times = Math.floor(Number(values.most) / Number(values.amount));
  const least = format.yuan(leastFen * TOKENS_PER_FEN);
  const isSmall = Number(values.amount) * 100 < leastFen;
  const isWrong = isSmall || !(Number.isFinite(times) && times >= 1 && Number(values.low) > 0);
  return (
    <FieldGroup
      title={t.auto.limits}
      isWrong={isWrong}
      outcome={
        isSmall
          ? t.auto.tooSmall(least)
          : isWrong
            ? t.auto.never
            : t.auto.outcome({
                low: yuan("low"),
                amount: yuan("amount"),
                most: yuan("most"),
                times: format.number(times),
              })
      }
    >
      {(["low", "amount", "most"] as const).map((name) => (
        <NumberField
          key={name}
          name={name}
          label={t.auto[name]}
          unit={t.units.yuan}
          hint={name === "amount" ? t.auto.hints.amount(least) : t.auto.hints[name]}
          value={values[name]}
          onValue={(value) => setValues({ ...values, [name]: value })}
          step={0.01}
          min={name === "low" ? 0.01 : leastFen / 100}
          max={name === "low" ? 2e7 : 1e8}
        />
      ))}
    </FieldGroup>
  );
}
