import type { CatalogEntry } from "@dataq/contract/wire";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";

/** Who published the records, since when they are here, and of which day the newest is: known before a call. */
export function Provenance({
  operation: { publisher_names, real_since, newest_day },
}: {
  readonly operation: Pick<CatalogEntry, "publisher_names" | "real_since" | "newest_day">;
}) {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const rows = [
    [t.playground.publisher, publisher_names.map((name) => name[language]).join(t.comma)],
    [t.playground.realSince, real_since && format.day(real_since)],
    [t.playground.newest, newest_day],
  ].filter(([, value]) => value);
  if (rows.length === 0) return null;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm text-soft">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
