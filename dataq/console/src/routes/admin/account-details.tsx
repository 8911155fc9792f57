import type { RequestRow } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  accountEntriesQuery,
  accountKeysQuery,
  accountNotesQuery,
  accountRequestsQuery,
  accountUsageQuery,
  addNote,
  refundCall,
} from "../../service/board.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, Textarea } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { EntryTable } from "../ledger/entry-table.tsx";
import { RequestTable } from "../requests/request-table.tsx";
import { AccountPrices } from "./account-prices.tsx";

interface OfAccount {
  readonly id: string;
}

/** What an operator sees of an account: notes, calls, ledger, usage and keys. */
export function AccountDetails({ id }: OfAccount) {
  return (
    <div className="mt-5 flex flex-col gap-5">
      <Notes id={id} />
      <Calls id={id} />
      <AccountPrices id={id} />
      <Entries id={id} />
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <Usage id={id} />
        <Keys id={id} />
      </div>
    </div>
  );
}

function Notes({ id }: OfAccount) {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const client = useQueryClient();
  const query = useQuery(accountNotesQuery(id));
  const mayWrite = mayOperate(user, "admin:support") || mayOperate(user, "admin:finance");
  return (
    <Panel title={t.accounts.notes} about={t.accounts.notesAbout}>
      <Loaded query={query} lines={2}>
        {({ data }) =>
          data.length > 0 && (
            <ul className="mb-4 flex flex-col gap-3">
              {data.map((note) => (
                <li key={note.id} className="border-l-2 border-line pl-3">
                  <p className="whitespace-pre-wrap wrap-anywhere">{note.text}</p>
                  <p className="tabular mt-0.5 text-xs text-faint wrap-anywhere">
                    {format.moment(note.at)} · {note.actor}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {mayWrite && (
        <div>
          <SettingForm
            key={query.data?.data.length ?? 0}
            action={t.accounts.addNote}
            onSend={async ({ text = "" }) => {
              await addNote(id, text);
              await client.invalidateQueries({ queryKey: accountNotesQuery(id).queryKey });
            }}
          >
            <Field label={t.accounts.note}>
              {(attributes) => <Textarea {...attributes} name="text" required maxLength={4000} rows={2} />}
            </Field>
          </SettingForm>
        </div>
      )}
    </Panel>
  );
}

function Calls({ id }: OfAccount) {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const user = useSignedIn();
  const client = useQueryClient();
  const query = useQuery(accountRequestsQuery(id));
  const [refunding, setRefunding] = useState<RequestRow | null>(null);
  const mayRefund = mayOperate(user, "admin:support") || mayOperate(user, "admin:finance");
  return (
    <Panel title={t.pages.requests} about={t.accounts.newest} isFlush>
      <Loaded query={query} lines={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.accounts.noCalls} />
          ) : (
            <RequestTable
              rows={data}
              {...(mayRefund && {
                action: (row: RequestRow) =>
                  row.tokens > 0 ? (
                    <Button size="small" onClick={() => setRefunding(row)}>
                      {t.payments.refund}
                    </Button>
                  ) : null,
              })}
            />
          )
        }
      </Loaded>
      {refunding && (
        <Dialog
          isOpen
          onClose={() => setRefunding(null)}
          title={t.accounts.refundTitle}
          about={t.accounts.refundAbout}
        >
          <SettingForm
            action={t.payments.refund}
            onSend={async ({ yuan = "", reason = "" }) => {
              await refundCall(refunding.id, Math.round(Number(yuan) * TOKENS_PER_YUAN), reason);
              await client.invalidateQueries({ queryKey: ["admin"] });
              setRefunding(null);
              say(t.accounts.booked);
            }}
          >
            <Field label={t.accounts.amount} hint={t.accounts.refundMost(format.yuan(refunding.tokens))}>
              {(attributes) => (
                <Input
                  {...attributes}
                  name="yuan"
                  type="number"
                  min="0.00002"
                  max={refunding.tokens / TOKENS_PER_YUAN}
                  step="0.00002"
                  required
                  defaultValue={refunding.tokens / TOKENS_PER_YUAN}
                />
              )}
            </Field>
            <Field label={t.accounts.reason}>
              {(attributes) => (
                <Input {...attributes} name="reason" required maxLength={500} autoComplete="off" />
              )}
            </Field>
          </SettingForm>
        </Dialog>
      )}
    </Panel>
  );
}

function Entries({ id }: OfAccount) {
  const t = useText();
  const query = useQuery(accountEntriesQuery(id));
  return (
    <Panel title={t.pages.ledger} about={t.accounts.newest} isFlush>
      <Loaded query={query} lines={5}>
        {({ data }) => (data.length === 0 ? <Empty title={t.board.nothing} /> : <EntryTable rows={data} />)}
      </Loaded>
    </Panel>
  );
}

function Usage({ id }: OfAccount) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const query = useQuery(accountUsageQuery(id));
  return (
    <Panel title={t.pages.usage} about={t.accounts.thirtyDays} isFlush>
      <Loaded query={query} lines={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.board.nothing} />
          ) : (
            <Table
              label={t.pages.usage}
              rows={data}
              keyOf={({ operation }) => operation ?? ""}
              columns={[
                {
                  name: t.requests.operation,
                  cell: ({ operation }) => (operation ? nameOf(operation) : "–"),
                },
                { name: t.usage.calls, isNumber: true, cell: ({ calls }) => format.number(calls) },
                {
                  name: t.board.failed,
                  isNumber: true,
                  cell: ({ failed_calls }) => format.number(failed_calls),
                },
                { name: t.usage.spending, isNumber: true, cell: ({ tokens }) => format.yuan(tokens) },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Keys({ id }: OfAccount) {
  const t = useText();
  const format = useFormat();
  const query = useQuery(accountKeysQuery(id));
  return (
    <Panel title={t.pages.keys} isFlush>
      <Loaded query={query} lines={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.keys.none} />
          ) : (
            <Table
              label={t.pages.keys}
              rows={data}
              step={10}
              keyOf={(key) => key.id}
              columns={[
                {
                  name: t.keys.name,
                  className: "max-w-48",
                  cell: ({ name, prefix, last4 }) => (
                    <>
                      <span className="block truncate">{name || t.keys.unnamed}</span>
                      <code className="font-mono text-xs text-faint">
                        {prefix}…{last4}
                      </code>
                    </>
                  ),
                },
                {
                  name: t.keys.state,
                  cell: ({ revoked_at }) => (
                    <Badge tone={revoked_at ? "warn" : "good"}>
                      {revoked_at ? t.keys.states.revoked : t.keys.states.active}
                    </Badge>
                  ),
                },
                {
                  name: t.keys.lastUsed,
                  isExtra: true,
                  className: "tabular whitespace-nowrap",
                  cell: ({ last_used_at }) => (last_used_at ? format.moment(last_used_at) : t.keys.never),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
