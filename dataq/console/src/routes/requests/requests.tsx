import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, lazy, Suspense, useState } from "react";
import Activity from "~icons/lucide/activity";
import Search from "~icons/lucide/search";
import { catalogQuery } from "../../service/catalog.ts";
import { keysQuery } from "../../service/keys.ts";
import { chinaDay, recentDays, requestsQuery, usageQuery } from "../../service/money.ts";
import { useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Input, Select } from "../../ui/field.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Loaded, Skeleton } from "../../ui/states.tsx";
import { OpenPlayground } from "../playground/open-playground.tsx";
import { useCodeName } from "../usage/code-name.tsx";
import { RequestTable } from "./request-table.tsx";

const DayChart = lazy(() =>
  import("../usage/day-chart.tsx").then((module) => ({ default: module.DayChart })),
);

/** Every call of the account, newest first. */
export function Requests() {
  const t = useText();
  const nameOf = useOperationName();
  const { data: catalog } = useQuery(catalogQuery);
  const { id: userId } = useSignedIn();
  // Users who may not manage keys get an error instead of the list.
  const { data: keys } = useQuery({ ...keysQuery, retry: false });
  const [filter, setFilter] = useState({ operation: "", status: "", key: "" });
  const query = useInfiniteQuery(requestsQuery(filter));
  const navigate = useNavigate();
  const open = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("id") ?? "").trim();
    if (id !== "") void navigate({ to: "/requests/$id", params: { id } });
  };
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <>
      <PageHead title={t.pages.requests} about={t.requests.about} />
      <Results operation={filter.operation} keyId={filter.key} />
      <Panel isFlush>
        <search>
          <form
            className="grid grid-cols-1 gap-2 border-b border-line p-3 sm:grid-cols-2 xl:grid-cols-[1fr_13rem_13rem_11rem]"
            onSubmit={open}
          >
            <span className="relative">
              <Search
                className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-faint"
                aria-hidden
              />
              <Input
                aria-label={t.requests.search}
                placeholder={t.requests.search}
                className="pl-8"
                name="id"
                maxLength={64}
                autoComplete="off"
                spellCheck={false}
              />
            </span>
            <Select
              aria-label={t.requests.operation}
              value={filter.operation}
              onChange={(event) => setFilter({ ...filter, operation: event.target.value })}
            >
              <option value="">{t.requests.anyOperation}</option>
              {catalog?.map(({ name }) => (
                <option key={name} value={name}>
                  {nameOf(name)}
                </option>
              ))}
            </Select>
            <Select
              aria-label={t.requests.key}
              value={filter.key}
              onChange={(event) => setFilter({ ...filter, key: event.target.value })}
            >
              <option value="">{t.requests.anyKey}</option>
              <option value={`user_${userId}`}>{t.requests.console}</option>
              {keys?.data.map((key) => (
                <option key={key.id} value={key.id}>
                  {key.name || `${key.prefix}…${key.last4}`}
                </option>
              ))}
            </Select>
            <Select
              aria-label={t.requests.result}
              value={filter.status}
              onChange={(event) => setFilter({ ...filter, status: event.target.value })}
            >
              <option value="">{t.requests.anyResult}</option>
              {[200, 400, 401, 402, 403, 404, 422, 429, 500, 501, 502, 503, 504].map((status) => (
                <option key={status}>{status}</option>
              ))}
            </Select>
          </form>
        </search>
        <Loaded query={query} lines={8}>
          {({ pages }) => {
            const rows = pages.flatMap(({ data }) => data);
            if (rows.length === 0)
              return (
                <Empty
                  icon={<Activity className="size-5" />}
                  title={isFiltered ? t.requests.noneFound : t.requests.none}
                  action={!isFiltered && <OpenPlayground />}
                >
                  {isFiltered ? t.requests.noneFoundAbout : t.requests.noneAbout}
                </Empty>
              );
            return <RequestTable rows={rows} />;
          }}
        </Loaded>
        <MoreRows query={query} />
      </Panel>
    </>
  );
}

/** How the calls of the last days ended, of one operation or key if the list is filtered by it. */
function Results({ operation, keyId }: { readonly operation: string; readonly keyId: string }) {
  const t = useText();
  const nameOf = useCodeName();
  const [from, to] = [chinaDay(recentDays - 1), chinaDay()];
  const groups = ["day", "code", ...(operation ? ["operation"] : []), ...(keyId ? ["key"] : [])];
  const { data } = useQuery(usageQuery(from, to, groups.join()));
  const rows = data?.data.filter(
    (row) => (!operation || row.operation === operation) && (!keyId || row.key === keyId),
  );
  if (rows === undefined || rows.length === 0) return null;
  return (
    <Panel title={t.requests.results(recentDays)} className="mb-5">
      <Suspense fallback={<Skeleton lines={6} />}>
        <DayChart rows={rows} part="code" nameOf={nameOf} from={from} to={to} measure="calls" />
      </Suspense>
    </Panel>
  );
}
