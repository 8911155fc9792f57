import type { NewFreeTier, VolumeLadder } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { couponsQuery, createCoupon, endCoupon, setFreeTier, setVolumeLadder } from "../../service/board.ts";
import { pricingQuery } from "../../service/money.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DayField } from "../../ui/day-field.tsx";
import { Field, Input, Select, Textarea } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { Outcome } from "../../ui/number-field.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";

/** What makes calls cheaper than the list: free calls, discounts by volume, and coupons. */
export function Plans() {
  return (
    <div className="mt-5 flex flex-col gap-5">
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <FreeCalls />
        <Volume />
      </div>
      <Coupons />
    </div>
  );
}

/** Announced things are refetched together. */
function usePublished() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: pricingQuery.queryKey });
    await client.invalidateQueries({ queryKey: couponsQuery.queryKey });
    say(t.plans.published);
  };
}

function FreeCalls() {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const published = usePublished();
  const query = useQuery(pricingQuery);
  return (
    <Panel title={t.plans.free} about={t.plans.freeAbout} isFlush>
      <Loaded query={query} lines={3}>
        {({ free_calls }) =>
          free_calls.length === 0 ? (
            <Empty title={t.plans.noFree} />
          ) : (
            <Table
              label={t.plans.free}
              rows={free_calls}
              keyOf={({ operation, version }) => `${operation} ${version}`}
              columns={[
                { name: t.requests.operation, cell: ({ operation }) => nameOf(operation) },
                { name: t.plans.callsADay, isNumber: true, cell: ({ calls }) => format.number(calls) },
                {
                  name: t.pricing.since,
                  className: "tabular whitespace-nowrap",
                  cell: (row) => <Since iso={row.effective_from} />,
                },
              ]}
            />
          )
        }
      </Loaded>
      <ForFinance>
        <SettingForm
          action={t.plans.publishFree}
          onSend={async ({ operation = "", calls = "", from = "" }) => {
            await setFreeTier({
              operation: operation as NewFreeTier["operation"],
              calls: Number(calls),
              effective_from: new Date(from).toISOString(),
            });
            await published();
          }}
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <PricedOperation />
            <Field label={t.plans.callsADay} hint={t.plans.callsHint}>
              {(attributes) => (
                <Input {...attributes} name="calls" type="number" min="0" max="1000000" required />
              )}
            </Field>
          </div>
          <From />
        </SettingForm>
      </ForFinance>
    </Panel>
  );
}

function Volume() {
  const t = useText();
  const format = useFormat();
  const published = usePublished();
  const query = useQuery(pricingQuery);
  return (
    <Panel title={t.plans.volume} about={t.plans.volumeAbout} isFlush>
      <Loaded query={query} lines={3}>
        {({ volume }) => {
          const rows = volume.flatMap(({ version, steps, effective_from }) =>
            steps.length === 0
              ? [{ version, effective_from, from_tokens: 0, percent: 0 }]
              : steps.map((step) => ({ version, effective_from, ...step })),
          );
          return rows.length === 0 ? (
            <Empty title={t.plans.noVolume} />
          ) : (
            <Table
              label={t.plans.volume}
              rows={rows}
              keyOf={({ version, percent }) => `${version} ${percent}`}
              columns={[
                { name: t.plans.from, cell: ({ from_tokens }) => format.yuan(from_tokens) },
                { name: t.plans.off, isNumber: true, cell: ({ percent }) => `${percent}%` },
                {
                  name: t.pricing.since,
                  className: "tabular whitespace-nowrap",
                  cell: (row) => <Since iso={row.effective_from} />,
                },
              ]}
            />
          );
        }}
      </Loaded>
      <ForFinance>
        <SettingForm
          action={t.plans.publishVolume}
          onSend={async ({ steps = "", from = "" }) => {
            await setVolumeLadder({
              steps: stepsOf(steps),
              effective_from: new Date(from).toISOString(),
            });
            await published();
          }}
        >
          <Steps />
          <From />
        </SettingForm>
      </ForFinance>
    </Panel>
  );
}

/** The service refuses more. */
const MOST_PERCENT = 90;
const exampleSteps = "1000 5\n10000 12";

/** What is written in lines of yuan and percent. */
function stepsOf(text: string): VolumeLadder["steps"] {
  return text
    .split("\n")
    .map((line) => line.trim().split(/[\s,;=:%，；：％]+/))
    .filter(([first]) => first)
    .map(([yuan, percent]) => ({
      from_tokens: Math.round(Number(yuan) * TOKENS_PER_YUAN),
      percent: Number(percent),
    }));
}

