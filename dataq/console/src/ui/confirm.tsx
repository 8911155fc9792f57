import type { ReactNode } from "react";
import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { useOnce } from "./once.ts";
import { Failure } from "./states.tsx";

/**
 * Asks for confirmation, then runs the action. The dialog is busy while the action runs, closes when it
 * succeeds, and shows the error when it fails. Meant for actions that cannot be undone, unless `kind` says
 * otherwise.
 */
export function Confirm({
  title,
  about,
  action,
  kind = "danger",
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  readonly about: ReactNode;
  readonly action: string;
  readonly kind?: "danger" | "primary";
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}) {
  const t = useText();
  const { mutate, isPending, error } = useOnce({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Dialog isOpen onClose={onClose} title={title} about={about}>
      <div className="flex flex-col gap-4">
        {children}
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button kind={kind} isBusy={isPending} onClick={() => mutate()}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
