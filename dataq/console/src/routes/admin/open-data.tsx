import type { OpenData as Listed, OpenDataSet } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import CloudDownload from "~icons/lucide/cloud-download";
import { getOpenData, jobsQuery, openDataQuery } from "../../service/admin.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { explain } from "../../ui/explain.ts";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn, useOperationName } from "../../ui/operation-name.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";

/** The catalogue of open data: what each set makes real, and a button that brings it. */
export function OpenData() {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const nameOf = useOperationName();
  const sets = useQuery(openDataQuery);
  const get = useGet();
  return (
    <Panel
      title={t.openData.title}
      about={sets.data && told(sets.data.real, t, format.number)}
      className="mt-5"
      isFlush
      actions={
        sets.data !== undefined &&
        sets.data.real.with > sets.data.real.now &&
        !sets.data.real.needs_mirror && (
          <Button kind="primary" icon={<CloudDownload className="size-4" />} onClick={() => void get("all")}>
            {t.openData.getAll}
          </Button>
        )
      }
    >
      <Loaded query={sets} lines={6}>
        {({ data }) => (
          <Table
            label={t.openData.title}
            rows={data}
            keyOf={({ name }) => name}
            columns={[
              {
                name: t.openData.set,
                isWide: true,
                cell: (set) => (
                  <>
                    {textIn(set.title, language)}
                    <span className="block text-xs text-soft">{textIn(set.coverage, language)}</span>
                    <Publishers set={set} />
                  </>
                ),
              },
              {
                name: t.openData.makes,
                cell: ({ makes }) => makes.map((name) => nameOf(name)).join(t.comma) || t.openData.helps,
              },
              {
                name: t.openData.licence,
                cell: ({ licence, duties }) => (
                  <>
                    {textIn(licence, language)}
                    {duties && <span className="block text-xs text-soft">{textIn(duties, language)}</span>}
                  </>
                ),
              },
              {
                name: "MB",
                isNumber: true,
                className: "whitespace-nowrap",
                cell: ({ origin, bytes }) =>
                  origin === "live"
                    ? t.openData.live
                    : format.number(Math.ceil(bytes / 1e5) / 10, bytes < 1e7 ? 1 : 0),
              },
              {
                name: t.openData.state,
                cell: (set) =>
                  set.origin === "live" ? (
                    <Live set={set} get={get} />
                  ) : set.state === "here" ? (
                    <Badge tone="good">{t.openData.here}</Badge>
                  ) : set.can_get ? (
                    <Button onClick={() => void get(set.name)}>
                      {set.state === "part" ? t.openData.update : t.openData.get}
                    </Button>
                  ) : (
                    <span className="text-xs text-soft">{t.openData.needsMirror}</span>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** A publisher is asked only after a yes to how often and how long. */
function Live({ set, get }: { readonly set: OpenDataSet; readonly get: (name: string) => Promise<void> }) {
  const t = useText();
  const { language } = useLook();
  const [isAsking, ask] = useState(false);
  const { url = "" } = set.publishers[0] ?? {};
  const isHere = set.state === "here";
  return (
    <>
      {isHere && <Badge tone="good">{t.openData.here}</Badge>}
      <Button onClick={() => ask(true)}>{isHere ? t.openData.update : t.openData.get}</Button>
      {isAsking && (
        <Confirm
          title={t.openData.askTitle(textIn(set.title, language))}
          about={isHere ? t.openData.askUpdate(url) : t.openData.ask(url, Math.ceil(set.seconds / 3_600))}
          action={t.openData.askNow}
          kind="primary"
          onConfirm={() => get(set.name)}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}

function Publishers({ set }: { readonly set: OpenDataSet }) {
  const { language } = useLook();
  return (
    <span className="block text-xs text-faint">
      {set.publishers.map(({ title, at, url }) => (
        // Publishers are called as they call themselves.
        <a key={url} href={url} className="mr-2 underline" target="_blank" rel="noreferrer" translate="no">
          {textIn(title, language)} {at}
        </a>
      ))}
    </span>
  );
}

/** Starts a job, which the list of jobs then shows. */
function useGet() {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  return async (name: string) => {
    try {
      await getOpenData(name);
      say(t.openData.started);
      await client.invalidateQueries({ queryKey: jobsQuery.queryKey });
    } catch (error) {
      say(explain(error, t).title);
    }
  };
}

/** How many operations have real data, and what brings more. */
export function told(
  real: Listed["real"],
  t: ReturnType<typeof useText>,
  number: (value: number) => string,
): string {
  const here = t.openData.real(real.now, real.of);
  if (real.with <= real.now) return here;
  const megabytes = number(Math.ceil(real.bytes / 1e6));
  const minutes = Math.max(1, Math.round(real.seconds / 60));
  const more = real.needs_mirror
    ? t.openData.moreWithMirror(real.with)
    : t.openData.more(real.with, megabytes, minutes);
  return `${here}${more}`;
}
