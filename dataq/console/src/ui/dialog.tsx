import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import X from "~icons/lucide/x";
import { useText } from "../text/text.tsx";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";

/** A modal dialog. It traps the focus and restores it on closing. */
export function Dialog({
  isOpen,
  onClose,
  title,
  about,
  children,
  isWide,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}) {
  const t = useText();
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Popup
          className={classes(
            "fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-xl border border-line bg-surface shadow-float",
            isWide ? "max-w-2xl" : "max-w-lg",
          )}
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-4">
            <div>
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {about && <Base.Description className="mt-1 text-sm text-soft">{about}</Base.Description>}
            </div>
            <Base.Close render={<IconButton label={t.close} className="-mt-1 -mr-2" />}>
              <X className="size-4.5" />
            </Base.Close>
          </div>
          <div className="px-5 pt-4 pb-5">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
