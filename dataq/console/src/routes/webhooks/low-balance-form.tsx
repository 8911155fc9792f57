import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { lowBalanceQuery, setLowBalance } from "../../service/webhooks.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { useOnce } from "../../ui/once.ts";
import { Panel } from "../../ui/panel.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";

/** The balance below which `balance.low` is sent. */
export function LowBalanceForm() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  const { data } = useQuery({ ...lowBalanceQuery, retry: false });
  const { mutate, isPending, error } = useOnce({
    mutationFn: setLowBalance,
    onSuccess: (saved) => {
      client.setQueryData(lowBalanceQuery.queryKey, saved);
      say(t.webhooks.lowBalanceSaved);
    },
  });
  if (!data) return null;
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(Number(new FormData(event.currentTarget).get("tokens")));
  };
  return (
    <Panel title={t.webhooks.events["balance.low"]}>
      <form className="flex flex-wrap items-end gap-3" onSubmit={send}>
        <Field label={t.webhooks.lowBalance}>
          {(attributes) => (
            <Input
              {...attributes}
              name="tokens"
              type="number"
              min={0}
              max={1e12}
              step={1}
              required
              defaultValue={data.tokens}
            />
          )}
        </Field>
        <Button type="submit" isBusy={isPending}>
          {t.save}
        </Button>
      </form>
      {error && <Failure error={error} />}
    </Panel>
  );
}
