import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import Download from "~icons/lucide/download";
import FileText from "~icons/lucide/file-text";
import ScrollText from "~icons/lucide/scroll-text";
import { balanceQuery, ledgerQuery } from "../../service/money.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { useFormat } from "../../ui/format.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { PageHead, Panel, Stat, Stats } from "../../ui/panel.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { callLines } from "./call-lines.ts";
import { EntryTable } from "./entry-table.tsx";

/** Every change of the account's balance. The changes add up to the balance. */
export function Ledger() {
  const t = useText();
  const format = useFormat();
  const query = useInfiniteQuery(ledgerQuery);
  const { data: balance } = useQuery(balanceQuery);
  return (
    <>
      <PageHead
        title={t.pages.ledger}
        about={t.ledger.about}
        actions={
          <>
            <Link to="/invoices" className={buttonClass()}>
              <FileText className="size-4" />
              {t.invoices.statement}
            </Link>
            <a href="/v1/ledger/export?format=csv" download className={buttonClass()}>
              <Download className="size-4" />
              {t.csv}
            </a>
          </>
        }
      />
      {balance && (
        <div className="mb-5">
          <Stats>
            <Stat
              name={t.ledger.spendable}
              value={format.tokens(balance.balance)}
              note={format.yuan(balance.balance)}
            />
            <Stat
              name={t.ledger.trial}
              value={format.tokens(balance.trial_balance)}
              note={
                balance.trial_expires_at && balance.trial_balance > 0
                  ? t.ledger.until(format.day(balance.trial_expires_at))
                  : format.yuan(balance.trial_balance)
              }
            />
            <Stat
              name={t.ledger.paid}
              value={format.tokens(balance.paid_balance)}
              note={format.yuan(balance.paid_balance)}
            />
            <Stat name={t.ledger.held} value={format.tokens(balance.held)} note={t.ledger.heldNote} />
          </Stats>
        </div>
      )}
      <Panel isFlush>
        <Loaded query={query} lines={8}>
          {({ pages }) => {
            const entries = pages.flatMap(({ data }) => data);
            const rows = callLines(entries, !query.hasNextPage);
            return entries.length === 0 ? (
              <Empty icon={<ScrollText className="size-5" />} title={t.ledger.none}>
                {t.ledger.noneAbout}
              </Empty>
            ) : (
              <EntryTable rows={rows} />
            );
          }}
        </Loaded>
        <MoreRows query={query} />
      </Panel>
    </>
  );
}
