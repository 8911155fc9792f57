import type { CreatedVouchers, Voucher, VoucherState } from "@dataq/contract/wire";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import Download from "~icons/lucide/download";
import Ticket from "~icons/lucide/ticket";
import { createVouchers, stateOfVoucher, vouchersQuery } from "../../service/admin.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { FilteredList } from "../../ui/filtered-list.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Notice } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";

/** Creates vouchers and lists their status. */
export function Vouchers() {
  const t = useText();
  const format = useFormat();
  const client = useQueryClient();
  const [made, setMade] = useState<CreatedVouchers | null>(null);
  return (
    <>
      <PageHead title={t.pages.vouchers} about={t.vouchers.about} />
      <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <Panel title={t.vouchers.make}>
          <SettingForm
            action={t.vouchers.make}
            onSend={async ({ yuan = "", count = "", batch = "", days = "" }) => {
              setMade(
                await createVouchers({
                  tokens: Math.round(Number(yuan) * TOKENS_PER_YUAN),
                  count: Number(count),
                  batch: batch.trim() || "manual",
                  ...(days && { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
                }),
              );
              await client.invalidateQueries({ queryKey: ["admin", "vouchers"] });
            }}
          >
            <Field label={t.vouchers.worthYuan} hint={t.topUp.rate}>
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
            <Field label={t.vouchers.batch} optionalText={t.optional} hint={t.vouchers.batchHint}>
              {(attributes) => <Input {...attributes} name="batch" maxLength={100} autoComplete="off" />}
            </Field>
            <Field label={t.vouchers.days} optionalText={t.optional}>
              {(attributes) => <Input {...attributes} name="days" type="number" min="1" max="3650" />}
            </Field>
          </SettingForm>
        </Panel>
        <div className="flex min-w-0 flex-col gap-5">
          {made && (
            <Panel title={t.vouchers.made}>
              <div className="flex flex-col gap-4">
                <Notice tone="warn" title={t.vouchers.once}>
                  {t.vouchers.sum(format.number(made.codes.length), format.yuan(made.tokens), made.batch)}
                </Notice>
                <Code label={made.batch} text={made.codes.join("\n")} />
                <Button
                  icon={<Download className="size-4" />}
                  className="self-start"
                  onClick={() => save(made)}
                >
                  {t.csv}
                </Button>
              </div>
            </Panel>
          )}
          <Made />
        </div>
      </div>
    </>
  );
}

/** All vouchers, by the last characters of their codes. */
function Made() {
  const t = useText();
  const format = useFormat();
  const [state, setState] = useState<VoucherState | "">("");
  const query = useInfiniteQuery(vouchersQuery(state));
  const tones = { open: "accent", redeemed: "good", expired: "plain" } as const;
  return (
    <FilteredList<Voucher, VoucherState>
      title={t.vouchers.list}
      about={t.vouchers.listAbout}
      query={query}
      states={t.vouchers.states}
      state={state}
      onState={setState}
      empty={
        <Empty icon={<Ticket className="size-5" />} title={t.vouchers.none}>
          {t.vouchers.noneAbout}
        </Empty>
      }
    >
      {(rows) => (
        <Table
          label={t.vouchers.list}
          rows={rows}
          keyOf={({ hint, created_at }) => `${hint} ${created_at}`}
          columns={[
            {
              name: t.topUp.code,
              cell: ({ hint }) => <code className="font-mono text-xs whitespace-nowrap">…{hint}</code>,
            },
            {
              name: t.vouchers.worth,
              isNumber: true,
              className: "whitespace-nowrap",
              cell: ({ tokens }) => format.yuan(tokens),
            },
            {
              name: t.keys.state,
              cell: (voucher) => {
                const now = stateOfVoucher(voucher);
                return (
                  <>
                    <Badge tone={tones[now]}>{t.vouchers.states[now]}</Badge>
                    {voucher.redeemed_by && (
                      <Link
                        to="/admin/accounts/$id"
                        params={{ id: voucher.redeemed_by }}
                        className="tabular mt-1 block text-xs whitespace-nowrap text-accent underline-offset-4 hover:underline"
                      >
                        {format.moment(voucher.redeemed_at)}
                      </Link>
                    )}
                    {now !== "redeemed" && voucher.expires_at && (
                      <span className="tabular mt-1 block text-xs whitespace-nowrap text-faint">
                        {t.keys.until(format.moment(voucher.expires_at))}
                      </span>
                    )}
                  </>
                );
              },
            },
            {
              name: t.vouchers.batch,
              className: "max-w-48 min-w-24",
              cell: ({ batch }) => (
                <span className="block truncate" title={batch}>
                  {batch}
                </span>
              ),
            },
            {
              name: t.accounts.since,
              isExtra: true,
              className: "tabular whitespace-nowrap",
              cell: (voucher) => format.moment(voucher.created_at),
            },
          ]}
        />
      )}
    </FilteredList>
  );
}

function save(made: CreatedVouchers): void {
  const lines = ["code,tokens", ...made.codes.map((code) => `${code},${made.tokens}`)];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
  link.download = "vouchers.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}
