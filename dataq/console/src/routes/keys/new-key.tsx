import type { CreatedKey } from "@dataq/contract/wire";
import { useState } from "react";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Notice } from "../../ui/states.tsx";

/** Shows a new key once. Before closing, the user must confirm that the key was saved. */
export function NewKey({ made, onClose }: { readonly made: CreatedKey; readonly onClose: () => void }) {
  const t = useText();
  const [isKept, setKept] = useState(false);
  return (
    <Dialog isOpen onClose={() => isKept && onClose()} title={t.keys.madeTitle}>
      <Notice tone="warn" title={t.keys.once}>
        {t.keys.onceAbout}
      </Notice>
      <div className="mt-4 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken p-3">
        <code data-testid="new-key" className="min-w-0 flex-1 font-mono text-sm break-all select-all">
          {made.key}
        </code>
        <CopyButton text={made.key} />
      </div>
      <div className="mt-4">
        <Checkbox label={t.keys.kept} checked={isKept} onChange={(event) => setKept(event.target.checked)} />
      </div>
      <div className="mt-4 flex justify-end">
        <Button kind="primary" disabled={!isKept} onClick={onClose}>
          {t.done}
        </Button>
      </div>
    </Dialog>
  );
}
