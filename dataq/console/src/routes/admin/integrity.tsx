import { type SsoCause, ssoCauses } from "@dataq/contract";
import type { AuditLine } from "@dataq/contract/wire";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import ShieldCheck from "~icons/lucide/shield-check";
import { auditQuery, verifyLedger } from "../../service/admin.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loaded, Notice, Skeleton } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";

/** Checks of the ledger, and the audit log. */
export function Integrity() {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const verify = useMutation({ mutationFn: verifyLedger });
  const audit = useInfiniteQuery(auditQuery);
  return (
    <>
      <PageHead
        title={t.pages.integrity}
        about={t.integrity.about}
        actions={
          <Button
            kind="primary"
            isBusy={verify.isPending}
            icon={<ShieldCheck className="size-4" />}
            onClick={() => verify.mutate()}
          >
            {t.integrity.verify}
          </Button>
        }
      />
      <Panel title={t.integrity.laws} className="mb-5" isFlush>
        {verify.isPending ? (
          <Skeleton lines={6} />
        ) : verify.error ? (
          <div className="p-5">
            <Failure error={verify.error} />
          </div>
        ) : verify.data ? (
          <>
            <div className="p-4 sm:p-5">
              <Notice
                tone={verify.data.ok ? "good" : "bad"}
                title={verify.data.ok ? t.integrity.whole : t.integrity.broken}
              >
                {verify.data.covers.whole
                  ? t.integrity.coversAll(format.number(verify.data.covers.entries))
                  : t.integrity.coversNew(
                      format.number(verify.data.covers.entries),
                      format.number(verify.data.covers.verified_before),
                    )}
              </Notice>
            </div>
            <Table
              label={t.integrity.laws}
              rows={verify.data.findings}
              keyOf={({ law, text }) => `${law} ${text}`}
              columns={[
                { name: t.integrity.law, className: "font-mono text-xs", cell: ({ law }) => law },
                {
                  name: t.pricing.meaning,
                  isWide: true,
                  className: "min-w-52",
                  cell: (finding) => (language === "zh" ? finding.text_zh : finding.text),
                },
                {
                  name: t.requests.result,
                  cell: ({ breaches }) =>
                    breaches.length === 0 ? (
                      <Badge tone="good">{t.integrity.holds}</Badge>
                    ) : (
                      <span className="text-bad">{breaches.join(", ")}</span>
                    ),
                },
              ]}
            />
          </>
        ) : (
          <Empty icon={<ShieldCheck className="size-5" />} title={t.integrity.notYet}>
            {t.integrity.notYetAbout}
          </Empty>
        )}
      </Panel>
      <Panel title={t.integrity.audit} about={t.integrity.auditAbout} isFlush>
        <Loaded query={audit} lines={6}>
          {({ pages }) => (
            <Table
              label={t.integrity.audit}
              rows={pages.flatMap(({ data }) => data)}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: t.requests.time,
                  className: "tabular whitespace-nowrap",
                  cell: (line) => format.moment(line.at),
                },
                {
                  name: t.integrity.action,
                  isWide: true,
                  className: "min-w-36",
                  cell: (line) => (
                    <>
                      {t.integrity.actions[line.action] ?? line.action}
                      <code className="block font-mono text-xs text-faint">{line.action}</code>
                      <Cause line={line} />
                    </>
                  ),
                },
                {
                  name: t.integrity.target,
                  className: "max-w-56",
                  cell: ({ target }) => <code className="block font-mono text-xs break-all">{target}</code>,
                },
                {
                  name: t.integrity.actor,
                  className: "max-w-48",
                  cell: ({ actor }) =>
                    t.integrity.actors[actor] ?? (
                      <code className="block font-mono text-xs break-all">{actor}</code>
                    ),
                },
                { name: t.integrity.address, isExtra: true, cell: ({ ip }) => ip ?? "–" },
              ]}
            />
          )}
        </Loaded>
        <MoreRows query={audit} />
      </Panel>
    </>
  );
}

/** Why somebody did not come in by single sign-on, with the code of the provider and what to look for in the log. */
function Cause({ line: { after, request_id } }: { readonly line: AuditLine }) {
  const { language } = useLook();
  const cause = ssoCauses[after?.["cause"] as SsoCause] as (typeof ssoCauses)[SsoCause] | undefined;
  if (!cause) return null;
  return (
    <span className="mt-1 block max-w-96 text-xs text-warn">
      {cause[language]}
      {typeof after?.["said"] === "string" && (
        <code className="block font-mono break-all">{after["said"]}</code>
      )}
      <code className="block font-mono break-all text-faint">{request_id}</code>
    </span>
  );
}
