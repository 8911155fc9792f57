import { isObject } from "../../service/call.ts";
import type { Status } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.ts";
import { Badge } from "../../ui/panel.tsx";

/** What the service's status says of one operation's data: what kind, how much, how old. */
export function Freshness({
  status,
  operation,
}: {
  readonly status: Status | undefined;
  readonly operation: string;
}) {
  const t = useText();
  const format = useFormat();
  const state = stateOf(status, operation);
  if (!state) return <span className="text-faint">–</span>;
  const kind = typeof state["kind"] === "string" ? state["kind"] : undefined;
  const size = state["size"] ?? state["records"] ?? state["documents"];
  const refreshed = state["refreshed_at"];
  const progress = state["progress"] ?? state["building"];
  return (
    <span className="flex flex-wrap items-center gap-1.5 text-xs text-soft">
      {kind && (
        <Badge tone={kind === "sample" ? "warn" : "good"}>
          {t.sourceKinds[kind as keyof typeof t.sourceKinds] ?? kind}
        </Badge>
      )}
      {typeof size === "number" && <span className="tabular">{t.pricing.records(format.number(size))}</span>}
      {typeof refreshed === "string" && <span>{format.ago(refreshed)}</span>}
      {typeof progress === "string" && <Badge tone="accent">{progress}</Badge>}
    </span>
  );
}

/** Of `/v1/status`: its list or map of operations, sources or indexes. */
function stateOf(status: Status | undefined, operation: string): Record<string, unknown> | undefined {
  const found: Record<string, unknown> = {};
  for (const part of ["operations", "sources", "indexes"]) {
    const list = status?.[part];
    const one = Array.isArray(list)
      ? list.find((item) => isObject(item) && (item["operation"] === operation || item["name"] === operation))
      : isObject(list)
        ? list[operation]
        : undefined;
    if (isObject(one)) Object.assign(found, one);
  }
  return Object.keys(found).length > 0 ? found : undefined;
}
