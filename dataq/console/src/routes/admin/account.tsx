import { type AccountWithWallet, tiers } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import ArrowLeft from "~icons/lucide/arrow-left";
import { accountQuery, adjustAccount, changeAccount, topUpAccount } from "../../service/admin.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field, Input, Select } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { Badge, PageHead, Panel, Stat, Stats } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Loaded, Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AccountDetails } from "./account-details.tsx";

export function OneAccount() {
  const t = useText();
  const { id } = useParams({ from: "/shell/admin/admin/accounts/$id" });
  const query = useQuery(accountQuery(id));
  return (
    <>
      <Link
        to="/admin/accounts"
        className="mb-3 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft className="size-4" />
        {t.pages.accounts}
      </Link>
      <Loaded query={query}>{(account) => <Details account={account} />}</Loaded>
    </>
  );
}

function Details({ account }: { readonly account: AccountWithWallet }) {
  const t = useText();
  const format = useFormat();
  const say = useToast();
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const user = useSignedIn();
  const movesMoney = mayOperate(user, "admin:finance");
  const { wallet } = account;
  const refresh = () => client.invalidateQueries();
  const freeze = async () => {
    await changeAccount(account.id, { frozen: !wallet?.frozen });
    await refresh();
  };
  return (
    <>
      <PageHead
        title={account.name}
        about={
          <span className="flex flex-wrap items-center gap-2">
            <span className="break-all">{account.email ?? "–"}</span>
            <code className="font-mono text-xs break-all">{account.id}</code>
            {account.role === "admin" && <Badge tone="accent">{t.accounts.admin}</Badge>}
          </span>
        }
        actions={
          mayOperate(user, "admin:support") && (
            <Button kind={wallet?.frozen ? "plain" : "danger"} onClick={() => setAsking(true)}>
              {wallet?.frozen ? t.accounts.thaw : t.accounts.freeze}
            </Button>
          )
        }
      />
      {isAsking && (
        <Confirm
          kind={wallet?.frozen ? "primary" : "danger"}
          title={(wallet?.frozen ? t.accounts.thawTitle : t.accounts.freezeTitle)(account.name)}
          about={wallet?.frozen ? t.accounts.thawAbout : t.accounts.frozenAbout}
          action={wallet?.frozen ? t.accounts.thaw : t.accounts.freeze}
          onConfirm={freeze}
          onClose={() => setAsking(false)}
        />
      )}
      {wallet?.frozen && (
        <div className="mb-5">
          <Notice tone="warn" title={t.accounts.frozen}>
            {t.accounts.frozenAbout} {t.accounts.frozenWhy}
          </Notice>
        </div>
      )}
      {wallet && (
        <div className="mb-5">
          <Stats>
            <Stat
              name={t.ledger.spendable}
              value={format.yuan(wallet.balance)}
              note={t.amount(format.tokens(wallet.balance))}
            />
            <Stat name={t.ledger.trial} value={format.yuan(wallet.trial_balance)} />
            <Stat name={t.ledger.paid} value={format.yuan(wallet.paid_balance)} />
            <Stat name={t.ledger.held} value={format.yuan(wallet.held)} />
          </Stats>
        </div>
      )}
      <div className="grid items-start gap-5 sm:grid-cols-2 xl:grid-cols-4">
        {movesMoney && (
          <>
            <Panel title={t.accounts.topUp} about={t.accounts.topUpAbout}>
              <SettingForm
                action={t.accounts.book}
                onSend={async ({ yuan = "", reference = "" }) => {
                  await topUpAccount(
                    account.id,
                    Math.round(Number(yuan) * TOKENS_PER_YUAN),
                    reference.trim(),
                  );
                  await refresh();
                  say(t.accounts.booked);
                }}
              >
                <Field label={t.accounts.amount}>
                  {(attributes) => (
                    <Input {...attributes} name="yuan" type="number" min="0.01" step="0.01" required />
                  )}
                </Field>
                <Field label={t.accounts.reference} hint={t.accounts.referenceHint}>
                  {(attributes) => (
                    <Input {...attributes} name="reference" required maxLength={200} autoComplete="off" />
                  )}
                </Field>
              </SettingForm>
            </Panel>
            <Panel title={t.accounts.adjust} about={t.accounts.adjustAbout}>
              <SettingForm
                action={t.accounts.book}
                onSend={async ({ yuan = "", reason = "" }) => {
                  await adjustAccount(account.id, Math.round(Number(yuan) * TOKENS_PER_YUAN), reason);
                  await refresh();
                  say(t.accounts.booked);
                }}
              >
                <Field label={t.accounts.amount}>
                  {(attributes) => <Input {...attributes} name="yuan" type="number" step="0.01" required />}
                </Field>
                <Field label={t.accounts.reason}>
                  {(attributes) => (
                    <Input {...attributes} name="reason" required maxLength={500} autoComplete="off" />
                  )}
                </Field>
              </SettingForm>
            </Panel>
          </>
        )}
        {mayOperate(user, "admin:support") && (
          <Panel title={t.accounts.tier} about={t.accounts.tierAbout}>
            <SettingForm
              action={t.save}
              onSend={async ({ tier }) => {
                await changeAccount(account.id, { tier: tiers.find((one) => one === tier) });
                await refresh();
                say(t.settings.saved);
              }}
            >
              <Field label={t.accounts.tier}>
                {(attributes) => (
                  <Select {...attributes} name="tier" defaultValue={account.tier}>
                    {tiers.map((tier) => (
                      <option key={tier} value={tier}>
                        {t.accounts.tiers[tier]}
                      </option>
                    ))}
                  </Select>
                )}
              </Field>
            </SettingForm>
          </Panel>
        )}
        {movesMoney && (
          <Panel title={t.accounts.credit} about={t.accounts.creditAbout}>
            <SettingForm
              action={t.save}
              onSend={async ({ yuan = "" }) => {
                await changeAccount(account.id, { credit_limit: Math.round(Number(yuan) * TOKENS_PER_YUAN) });
                await refresh();
                say(t.settings.saved);
              }}
            >
              <Field label={t.accounts.limit}>
                {(attributes) => (
                  <Input
                    {...attributes}
                    name="yuan"
                    type="number"
                    min="0"
                    step="0.01"
                    required
                    defaultValue={(wallet?.credit_limit ?? 0) / TOKENS_PER_YUAN}
                  />
                )}
              </Field>
            </SettingForm>
          </Panel>
        )}
      </div>
      <AccountDetails id={account.id} />
    </>
  );
}
