import type { DatasetRow } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import ArrowLeft from "~icons/lucide/arrow-left";
import RotateCcw from "~icons/lucide/rotate-ccw";
import Trash from "~icons/lucide/trash";
import { datasetQuery, datasetsQuery, endOf, removeDataset, restoreDataset } from "../../service/datasets.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { useOperationName } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Facts, Table } from "../../ui/table.tsx";

/** One data set: the outcome of every row, the imports that made it, and its removal. */
export function OneDataset() {
  const t = useText();
  const nameOf = useOperationName();
  const { operation, name } = useParams({ from: "/shell/admin/admin/datasets/$operation/$name" });
  const query = useQuery(datasetQuery(operation, name));
  return (
    <>
      <Link
        to="/admin/datasets"
        className="mb-3 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft className="size-4" />
        {t.pages.datasets}
      </Link>
      <PageHead
        title={name}
        about={t.sources.targets[operation] ?? nameOf(operation)}
        actions={query.data && <Changes set={query.data} />}
      />
      <Loaded query={query}>{(set) => <Shown set={set} />}</Loaded>
    </>
  );
}

function Shown({ set }: { readonly set: DatasetRow }) {
  const t = useText();
  const format = useFormat();
  const { number } = format;
  const isRowByRow = set.rows === set.records + set.refused + set.for_other_operations;
  return (
    <>
      <Panel isFlush>
        <Facts
          facts={[
            [t.datasets.rows, set.rows === null ? "–" : number(set.rows)],
            [t.datasets.served, set.state === "removed" ? t.datasets.removed : number(set.served)],
            [
              t.datasets.duplicates,
              <span key="d">
                {number(set.duplicates)}
                {set.duplicate_ids.length > 0 && (
                  <span className="block text-xs text-faint wrap-anywhere">
                    {set.duplicate_ids.join(", ")}
                    {set.duplicates > set.duplicate_ids.length && " …"}
                  </span>
                )}
              </span>,
            ],
            [t.datasets.refused, number(set.refused)],
            ...(set.for_other_operations > 0
              ? [[t.datasets.forOthers, number(set.for_other_operations)] as const]
              : []),
            ...(isRowByRow ? [] : [[t.datasets.records, number(set.records)] as const]),
            [t.datasets.changed, format.moment(set.changed_at)],
            [t.datasets.nextRefresh, set.next_refresh_at === null ? "–" : format.moment(set.next_refresh_at)],
            ...(set.restorable === null
              ? []
              : [
                  [
                    t.datasets.restorable,
                    t.datasets.restorableUntil(
                      number(set.restorable.served),
                      format.moment(set.restorable.until),
                    ),
                  ] as const,
                ]),
          ]}
        />
      </Panel>
      <Panel title={t.datasets.imports} about={t.datasets.importsAbout} className="mt-5" isFlush>
        <Table
          label={t.datasets.imports}
          rows={set.imports}
          keyOf={({ at, sha256 }) => `${at} ${sha256}`}
          columns={[
            {
              name: t.datasets.origin,
              isWide: true,
              cell: ({ origin }) => <code className="font-mono text-xs wrap-anywhere">{origin}</code>,
            },
            {
              name: t.datasets.mode,
              className: "whitespace-nowrap",
              cell: ({ mode }) => t.datasets.modes[mode],
            },
            { name: t.datasets.publisher, cell: ({ publisher }) => publisher ?? "–" },
            { name: t.datasets.kind, cell: ({ kind }) => t.datasets.kinds[kind] },
            { name: t.datasets.licence, isExtra: true, cell: ({ licence }) => licence ?? "–" },
            { name: t.datasets.at, cell: ({ at }) => format.moment(at) },
          ]}
        />
      </Panel>
    </>
  );
}

function Changes({ set }: { readonly set: DatasetRow }) {
  const t = useText();
  const { language } = useLook();
  const client = useQueryClient();
  const [asked, setAsked] = useState<"remove" | "restore">();
  const change = async (run: typeof removeDataset) => {
    const ended = await endOf(await run(set.operation, set.name));
    await client.invalidateQueries({ queryKey: datasetsQuery.queryKey });
    if (ended.state === "failed") throw new Error(language === "zh" ? ended.message_zh : ended.message);
  };
  return (
    <>
      {set.restorable !== null && (
        <Button icon={<RotateCcw className="size-4" />} onClick={() => setAsked("restore")}>
          {t.datasets.restore}
        </Button>
      )}
      {set.state === "serving" && (
        <Button icon={<Trash className="size-4" />} onClick={() => setAsked("remove")}>
          {t.datasets.remove}
        </Button>
      )}
      {asked === "remove" && (
        <Confirm
          title={t.datasets.removeTitle(set.name)}
          about={t.datasets.removeAbout}
          action={t.datasets.remove}
          onConfirm={() => change(removeDataset)}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === "restore" && (
        <Confirm
          title={t.datasets.restoreTitle(set.name)}
          about={t.datasets.restoreAbout}
          action={t.datasets.restore}
          kind="primary"
          onConfirm={() => change(restoreDataset)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
