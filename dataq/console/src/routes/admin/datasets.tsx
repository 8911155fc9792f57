import type { DatasetRow } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import DatabaseZap from "~icons/lucide/database-zap";
import { datasetsQuery } from "../../service/datasets.ts";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Connectors } from "./connectors.tsx";
import { UploadForm } from "./upload-form.tsx";

/** What was imported, a form to upload more, and the contracts with vendors. */
export function Datasets() {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const datasets = useQuery(datasetsQuery);
  const operationOf = (set: DatasetRow) => t.sources.targets[set.operation] ?? nameOf(set.operation);
  return (
    <>
      <PageHead title={t.pages.datasets} about={t.datasets.about} />
      <Panel title={t.datasets.list} isFlush>
        <Loaded query={datasets}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={<DatabaseZap className="size-5" />} title={t.datasets.none}>
                {t.datasets.noneAbout}
              </Empty>
            ) : (
              <Table
                label={t.datasets.list}
                rows={data}
                keyOf={({ operation, name }) => `${operation} ${name}`}
                step={50}
                columns={[
                  {
                    name: t.datasets.name,
                    cell: (set) => (
                      <Link
                        to="/admin/datasets/$operation/$name"
                        params={{ operation: set.operation, name: set.name }}
                        className="font-medium text-accent-strong wrap-anywhere hover:underline"
                      >
                        {set.name}
                      </Link>
                    ),
                  },
                  { name: t.requests.operation, cell: operationOf },
                  {
                    name: t.datasets.served,
                    isNumber: true,
                    cell: (set) =>
                      set.state === "removed" ? (
                        <Badge tone="warn">{t.datasets.removed}</Badge>
                      ) : (
                        format.number(set.served)
                      ),
                  },
                  {
                    name: t.datasets.rows,
                    isNumber: true,
                    isExtra: true,
                    cell: ({ rows }) => (rows === null ? "–" : format.number(rows)),
                  },
                  { name: t.datasets.refused, isNumber: true, cell: (set) => format.number(set.refused) },
                  {
                    name: t.datasets.duplicates,
                    isNumber: true,
                    isExtra: true,
                    cell: (set) => format.number(set.duplicates),
                  },
                  {
                    name: t.datasets.changed,
                    cell: (set) => (
                      <span title={format.moment(set.changed_at)}>{format.ago(set.changed_at)}</span>
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
      <UploadForm />
      <Connectors />
    </>
  );
}
