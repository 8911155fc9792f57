import type { CreatedWebhook } from "@dataq/contract/wire";
import { useState } from "react";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Notice } from "../../ui/states.tsx";

/** Shows a webhook's secret once. Before closing, the user must confirm that it was saved. */
export function NewSecret({
  made,
  onClose,
}: {
  readonly made: CreatedWebhook;
  readonly onClose: () => void;
}) {
  const t = useText();
  const [isKept, setKept] = useState(false);
  return (
    <Dialog isOpen onClose={() => isKept && onClose()} title={t.webhooks.secretTitle}>
      <Notice tone="warn" title={t.webhooks.once}>
        {t.webhooks.onceAbout}
      </Notice>
      <div className="mt-4 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken p-3">
        <code data-testid="new-secret" className="min-w-0 flex-1 font-mono text-sm break-all select-all">
          {made.secret}
        </code>
        <CopyButton text={made.secret} />
      </div>
      <div className="mt-4">
        <Checkbox
          label={t.webhooks.kept}
          checked={isKept}
          onChange={(event) => setKept(event.target.checked)}
        />
      </div>
      <div className="mt-4 flex justify-end">
        <Button kind="primary" disabled={!isKept} onClick={onClose}>
          {t.done}
        </Button>
      </div>
    </Dialog>
  );
}
