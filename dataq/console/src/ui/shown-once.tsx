import { useState } from "react";
import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";
import { CopyButton } from "./code.tsx";
import { Dialog } from "./dialog.tsx";
import { Checkbox } from "./field.tsx";
import { Notice } from "./states.tsx";

/** Shows a secret once. Before closing, the user must confirm that it was saved. */
export function ShownOnce({
  secret,
  words,
  testId,
  onClose,
}: {
  readonly secret: string;
  readonly words: {
    readonly title: string;
    readonly once: string;
    readonly about: string;
    readonly kept: string;
  };
  readonly testId: string;
  readonly onClose: () => void;
}) {
  const t = useText();
  const [isKept, setKept] = useState(false);
  return (
    <Dialog isOpen onClose={() => isKept && onClose()} title={words.title}>
      <Notice tone="warn" title={words.once}>
        {words.about}
      </Notice>
      <div className="mt-4 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken p-3">
        <code data-testid={testId} className="min-w-0 flex-1 font-mono text-sm break-all select-all">
          {secret}
        </code>
        <CopyButton text={secret} />
      </div>
      <div className="mt-4">
        <Checkbox label={words.kept} checked={isKept} onChange={(event) => setKept(event.target.checked)} />
      </div>
      <div className="mt-4 flex justify-end">
        <Button kind="primary" disabled={!isKept} onClick={onClose}>
          {t.done}
        </Button>
      </div>
    </Dialog>
  );
}
