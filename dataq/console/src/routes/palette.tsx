import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useMemo, useState } from "react";
import { catalogQuery } from "../service/catalog.ts";
import { guidesQuery } from "../service/guides.ts";
import { keysQuery } from "../service/keys.ts";
import { sessionQuery } from "../service/session.ts";
import { useText } from "../text/text.tsx";
import { classes } from "../ui/classes.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Input } from "../ui/field.tsx";
import { useLook } from "../ui/look.ts";
import { textIn } from "../ui/operation-name.ts";

interface Choice {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  /** Other words that find it. */
  readonly also: string;
  readonly go: () => void;
}

const pages = [
  ["/", "overview"],
  ["/playground", "playground"],
  ["/citations", "citations"],
  ["/keys", "keys"],
  ["/webhooks", "webhooks"],
  ["/usage", "usage"],
  ["/requests", "requests"],
  ["/ledger", "ledger"],
  ["/top-up", "topUp"],
  ["/invoices", "invoices"],
  ["/pricing", "pricing"],
  ["/quick-start", "quickStart"],
  ["/settings", "settings"],
] as const;

const adminPages = [
  ["/admin/board", "board"],
  ["/admin/accounts", "accounts"],
  ["/admin/payments", "payments"],
  ["/admin/invoices", "allInvoices"],
  ["/admin/vouchers", "vouchers"],
  ["/admin/prices", "prices"],
  ["/admin/sources", "sources"],
  ["/admin/datasets", "datasets"],
  ["/admin/integrity", "integrity"],
] as const;

const mostShown = 12;

/** Ctrl-K: pages, operations, keys and the documentation, found by what the reader types. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const choices = useChoices();
  const shown = useMemo(() => found(choices, text), [choices, text]);
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    choice.go();
  };
  const onKey = (event: KeyboardEvent) => {
    // An input method uses the same keys.
    if (event.nativeEvent.isComposing || shown.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((at + step + shown.length) % shown.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(shown[at]);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title={t.palette.title} isWide>
      <Input
        type="search"
        role="combobox"
        autoFocus
        aria-label={t.palette.find}
        placeholder={t.palette.find}
        aria-expanded={shown.length > 0}
        aria-controls="palette-choices"
        aria-activedescendant={shown[at] && `choice-${at}`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id="palette-choices" role="listbox" aria-label={t.palette.title} className="mt-3 min-h-32">
        {shown.map((choice, place) => (
          <div
            key={choice.id}
            id={`choice-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            onClick={() => run(choice)}
            onKeyDown={onKey}
            onPointerMove={() => setAt(place)}
            className={classes(
              "flex cursor-pointer items-baseline justify-between gap-4 rounded-md px-3 py-1.5",
              place === at && "bg-accent-wash text-accent-strong",
            )}
          >
            <span className="min-w-0 truncate">{choice.label}</span>
            <span className="shrink-0 text-xs text-soft">{choice.kind}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p role="status">{t.palette.nothing}</p>}
    </Dialog>
  );
}

function useChoices(): readonly Choice[] {
  const t = useText();
  const { language } = useLook();
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const { data: operations = [] } = useQuery(catalogQuery);
  // Not every role may see the keys, and the documentation may not be built yet.
  const { data: keys } = useQuery({ ...keysQuery, retry: false });
  const { data: guides = [] } = useQuery(guidesQuery(language));
  return useMemo(() => {
    const isAdmin = session?.user?.role === "admin";
    return [
      ...[...pages, ...(isAdmin ? adminPages : [])].map(([to, name]) => ({
        id: to,
        label: t.pages[name],
        kind: t.palette.page,
        also: to,
        go: () => void navigate({ to }),
      })),
      ...operations.map(({ name, title }) => ({
        id: `operation ${name}`,
        label: textIn(title, language),
        kind: t.palette.operation,
        also: `${name} ${title.en} ${title.zh}`,
        go: () => void navigate({ to: "/playground", search: { operation: name } }),
      })),
      ...(keys?.data ?? []).map(({ id, name }) => ({
        id: `key ${id}`,
        label: name,
        kind: t.palette.key,
        also: id,
        go: () => void navigate({ to: "/keys" }),
      })),
      ...guides.map(({ address, page, heading }) => ({
        id: `guide ${address}`,
        label: heading || page,
        kind: heading === "" ? t.palette.guide : page,
        also: page,
        go: () => location.assign(`/docs/${address}`),
      })),
    ];
  }, [t, language, navigate, session, operations, keys, guides]);
}

/** Those whose name begins with the text first, then those that hold it, then those found by another word. */
function found(choices: readonly Choice[], text: string): readonly Choice[] {
  const wanted = text.trim().toLowerCase();
  const rank = ({ label, also }: Choice) => {
    const name = label.toLowerCase();
    if (name.startsWith(wanted)) return 0;
    return name.includes(wanted) ? 1 : also.toLowerCase().includes(wanted) ? 2 : 3;
  };
  return choices
    .map((choice) => ({ choice, of: rank(choice) }))
    .filter(({ of }) => of < 3)
    .sort((a, b) => a.of - b.of)
    .slice(0, mostShown)
    .map(({ choice }) => choice);
}
