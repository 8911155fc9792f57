import type { Status } from "@dataq/contract/wire";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn } from "../../ui/operation-name.ts";
import { Badge } from "../../ui/panel.tsx";

/** The state of an operation's data: imported or sample, size, age and progress. */
export function Freshness({
  status,
  operation,
}: {
  readonly status: Status | undefined;
  readonly operation: string;
}) {
  const t = useText();
  const { language } = useLook();
  const format = useFormat();
  const state = status?.operations.find((one) => one.operation === operation);
  if (!state) return <span className="text-faint">–</span>;
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
      <Badge tone={state.data === "sample" || state.data === "none" ? "warn" : "good"}>
        {t.pricing.dataKinds[state.data as keyof typeof t.pricing.dataKinds] ?? state.data}
      </Badge>
      {state.coverage ? (
        <span className="tabular">{textIn(state.coverage.text, language)}</span>
      ) : (
        state.index && <span className="tabular">{t.pricing.records(format.number(state.index.size))}</span>
      )}
      {state.data === "imported" && state.generated > 0 && (
        <span className="tabular">{t.pricing.generated(format.number(state.generated))}</span>
      )}
      {state.index?.refreshed_at && (
        <span title={format.moment(state.index.refreshed_at)}>{format.ago(state.index.refreshed_at)}</span>
      )}
      {state.building && (
        <Badge tone="accent">
          {t.pricing.building(
            format.number(state.building.done) +
              (state.building.total === null ? "" : ` / ${format.number(state.building.total)}`),
          )}
        </Badge>
      )}
      {state.overdue && <Badge tone="bad">{t.pricing.overdue}</Badge>}
    </span>
  );
}
