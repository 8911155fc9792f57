import { isObject } from "../../service/call.ts";
import type { CatalogOperation } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn } from "../../ui/operation-name.ts";
import { Badge } from "../../ui/panel.tsx";

/** A badge with the record's source, so that samples never look official. */
export function Source({
  source,
  operation,
}: {
  readonly source: unknown;
  readonly operation: Pick<CatalogOperation, "publishers" | "publisher_names">;
}) {
  const t = useText();
  const { language } = useLook();
  if (!isObject(source)) return <span className="text-faint">–</span>;
  const kind = String(source["kind"] ?? "");
  const tone =
    ({ official: "good", licensed: "good", third_party: "accent", sample: "warn" } as const)[kind] ?? "plain";
  const url =
    typeof source["url"] === "string" && /^https?:\/\//.test(source["url"]) ? source["url"] : undefined;
  const own = String(source["name"] ?? "");
  const known = operation.publisher_names[operation.publishers.indexOf(own)];
  // The badge says all that there is to say about a sample.
  const name = kind === "sample" ? "" : known === undefined ? own : textIn(known, language);
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <Badge tone={tone}>{t.sourceKinds[kind as keyof typeof t.sourceKinds] ?? kind}</Badge>
      {url ? (
        <a
          href={url}
          target="_blank"
          rel="noreferrer noopener"
          className="text-xs break-words text-accent hover:underline"
        >
          {name}
        </a>
      ) : (
        <span className="text-xs break-words text-faint">{name}</span>
      )}
    </span>
  );
}
