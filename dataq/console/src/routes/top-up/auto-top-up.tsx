import { useQuery, useQueryClient } from "@tanstack/react-query";
import { allowAutoTopUp, autoTopUpQuery, endAutoTopUp } from "../../service/auto-top-up.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Checkbox, Field, Input } from "../../ui/field.tsx";
import { TOKENS_PER_FEN, TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";

/** Charges of a saved card when the balance is low. Nothing where no provider can. */
export function AutomaticTopUp() {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const { data } = useQuery(autoTopUpQuery);
  if (!data?.available) return null;
  const { state, amount_fen: amountFen, most_fen: mostFen } = data;
  const isUsed = state === "on" && data.charged_fen + (amountFen ?? 0) > (mostFen ?? Infinity);
  const fields = [
    ["low", t.auto.low, data.low_tokens === null ? 20 : data.low_tokens / TOKENS_PER_YUAN],
    ["amount", t.auto.amount, data.amount_fen === null ? 100 : data.amount_fen / 100],
    ["most", t.auto.most, data.most_fen === null ? 500 : data.most_fen / 100],
  ] as const;
  return (
    <Panel title={t.auto.title} about={t.auto.about}>
      <div className="flex flex-col gap-4">
        <Notice
          tone={state === "on" && !data.reason && !isUsed ? "good" : "warn"}
          title={[t.auto.states[state], data.card].filter(Boolean).join(" · ")}
        >
          {data.charged_fen > 0 && <p>{t.auto.charged(format.yuan(data.charged_fen * TOKENS_PER_FEN))}</p>}
          {data.reason && <p>{t.auto.failed(t.auto.reasons[data.reason])}</p>}
          {data.retry_at && <p>{t.auto.retry(format.moment(data.retry_at))}</p>}
          {isUsed && <p>{t.auto.used}</p>}
        </Notice>
        {data.url && (
          <a href={data.url} className={buttonClass()}>
            {t.auto.save}
          </a>
        )}
        <SettingForm
          key={data.consented_at ?? ""}
          action={t.auto.allow}
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
          <div className="grid gap-4 sm:grid-cols-3">
            {fields.map(([name, label, value]) => (
              <Field key={name} label={label}>
                {(attributes) => (
                  <Input
                    {...attributes}
                    name={name}
                    type="number"
                    min={0.01}
                    step={0.01}
                    required
                    defaultValue={value}
                  />
                )}
              </Field>
            ))}
          </div>
          {data.card !== null && <Checkbox name="another" label={t.auto.another} />}
          <Checkbox label={t.auto.consent} required />
        </SettingForm>
        {state !== "off" && (
          <Button
            kind="danger"
            className="self-start"
            onClick={async () => {
              await endAutoTopUp();
              await client.invalidateQueries({ queryKey: autoTopUpQuery.queryKey });
              say(t.auto.ended);
            }}
          >
            {t.auto.end}
          </Button>
        )}
      </div>
    </Panel>
  );
}