/** The steps of a ladder, and what customers pay by them: 95 taken off is easily written for 95 paid. */
function Steps() {
  const t = useText();
  const format = useFormat();
  const [text, setText] = useState("");
  const steps = stepsOf(text);
  const isWrong = steps.some(
    ({ from_tokens: from, percent }, n) =>
      !(from > (steps[n - 1]?.from_tokens ?? 0) && percent > (steps[n - 1]?.percent ?? 0)) ||
      !Number.isInteger(percent) ||
      percent > MOST_PERCENT,
  );
  const lines = steps.map(({ from_tokens, percent }) =>
    t.plans.stepOutcome(
      format.yuan(from_tokens),
      format.percent(percent / 100),
      format.percent(1 - percent / 100),
    ),
  );
  const outcome = t.plans.stepsOutcome(lines.join(t.plans.stepBreak));
  return (
    <>
      <Field label={t.plans.steps} hint={t.plans.stepsHint}>
        {(attributes) => (
          <Textarea
            {...attributes}
            name="steps"
            rows={3}
            placeholder={exampleSteps}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Outcome isWrong={isWrong || steps.some(({ percent }) => percent > 50)}>
        {isWrong ? t.plans.stepsWrong : steps.length === 0 ? t.plans.stepsNone : outcome}
      </Outcome>
    </>
  );
}

function Coupons() {
  const t = useText();
  const format = useFormat();
  const published = usePublished();
  const query = useQuery(couponsQuery);
  const mayEnd = mayOperate(useSignedIn(), "admin:finance");
  const [ending, setEnding] = useState<string | null>(null);
  const [kind, setKind] = useState("percent");
  return (
    <Panel title={t.plans.coupons} about={t.plans.couponsAbout} isFlush>
      <Loaded query={query} lines={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.plans.noCoupons} />
          ) : (
            <Table
              label={t.plans.coupons}
              rows={data}
              step={25}
              keyOf={({ code }) => code}
              columns={[
                { name: t.plans.code, cell: ({ code }) => <code className="font-mono">{code}</code> },
                {
                  name: t.plans.gives,
                  cell: ({ kind, value, days }) =>
                    t.plans.given(kind === "percent" ? `−${value}%` : format.yuan(value), String(days)),
                },
                {
                  name: t.plans.redeemed,
                  isNumber: true,
                  cell: ({ redeemed, most }) =>
                    most === null
                      ? format.number(redeemed)
                      : `${format.number(redeemed)} / ${format.number(most)}`,
                },
                {
                  name: t.plans.ends,
                  isExtra: true,
                  className: "tabular whitespace-nowrap",
                  cell: ({ expires_at }) => (expires_at ? format.moment(expires_at) : "–"),
                },
                {
                  name: t.actions,
                  cell: ({ code, expires_at }) =>
                    mayEnd && (expires_at === null || Date.parse(expires_at) > Date.now()) ? (
                      <Button
                        size="small"
                        kind="danger"
                        aria-label={`${t.plans.end}: ${code}`}
                        onClick={() => setEnding(code)}
                      >
                        {t.plans.end}
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Loaded>
      {ending !== null && (
        <Confirm
          title={t.plans.endTitle(ending)}
          about={t.plans.endAbout}
          action={t.plans.end}
          onConfirm={async () => {
            await endCoupon(ending);
            await published();
          }}
          onClose={() => setEnding(null)}
        />
      )}
      <ForFinance>
        <SettingForm
          key={query.data?.data.length ?? 0}
          action={t.plans.create}
          onSend={async ({ code = "", kind = "", value = "", days = "", most = "", ends = "" }) => {
            const isPercent = kind === "percent";
            await createCoupon({
              code: code.trim(),
              kind: isPercent ? "percent" : "tokens",
              value: Math.round(Number(value) * (isPercent ? 1 : TOKENS_PER_YUAN)),
              days: Number(days),
              most: most === "" ? null : Number(most),
              expires_at: ends === "" ? null : new Date(ends).toISOString(),
            });
            await published();
          }}
        >
          <div className="grid gap-4 sm:grid-cols-3">
            <Field label={t.plans.code} hint={t.plans.codeHint}>
              {(attributes) => (
                <Input {...attributes} name="code" required minLength={4} maxLength={32} autoComplete="off" />
              )}
            </Field>
            <Field label={t.plans.gives}>
              {(attributes) => (
                <Select
                  {...attributes}
                  name="kind"
                  value={kind}
                  onChange={(event) => setKind(event.target.value)}
                >
                  <option value="percent">{t.plans.percent}</option>
                  <option value="tokens">{t.plans.credit}</option>
                </Select>
              )}
            </Field>
            <Field label={kind === "percent" ? t.plans.percentValue : t.plans.yuanValue}>
              {(attributes) => (
                <Input {...attributes} name="value" type="number" min="0.01" step="0.01" required />
              )}
            </Field>
            <Field label={t.plans.days} hint={t.plans.daysHint}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="days"
                  type="number"
                  min="1"
                  max="366"
                  required
                  defaultValue="30"
                />
              )}
            </Field>
            <Field label={t.plans.most} optionalText={t.optional}>
              {(attributes) => <Input {...attributes} name="most" type="number" min="1" />}
            </Field>
            <DayField
              label={t.plans.ends}
              hint={t.plans.fromHint}
              optionalText={t.optional}
              name="ends"
              hasTime
            />
          </div>
        </SettingForm>
      </ForFinance>
    </Panel>
  );
}

/** The foot of a panel, for those who may change prices. */
export function ForFinance({ children }: { readonly children: ReactNode }) {
  const user = useSignedIn();
  if (!mayOperate(user, "admin:finance")) return null;
  return <div className="border-t border-line p-4 sm:p-5">{children}</div>;
}

/** An operation that has a list price. */
export function PricedOperation() {
  const t = useText();
  const nameOf = useOperationName();
  const { data: pricing } = useQuery(pricingQuery);
  const names = [...new Set(pricing?.data.map(({ operation }) => operation) ?? [])];
  return (
    <Field label={t.requests.operation}>
      {(attributes) => (
        <Select {...attributes} name="operation">
          {names.map((name) => (
            <option key={name} value={name}>
              {nameOf(name)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** From when on something counts: next midnight is far enough ahead for every service to know. */
export function From() {
  const t = useText();
  const at = new Date(Date.now() + 86_400_000);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
  return (
    <DayField
      label={t.pricing.since}
      hint={t.plans.fromHint}
      name="from"
      hasTime
      required
      day={`${local} 00:00`}
    />
  );
}

/** Since when something counts, and whether that is still ahead. */
export function Since({ iso }: { readonly iso: string }) {
  const t = useText();
  const format = useFormat();
  const isAhead = iso > new Date().toISOString();
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {format.moment(iso)}
      {isAhead && <Badge tone="warn">{t.prices.announced}</Badge>}
    </span>
  );
}
