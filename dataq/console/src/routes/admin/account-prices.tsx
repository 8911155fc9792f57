import type { NewAccountPrice } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { accountPricesQuery, setAccountPrice } from "../../service/board.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ForFinance, From, PricedOperation, Since } from "./plans.tsx";

/** What was agreed with one account. */
export function AccountPrices({ id }: { readonly id: string }) {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const nameOf = useOperationName();
  const client = useQueryClient();
  const query = useQuery(accountPricesQuery(id));
  return (
    <Panel title={t.plans.ownPrices} about={t.plans.ownAbout} isFlush>
      <Loaded query={query} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.plans.noOwn} />
          ) : (
            <Table
              label={t.plans.ownPrices}
              rows={data}
              keyOf={({ operation, version }) => `${operation} ${version}`}
              columns={[
                { name: t.requests.operation, cell: ({ operation }) => nameOf(operation) },
                {
                  name: t.pricing.call,
                  isNumber: true,
                  cell: ({ tokens }) => (tokens === null ? t.plans.listPrice : format.tokens(tokens)),
                },
                {
                  name: t.pricing.since,
                  className: "tabular whitespace-nowrap",
                  cell: ({ effective_from }) => <Since iso={effective_from} />,
                },
              ]}
            />
          )
        }
      </Loaded>
      <ForFinance>
        <SettingForm
          action={t.prices.publish}
          onSend={async ({ operation = "", tokens = "", cached = "", from = "" }) => {
            await setAccountPrice(id, {
              operation: operation as NewAccountPrice["operation"],
              tokens: tokens === "" ? null : Number(tokens),
              cached_tokens: cached === "" ? null : Number(cached),
              effective_from: new Date(from).toISOString(),
            });
            await client.invalidateQueries({ queryKey: accountPricesQuery(id).queryKey });
            say(t.plans.published);
          }}
        >
          <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
            <PricedOperation />
            <Field label={t.note(t.pricing.call, t.tokens)} optionalText={t.optional} hint={t.plans.ownHint}>
              {(attributes) => <Input {...attributes} name="tokens" type="number" min="1" />}
            </Field>
            <Field label={t.note(t.pricing.repeat, t.tokens)} optionalText={t.optional}>
              {(attributes) => <Input {...attributes} name="cached" type="number" min="1" />}
            </Field>
            <From />
          </div>
        </SettingForm>
      </ForFinance>
    </Panel>
  );
}
