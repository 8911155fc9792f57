import { Download } from "lucide-react";
import { useState } from "react";
import { createVouchers, type MadeVouchers } from "../../service/admin.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Notice } from "../../ui/states.tsx";

/** Makes codes that are worth tokens. They are shown once: the service keeps only their digests. */
export function Vouchers() {
  const t = useText();
  const format = useFormat();
  const [made, setMade] = useState<MadeVouchers | null>(null);
  return (
    <>
      <PageHead title={t.pages.vouchers} about={t.vouchers.about} />
      <div className="grid gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <Panel title={t.vouchers.make}>
          <SettingForm
            action={t.vouchers.make}
            onSend={async ({ yuan = "", count = "", batch = "", days = "" }) =>
              setMade(
                await createVouchers({
                  tokens: Math.round(Number(yuan) * TOKENS_PER_YUAN),
                  count: Number(count),
                  batch: batch.trim() || "manual",
                  ...(days && { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
                }),
              )
            }
          >
            <Field label={t.vouchers.worth} hint={t.topUp.rate}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="yuan"
                  type="number"
                  min="0.01"
                  step="0.01"
                  required
                  defaultValue="10"
                />
              )}
            </Field>
            <Field label={t.vouchers.count}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="count"
                  type="number"
                  min="1"
                  max="10000"
                  required
                  defaultValue="1"
                />
              )}
            </Field>
            <Field label={t.vouchers.batch} hint={t.vouchers.batchHint}>
              {(attributes) => <Input {...attributes} name="batch" maxLength={100} autoComplete="off" />}
            </Field>
            <Field label={t.vouchers.days} optionalText={t.optional}>
              {(attributes) => <Input {...attributes} name="days" type="number" min="1" max="3650" />}
            </Field>
          </SettingForm>
        </Panel>
        <Panel title={t.vouchers.made}>
          {made === null ? (
            <Empty title={t.vouchers.none}>{t.vouchers.noneAbout}</Empty>
          ) : (
            <div className="flex flex-col gap-4">
              <Notice tone="warn" title={t.vouchers.once}>
                {t.vouchers.sum(format.number(made.codes.length), format.yuan(made.tokens), made.batch)}
              </Notice>
              <Code label={made.batch} text={made.codes.join("\n")} />
              <Button
                icon={<Download className="size-4" aria-hidden />}
                className="self-start"
                onClick={() => save(made)}
              >
                {t.csv}
              </Button>
            </div>
          )}
        </Panel>
      </div>
    </>
  );
}

function save(made: MadeVouchers): void {
  const lines = ["code,tokens", ...made.codes.map((code) => `${code},${made.tokens}`)];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
  link.download = "vouchers.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}
