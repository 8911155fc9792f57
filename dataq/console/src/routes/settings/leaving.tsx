import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import Download from "~icons/lucide/download";
import { closeAccount } from "../../service/leaving.ts";
import { balanceQuery } from "../../service/money.ts";
import { useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field, Input } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Notice } from "../../ui/states.tsx";

/** What owners take with them, and the account's end. */
export function Leaving() {
  const t = useText();
  const user = useSignedIn();
  const [isOpen, setOpen] = useState(false);
  if (!user.scopes.includes("manage:members")) return null;
  return (
    <Panel title={t.leaving.title} about={t.leaving.about}>
      <div className="flex flex-wrap gap-2">
        <a href="/v1/account/export" download className={buttonClass()}>
          <Download className="size-4" />
          {t.leaving.export}
        </a>
        {user.role !== "admin" && (
          <Button kind="danger" onClick={() => setOpen(true)}>
            {t.leaving.close}
          </Button>
        )}
      </div>
      {isOpen && <Close onClose={() => setOpen(false)} />}
    </Panel>
  );
}

function Close({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const { data: balance } = useQuery(balanceQuery);
  const name = user.accounts.find(({ id }) => id === user.account_id)?.name ?? "";
  const left = balance?.paid_balance ?? 0;
  return (
    <Dialog isOpen onClose={onClose} title={t.leaving.closeTitle} about={t.leaving.closeAbout}>
      <SettingForm
        action={t.leaving.close}
        kind="danger"
        onSend={async ({ confirm = "", give_up }) => {
          await closeAccount({ confirm: confirm.trim(), give_up_tokens: give_up === "on" ? left : 0 });
          // A full page load: nothing of the account stays in memory.
          location.assign("/console");
        }}
      >
        <Notice tone="warn" title={t.leaving.whatStays}>
          {t.leaving.whatStaysAbout}
        </Notice>
        {left > 0 && (
          <Checkbox name="give_up" label={t.leaving.giveUp(format.yuan(left))} hint={t.leaving.giveUpHint} />
        )}
        <Field label={t.leaving.confirm(name)}>
          {(attributes) => <Input {...attributes} name="confirm" required autoComplete="off" />}
        </Field>
      </SettingForm>
    </Dialog>
  );
}
