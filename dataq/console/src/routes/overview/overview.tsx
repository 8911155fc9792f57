import type { UsageRow } from "@dataq/contract/wire";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import Activity from "~icons/lucide/activity";
import FlaskConical from "~icons/lucide/flask-conical";
import { openDataQuery } from "../../service/admin.ts";
import { keysQuery, stateOf } from "../../service/keys.ts";
import { balanceQuery, chinaDay, recentDays, recentUsageQuery, requestsQuery } from "../../service/money.ts";
import { useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { useFormat } from "../../ui/format.tsx";
import { PageHead, Panel, Stat, Stats } from "../../ui/panel.tsx";
import { Empty, Loaded, Notice, Skeleton } from "../../ui/states.tsx";
import { told } from "../admin/open-data.tsx";
import { RequestTable } from "../requests/request-table.tsx";

const DayChart = lazy(() =>
  import("../usage/day-chart.tsx").then((module) => ({ default: module.DayChart })),
);

/** The balance, the spending and the latest calls. */
export function Overview() {
  const t = useText();
  const user = useSignedIn();
  const balance = useQuery(balanceQuery);
  const usage = useQuery(recentUsageQuery());
  const latest = useInfiniteQuery(requestsQuery({ operation: "", status: "", key: "" }));
  return (
    <>
      <PageHead
        title={t.overview.title(user.name)}
        about={t.overview.about}
        actions={
          <Link to="/playground" search={{ operation: undefined }} className={buttonClass("primary")}>
            <FlaskConical className="size-4" />
            {t.overview.try}
          </Link>
        }
      />
      {user.role === "admin" && <RealData />}
      <Notices usage={usage.data?.data} />
      <Loaded query={balance} lines={3}>
        {(data) => <Figures balance={data} usage={usage.data?.data} />}
      </Loaded>
      <Panel title={t.overview.spending(recentDays)} className="mt-5">
        <Loaded query={usage} lines={6}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty
                icon={<Activity className="size-5" />}
                title={t.usage.none}
                action={
                  <Link to="/quick-start" className={buttonClass("plain", "small")}>
                    {t.pages.quickStart}
                  </Link>
                }
              >
                {t.overview.noCallsAbout}
              </Empty>
            ) : (
              <Suspense fallback={<Skeleton lines={6} />}>
                <DayChart rows={data} from={chinaDay(recentDays - 1)} to={chinaDay()} measure="tokens" />
              </Suspense>
            )
          }
        </Loaded>
      </Panel>
      <Panel
        title={t.overview.latest}
        className="mt-5"
        isFlush
        actions={
          <Link to="/requests" className={buttonClass("plain", "small")}>
            {t.overview.all}
          </Link>
        }
      >
        <Loaded query={latest}>
          {({ pages }) => {
            const rows = (pages[0]?.data ?? []).slice(0, 8);
            return rows.length === 0 ? <Empty title={t.overview.noCalls} /> : <RequestTable rows={rows} />;
          }}
        </Loaded>
      </Panel>
    </>
  );
}

/** The operator's first page says how many operations answer with real records, and where to get more. */
function RealData() {
  const t = useText();
  const format = useFormat();
  const { data } = useQuery(openDataQuery);
  if (data === undefined || data.real.with <= data.real.now) return null;
  return (
    <Notice tone="info" title={told(data.real, t, format.number)}>
      <Link to="/admin/sources" className={buttonClass("plain", "small")}>
        {t.openData.show}
      </Link>
    </Notice>
  );
}

