import { useQuery, useQueryClient } from "@tanstack/react-query";
import { buyerQuery, setBuyer } from "../../service/invoices.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Loaded } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";

const optional = [
  ["address", 200],
  ["phone", 50],
  ["bank", 100],
  ["bank_account", 50],
] as const;

/** Who the account's invoices are made out to. The service checks the tax number. */
export function BuyerForm() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  const query = useQuery(buyerQuery);
  return (
    <Panel title={t.invoices.buyer} about={t.invoices.buyerAbout}>
      <Loaded query={query} lines={6}>
        {(buyer) => (
          <SettingForm
            action={t.save}
            onSend={async ({ title = "", tax_number = "", ...rest }) => {
              client.setQueryData(buyerQuery.queryKey, await setBuyer({ title, tax_number, ...rest }));
              say(t.settings.saved);
            }}
          >
            <Field label={t.invoices.title} hint={t.invoices.titleHint}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="title"
                  required
                  maxLength={100}
                  autoComplete="organization"
                  defaultValue={buyer?.title ?? ""}
                />
              )}
            </Field>
            <Field label={t.invoices.taxNumber} optionalText={t.optional} hint={t.invoices.taxNumberHint}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="tax_number"
                  className="font-mono"
                  maxLength={40}
                  autoComplete="off"
                  spellCheck={false}
                  defaultValue={buyer?.tax_number ?? ""}
                />
              )}
            </Field>
            <Field label={t.invoices.email} hint={t.invoices.emailHint}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="email"
                  type="email"
                  maxLength={72}
                  autoComplete="email"
                  defaultValue={buyer?.email ?? ""}
                />
              )}
            </Field>
            <div className="grid gap-4 sm:grid-cols-2">
              {optional.map(([name, longest]) => (
                <Field key={name} label={t.invoices.more[name]} optionalText={t.optional}>
                  {(attributes) => (
                    <Input
                      {...attributes}
                      name={name}
                      maxLength={longest}
                      autoComplete="off"
                      defaultValue={buyer?.[name] ?? ""}
                    />
                  )}
                </Field>
              ))}
            </div>
          </SettingForm>
        )}
      </Loaded>
    </Panel>
  );
}
