import { useState } from "react";
import Check from "~icons/lucide/check";
import Copy from "~icons/lucide/copy";
import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { ScrollBox } from "./scroll-box.tsx";

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await writeClipboard(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  const icon = isCopied ? <Check className="size-4 text-good" /> : <Copy className="size-4" />;
  return (
    <Button size="small" icon={icon} onClick={() => void copy()}>
      {label ?? t.copy}
      <span className="sr-only" aria-live="polite">
        {isCopied ? t.copied : ""}
      </span>
    </Button>
  );
}

/**
 * Copies text. The clipboard API needs https or loopback; elsewhere this copies from a selected text field.
 */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** Code in a box with its own scroll bar. */
export function Code({
  text,
  label,
  className,
}: {
  readonly text: string;
  readonly label: string;
  readonly className?: string;
}) {
  return (
    <div className={classes("relative rounded-lg border border-line bg-sunken", className)}>
      <div className="flex items-center justify-between gap-2 border-b border-line py-1.5 pr-1.5 pl-3">
        <span className="truncate text-xs text-faint">{label}</span>
        <CopyButton text={text} />
      </div>
      <ScrollBox label={label} className="max-h-120 overflow-y-auto">
        <pre className="p-3 font-mono text-xs leading-relaxed">
          <code>{text}</code>
        </pre>
      </ScrollBox>
    </div>
  );
}