function Figures({
  balance,
  usage,
}: {
  readonly balance: { balance: number; trial_balance: number; held: number; credit_limit?: number };
  readonly usage: readonly UsageRow[] | undefined;
}) {
  const t = useText();
  const format = useFormat();
  const isAllTrial = balance.trial_balance === balance.balance;
  const trialNote =
    balance.trial_balance === 0
      ? ""
      : ` · ${isAllTrial ? t.overview.allTrial : t.overview.ofTrial(format.tokens(balance.trial_balance))}`;
  const today = usage?.find(({ day }) => day === chinaDay());
  const burn = burnRate(usage ?? []);
  const daysLeft = burn > 0 ? balance.balance / burn : null;
  const total = (usage ?? []).reduce(
    (sum, row) => ({
      calls: sum.calls + row.calls,
      cached: sum.cached + row.cached_calls,
      billed: sum.billed + row.billed_calls,
    }),
    { calls: 0, cached: 0, billed: 0 },
  );
  return (
    <Stats>
      <Stat
        name={t.overview.balance}
        value={format.yuan(balance.balance)}
        note={`${t.amount(format.tokens(balance.balance))}${trialNote}`}
        {...(balance.balance === 0 && { tone: "bad" as const })}
      />
      <Stat
        name={t.overview.burn}
        value={burn > 0 ? format.yuan(burn) : "–"}
        note={
          !usage
            ? null
            : daysLeft === null
              ? t.overview.noBurn
              : daysLeft > 999
                ? t.overview.longEnough
                : t.overview.daysLeft(format.number(daysLeft, daysLeft < 10 ? 1 : 0))
        }
        {...(daysLeft !== null && daysLeft < 3 && { tone: "warn" as const })}
      />
      <Stat
        name={t.overview.today}
        value={usage ? format.number(today?.calls ?? 0) : "–"}
        note={
          usage &&
          t.overview.todayNote(format.yuan(today?.tokens ?? 0), format.number(today?.failed_calls ?? 0))
        }
        {...(today && today.failed_calls > today.calls / 2 && { tone: "warn" as const })}
      />
      <Stat
        name={t.overview.cacheShare}
        value={total.billed > 0 ? format.percent(total.cached / total.billed) : "–"}
        note={
          total.billed > 0 && t.overview.cacheNote(format.number(total.cached), format.number(total.billed))
        }
      />
    </Stats>
  );
}

/** Average tokens per day over the last seven days, counted from the first day with calls. */
function burnRate(rows: readonly UsageRow[]): number {
  const days = new Map(rows.map((row) => [row.day ?? "", row.tokens]));
  const week = Array.from({ length: 7 }, (_, back) => days.get(chinaDay(back)) ?? 0);
  const first = week.findLastIndex((tokens) => tokens > 0);
  return first < 0 ? 0 : week.reduce((sum, tokens) => sum + tokens, 0) / (first + 1);
}

/** Warnings, the most severe first. */
function Notices({ usage }: { readonly usage: readonly UsageRow[] | undefined }) {
  const t = useText();
  const format = useFormat();
  const { data: balance } = useQuery(balanceQuery);
  const { data: keys } = useQuery(keysQuery);
  const live = keys?.data.filter((key) => stateOf(key) === "active" || stateOf(key) === "ending") ?? [];
  const ending = live.filter((key) => stateOf(key) === "ending");
  const burn = burnRate(usage ?? []);
  const topUp = (
    <Link to="/top-up" className={buttonClass("plain", "small")}>
      {t.pages.topUp}
    </Link>
  );
  const notices = [
    balance?.frozen && (
      <Notice key="frozen" tone="bad" title={t.overview.frozen}>
        {t.overview.frozenAbout}
      </Notice>
    ),
    balance && !balance.frozen && balance.balance < 500 && (
      <Notice key="empty" tone="bad" title={t.overview.exhausted} actions={topUp}>
        {t.overview.exhaustedAbout}
      </Notice>
    ),
    balance && !balance.frozen && balance.balance >= 500 && burn > 0 && balance.balance / burn < 3 && (
      <Notice key="low" tone="warn" title={t.overview.low} actions={topUp}>
        {t.overview.lowAbout(format.yuan(burn))}
      </Notice>
    ),
    ending.map((key) => (
      <Notice
        key={key.id}
        tone="warn"
        title={t.overview.keyEnds(key.name || key.prefix, format.moment(key.expires_at))}
      />
    )),
    keys && live.length === 0 && (
      <Notice
        key="no-key"
        title={t.overview.noKey}
        actions={
          <Link to="/keys" className={buttonClass("plain", "small")}>
            {t.keys.make}
          </Link>
        }
      >
        {t.overview.noKeyAbout}
      </Notice>
    ),
  ]
    .flat()
    .filter(Boolean);
  if (notices.length === 0) return null;
  return <div className="mb-5 flex flex-col gap-3">{notices}</div>;
}
