import type { AnyInvoice, InvoiceFilter } from "@dataq/contract/wire";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import Download from "~icons/lucide/download";
import FileText from "~icons/lucide/file-text";
import { allInvoicesQuery, issueInvoice } from "../../service/invoices.ts";
import { useText } from "../../text/text.tsx";
import { Amount } from "../../ui/amount.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FilteredList } from "../../ui/filtered-list.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Badge, PageHead } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Corrections } from "../invoices/corrections.tsx";
import { invoiceTones } from "../invoices/invoices.tsx";
import { CorrectInvoice } from "./correct-invoice.tsx";
import { InvoiceNumber } from "./invoice-number.tsx";

/** Invoices that customers asked for: exported for the tax bureau, marked as issued, and corrected. */
export function AllInvoices() {
  const t = useText();
  const format = useFormat();
  const [state, setState] = useState<InvoiceFilter | "">("requested");
  const [open, setOpen] = useState<AnyInvoice | null>(null);
  const query = useInfiniteQuery(allInvoicesQuery(state));
  return (
    <>
      <PageHead
        title={t.pages.allInvoices}
        about={t.allInvoices.about}
        actions={
          <a href="/admin/v1/invoices/export" download className={buttonClass()}>
            <Download className="size-4" />
            {t.allInvoices.export}
          </a>
        }
      />
      <FilteredList<AnyInvoice, InvoiceFilter>
        title={t.invoices.list}
        query={query}
        states={{ ...t.invoices.states, to_correct: t.allInvoices.toCorrect }}
        state={state}
        onState={setState}
        empty={
          <Empty icon={<FileText className="size-5" />} title={t.allInvoices.none}>
            {t.allInvoices.noneAbout}
          </Empty>
        }
      >
        {(rows) => (
          <Table
            label={t.invoices.list}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                name: t.invoices.title,
                className: "wrap-anywhere",
                cell: ({ buyer, account_id }) => (
                  <>
                    <Link
                      to="/admin/accounts/$id"
                      params={{ id: account_id }}
                      className="text-accent underline-offset-4 hover:underline"
                    >
                      {buyer.title}
                    </Link>
                    <code className="block font-mono text-xs break-all text-faint">
                      {buyer.tax_number || t.allInvoices.person}
                    </code>
                  </>
                ),
              },
              {
                name: t.requests.time,
                isExtra: true,
                className: "tabular whitespace-nowrap",
                cell: ({ created_at }) => format.moment(created_at),
              },
              {
                name: t.pay.amount,
                isNumber: true,
                cell: ({ amount_fen, red_fen, again_fen }) => (
                  <Amount
                    fen={amount_fen}
                    part={red_fen || again_fen}
                    about={red_fen > 0 ? t.allInvoices.red : t.allInvoices.again}
                  />
                ),
              },
              {
                name: t.keys.state,
                isWide: true,
                cell: (invoice) =>
                  invoice.state === "issued" ? (
                    <>
                      <Badge tone={invoiceTones.issued}>{t.invoices.states.issued}</Badge>
                      <code className="mt-1 block font-mono text-xs break-all">{invoice.number}</code>
                      <Corrections invoice={invoice} />
                      {(invoice.red_fen > 0 || invoice.again_fen > 0) && (
                        <Button size="small" className="mt-1.5" onClick={() => setOpen(invoice)}>
                          {t.allInvoices.correct[invoice.red_fen > 0 ? "red" : "again"]}
                        </Button>
                      )}
                    </>
                  ) : invoice.amount_fen === 0 ? (
                    t.allInvoices.returned
                  ) : (
                    <Button size="small" onClick={() => setOpen(invoice)}>
                      {t.allInvoices.issue}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </FilteredList>
      {open?.state === "requested" && <Issue invoice={open} onClose={() => setOpen(null)} />}
      {open?.state === "issued" && <CorrectInvoice invoice={open} onClose={() => setOpen(null)} />}
    </>
  );
}

function Issue({ invoice, onClose }: { readonly invoice: AnyInvoice; readonly onClose: () => void }) {
  const t = useText();
  const say = useToast();
  const client = useQueryClient();
  return (
    <Dialog isOpen onClose={onClose} title={t.allInvoices.issue} about={t.allInvoices.issueAbout}>
      <SettingForm
        action={t.save}
        onSend={async ({ number = "" }) => {
          await issueInvoice(invoice, number.trim());
          await client.invalidateQueries({ queryKey: ["admin", "invoices"] });
          say(t.settings.saved);
          onClose();
        }}
      >
        <InvoiceNumber />
      </SettingForm>
    </Dialog>
  );
}
