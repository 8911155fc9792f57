import type { CatalogEntry } from "@dataq/contract/wire";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";

/** Who published the records, since when they are here, and of which day the newest is: known before a call. */
export function Provenance({
  operation: { publishers, real_since, newest_day },
}: {
  readonly operation: Pick<CatalogEntry, "publishers" | "real_since" | "newest_day">;
}) {
  const t = useText();
  const format = useFormat();
  const rows = [
    [t.playground.publisher, publishers.length > 0 ? publishers.join(t.comma) : null],
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
