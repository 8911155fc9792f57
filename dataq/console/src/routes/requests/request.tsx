import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import ArrowLeft from "~icons/lucide/arrow-left";
import { keysQuery } from "../../service/keys.ts";
import { requestQuery } from "../../service/money.ts";
import { useText } from "../../text/text.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Facts } from "../../ui/table.tsx";
import { EntryTable } from "../ledger/entry-table.tsx";
import { Result } from "./request-table.tsx";

/** A call with its result, duration and ledger entries. */
export function OneRequest() {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const { id } = useParams({ from: "/shell/requests/$id" });
  const query = useQuery(requestQuery(id));
  const { data: keys } = useQuery(keysQuery);
  const keyName = (keyId: string | null | undefined) => {
    const key = keys?.data.find((one) => one.id === keyId);
    return key
      ? key.name || `${key.prefix}…${key.last4}`
      : keyId?.startsWith("user_")
        ? t.requests.console
        : (keyId ?? "–");
  };
  return (
    <>
      <Link to="/requests" className="mb-3 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink">
        <ArrowLeft className="size-4" />
        {t.pages.requests}
      </Link>
      <PageHead
        title={t.requests.one}
        about={<code className="font-mono text-xs break-all">{id}</code>}
        actions={<CopyButton text={id} label={t.requests.copyId} />}
      />
      <Panel isFlush>
        <Loaded query={query}>
          {(row) => (
            <Facts
              facts={[
                [t.requests.operation, row.operation ? t.note(nameOf(row.operation), row.operation) : "–"],
                [t.requests.result, <Result key="r" row={row} />],
                [
                  t.requests.time,
                  <span key="t" className="tabular">
                    {format.moment(row.at)}
                  </span>,
                ],
                [t.requests.took, row.latency_ms === undefined ? "–" : `${format.number(row.latency_ms)} ms`],
                [t.requests.key, keyName(row.key_id)],
                ...(row.reason ? [[t.requests.reason, row.reason] as const] : []),
                ...(row.vendor_requests?.length
                  ? [
                      [
                        t.requests.vendorCost,
                        row.vendor_requests
                          .map(
                            ({ contract, cost_fen }) =>
                              `${contract} ${format.yuan(cost_fen * TOKENS_PER_FEN)}`,
                          )
                          .join(t.comma),
                      ] as const,
                    ]
                  : []),
                [
                  t.requests.cost,
                  t.note(t.amount(format.tokens(row.tokens ?? 0)), format.yuan(row.tokens ?? 0)),
                ],
              ]}
            />
          )}
        </Loaded>
      </Panel>
      {query.data && (
        <Panel title={t.requests.entries} about={t.requests.entriesAbout} className="mt-5" isFlush>
          {query.data.entries && query.data.entries.length > 0 ? (
            <EntryTable rows={query.data.entries} />
          ) : (
            <Empty title={t.requests.noEntries} />
          )}
        </Panel>
      )}
    </>
  );
}
