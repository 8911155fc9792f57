import type { NewPrice } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { publishPrice } from "../../service/admin.ts";
import { pricingQuery } from "../../service/money.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { DayField } from "../../ui/day-field.tsx";
import { Field, Input, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { PackageOffers } from "./packages.tsx";
import { Plans } from "./plans.tsx";

/** Current and upcoming prices. A published price never changes; a later one replaces it. */
export function Prices() {
  const t = useText();
  const say = useToast();
  const format = useFormat();
  const nameOf = useOperationName();
  const user = useSignedIn();
  const client = useQueryClient();
  const query = useQuery(pricingQuery);
  const [operation, setOperation] = useState("");
  const now = new Date().toISOString();
  const names = [...new Set(query.data?.data.map((price) => price.operation) ?? [])];
  const chosen = operation || names[0] || "";
  const current = query.data?.data.findLast(
    (price) => price.operation === chosen && price.effective_from <= now,
  );
  return (
    <>
      <PageHead title={t.pages.prices} about={t.prices.about} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Panel isFlush>
          <Loaded query={query} lines={10}>
            {({ data }) => (
              <Table
                label={t.pages.prices}
                rows={data}
                keyOf={(price) => `${price.operation} ${price.version}`}
                columns={[
                  {
                    name: t.requests.operation,
                    className: "min-w-40",
                    cell: (price) => nameOf(price.operation),
                  },
                  {
                    name: t.pricing.version,
                    cell: (price) => (
                      <span className="flex items-center gap-1.5">
                        {price.version}
                        {price.effective_from > now && <Badge tone="warn">{t.prices.announced}</Badge>}
                      </span>
                    ),
                  },
                  { name: t.pricing.call, isNumber: true, cell: ({ tokens }) => format.tokens(tokens) },
                  {
                    name: t.pricing.repeat,
                    isNumber: true,
                    cell: (price) =>
                      price.cached_tokens === null ? t.pricing.same : format.tokens(price.cached_tokens),
                  },
                  {
                    name: t.pricing.since,
                    isExtra: true,
                    className: "tabular whitespace-nowrap",
                    cell: (price) => format.moment(price.effective_from),
                  },
                ]}
              />
            )}
          </Loaded>
        </Panel>
        {mayOperate(user, "admin:finance") && (
          <Panel title={t.prices.publish} about={t.prices.publishAbout}>
            <SettingForm
              key={`${chosen} ${current?.version ?? 0}`}
              action={t.prices.publish}
              onSend={async ({ tokens = "", cached = "", from = "" }) => {
                await publishPrice({
                  operation: chosen as NewPrice["operation"],
                  tokens: Number(tokens),
                  cached_tokens: cached === "" ? null : Number(cached),
                  effective_from: new Date(from).toISOString(),
                });
                await client.invalidateQueries({ queryKey: pricingQuery.queryKey });
                say(t.prices.published);
              }}
            >
              <Field label={t.requests.operation}>
                {(attributes) => (
                  <Select
                    {...attributes}
                    value={chosen}
                    onChange={(event) => setOperation(event.target.value)}
                  >
                    {names.map((name) => (
                      <option key={name} value={name}>
                        {nameOf(name)}
                      </option>
                    ))}
                  </Select>
                )}
              </Field>
              <Field label={t.note(t.pricing.call, t.tokens)}>
                {(attributes) => (
                  <Input
                    {...attributes}
                    name="tokens"
                    type="number"
                    min="1"
                    required
                    defaultValue={current?.tokens}
                  />
                )}
              </Field>
              <Field
                label={t.note(t.pricing.repeat, t.tokens)}
                optionalText={t.optional}
                hint={t.prices.repeatHint}
              >
                {(attributes) => (
                  <Input
                    {...attributes}
                    name="cached"
                    type="number"
                    min="1"
                    defaultValue={current?.cached_tokens ?? ""}
                  />
                )}
              </Field>
              <DayField
                label={t.pricing.since}
                hint={t.prices.sinceHint}
                name="from"
                hasTime
                required
                day={inThirtyDays()}
              />
            </SettingForm>
          </Panel>
        )}
      </div>
      <div className="mt-5">
        <PackageOffers />
      </div>
      <Plans />
    </>
  );
}

/** The local time in thirty days, in the form of the field. */
function inThirtyDays(): string {
  const at = new Date(Date.now() + 30 * 86_400_000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16)
    .replace("T", " ");
}
