import type { ImportReport } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { datasetsQuery, jobQuery } from "../../service/datasets.ts";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { Badge } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Facts, Table } from "../../ui/table.tsx";

/** A job from its start to the report of its import. */
export function JobReport({ id }: { readonly id: string }) {
  const t = useText();
  const { language } = useLook();
  const client = useQueryClient();
  const query = useQuery(jobQuery(id));
  const state = query.data?.state;
  useEffect(() => {
    if (state === "done") void client.invalidateQueries({ queryKey: datasetsQuery.queryKey });
  }, [state, client]);
  const tone = { running: "accent", done: "good", failed: "bad" } as const;
  return (
    <Loaded query={query}>
      {(job) => (
        <>
          <p className="flex flex-wrap items-center gap-2">
            <Badge tone={tone[job.state]}>{t.sources.states[job.state]}</Badge>
            <span className="min-w-0 break-words">{language === "zh" ? job.message_zh : job.message}</span>
          </p>
          {job.state === "running" && (
            <Progress label={t.sources.states.running} done={job.done} total={job.total} />
          )}
          {job.report && job.report.outcome !== "unchanged" && <Report report={job.report} />}
        </>
      )}
    </Loaded>
  );
}

function Report({ report }: { readonly report: ImportReport }) {
  const t = useText();
  const { language } = useLook();
  const { number } = useFormat();
  return (
    <div className="mt-4 rounded-lg border border-line">
      <Facts
        facts={[
          [t.datasets.name, report.dataset],
          [t.datasets.rows, number(report.rows)],
          [t.datasets.records, number(report.records)],
          [t.datasets.refused, number(report.refused)],
          ...(report.duplicates === null
            ? []
            : [[t.datasets.duplicates, number(report.duplicates)] as const]),
          ...(report.encoding === null ? [] : [[t.datasets.encoding, report.encoding] as const]),
        ]}
      />
      {report.notes.length > 0 && (
        <section className="border-t border-line py-3">
          <h3 className="px-5 text-sm font-semibold">{t.datasets.heldBack}</h3>
          <ul className="mt-1 list-disc space-y-1 pr-5 pl-9 text-sm wrap-anywhere">
            {report.notes.map(({ note, note_zh }) => (
              <li key={note}>{language === "zh" ? note_zh : note}</li>
            ))}
          </ul>
        </section>
      )}
      {report.problems.length > 0 && (
        <Table
          label={t.datasets.problems}
          rows={report.problems}
          keyOf={({ line }) => line}
          columns={[
            { name: t.datasets.line, isNumber: true, cell: ({ line }) => number(line) },
            {
              name: t.datasets.problems,
              isWide: true,
              cell: ({ problem, problem_zh }) => (language === "zh" ? problem_zh : problem),
            },
          ]}
        />
      )}
    </div>
  );
}
