import type { ConnectorTrial, VendorRow } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { connectVendor, vendorsQuery } from "../../service/vendors.ts";
import { useText } from "../../text/text.tsx";
import { Checkbox, Field, Input, Select } from "../../ui/field.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn, useOperationName } from "../../ui/operation-name.ts";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Loaded, Notice } from "../../ui/states.tsx";

/** Connects a vendor: shows what it answers and asks for, tests it, and says which operations are real now. */
export function VendorForm({
  onConnected,
  onTrial,
}: {
  readonly onConnected: () => Promise<void>;
  readonly onTrial: (trial: ConnectorTrial) => void;
}) {
  const t = useText();
  const vendors = useQuery(vendorsQuery);
  const [chosen, setChosen] = useState<string>();
  const [outcome, setOutcome] = useState<{ readonly operations: readonly string[] | null }>();
  const nameOf = useOperationName();
  const send = async (vendor: VendorRow, values: Record<string, string>) => {
    setOutcome(undefined);
    const credentials = vendor.credentials.flatMap(({ name }) => {
      const value = values[`credential ${name}`]?.trim();
      return value ? [[name, value] as const] : [];
    });
    const cost = Number(values["cost_fen"]);
    const yuan = Number(values["balance"]);
    const { connector, trials } = await connectVendor({
      vendor: vendor.name,
      credentials: Object.fromEntries(credentials),
      ...(values["cost_fen"]?.trim() && Number.isFinite(cost) && { cost_fen: cost }),
      ...(values["balance"]?.trim() && Number.isFinite(yuan) && { balance_fen: Math.round(yuan * 100) }),
      join: values["join"] === "on",
      untested: values["untested"] === "on",
    });
    setOutcome({ operations: connector?.operations ?? null });
    const last = trials.at(-1);
    if (connector === null && last !== undefined) onTrial(last);
    await onConnected();
  };
  return (
    <Panel title={t.vendors.connect} about={t.vendors.connectAbout} className="mt-5">
      <Loaded query={vendors}>
        {({ data }) => {
          const vendor = data.find(({ name }) => name === chosen) ?? data[0];
          if (vendor === undefined) return null;
          return (
            <div className="grid items-start gap-6 lg:grid-cols-[20rem_minmax(0,1fr)]">
              <SettingForm
                key={vendor.name}
                action={t.vendors.connectNow}
                onSend={(values) => send(vendor, values)}
              >
                <Field label={t.vendors.vendor}>
                  {(attributes) => (
                    <VendorSelect
                      {...attributes}
                      vendors={data}
                      value={vendor.name}
                      onChoose={(name) => {
                        setOutcome(undefined);
                        setChosen(name);
                      }}
                    />
                  )}
                </Field>
                <Credentials vendor={vendor} />
                <Field
                  label={t.vendors.costEach}
                  optionalText={t.optional}
                  hint={t.vendors.costHint(vendor.cost_fen)}
                >
                  {(attributes) => (
                    <Input
                      {...attributes}
                      name="cost_fen"
                      type="number"
                      min={0}
                      step="any"
                      autoComplete="off"
                    />
                  )}
                </Field>
                <Field label={t.vendors.balanceNow} optionalText={t.optional} hint={t.vendors.balanceHint}>
                  {(attributes) => (
                    <Input
                      {...attributes}
                      name="balance"
                      type="number"
                      min={0}
                      step="any"
                      autoComplete="off"
                    />
                  )}
                </Field>
                <Checkbox name="join" label={t.vendors.join} hint={t.vendors.joinHint} />
                <Checkbox name="untested" label={t.vendors.untested} hint={t.vendors.untestedHint} />
              </SettingForm>
              <div className="flex min-w-0 flex-col gap-4">
                {outcome && (
                  <Notice
                    tone={outcome.operations === null ? "bad" : "good"}
                    title={outcome.operations === null ? t.vendors.notConnected : t.vendors.connected}
                  >
                    {outcome.operations?.map((name) => nameOf(name)).join(t.comma)}
                  </Notice>
                )}
                <About vendor={vendor} />
              </div>
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function VendorSelect({
  vendors,
  value,
  onChoose,
  ...attributes
}: {
  readonly vendors: readonly VendorRow[];
  readonly value: string;
  readonly onChoose: (name: string) => void;
}) {
  const t = useText();
  const { language } = useLook();
  return (
    <Select {...attributes} value={value} onChange={(event) => onChoose(event.target.value)}>
      {vendors.map(({ name, publisher, is_connected }) => (
        <option key={name} value={name}>
          {is_connected
            ? t.note(textIn(publisher, language), t.vendors.isConnected)
            : textIn(publisher, language)}
        </option>
      ))}
    </Select>
  );
}

function Credentials({ vendor }: { readonly vendor: VendorRow }) {
  const t = useText();
  const { language } = useLook();
  return vendor.credentials.map(({ name, title, secret, optional }) => (
    <Field key={name} label={textIn(title, language)} {...(optional && { optionalText: t.optional })}>
      {(attributes) => (
        <Input
          {...attributes}
          name={`credential ${name}`}
          type={secret ? "password" : "text"}
          required={!optional}
          maxLength={2_000}
          autoComplete="off"
        />
      )}
    </Field>
  ));
}

/** What the vendor holds, what its licence asks, and whether anybody has tried this description of it. */
function About({ vendor }: { readonly vendor: VendorRow }) {
  const t = useText();
  const { language } = useLook();
  const nameOf = useOperationName();
  return (
    <div className="flex min-w-0 flex-col gap-2 text-sm text-soft">
      {vendor.about && <p>{textIn(vendor.about, language)}</p>}
      <p>{t.vendors.answers(vendor.operations.map((name) => nameOf(name)).join(t.comma))}</p>
      {vendor.licence && <p>{t.vendors.licence(vendor.licence)}</p>}
      {vendor.duties && <p>{textIn(vendor.duties, language)}</p>}
      <p>{vendor.checked === null ? t.vendors.neverRun : t.vendors.lastRun(vendor.checked)}</p>
      {vendor.documents.map(({ url, read }) => (
        <p key={url} className="wrap-anywhere">
          {t.vendors.readFrom(read)}{" "}
          <a href={url} className="text-accent-strong hover:underline">
            {url}
          </a>
        </p>
      ))}
    </div>
  );
}
