import type { ReactNode } from "react";
import { useText } from "../text/text.tsx";
import { Select } from "./field.tsx";
import { MoreRows, type PagedQuery } from "./more-rows.tsx";
import { Panel } from "./panel.tsx";
import { Loaded } from "./states.tsx";

interface Paged<Row> extends PagedQuery {
  readonly data: { readonly pages: readonly { readonly data: readonly Row[] }[] } | undefined;
  readonly refetch: () => unknown;
}

/** A paged list that shows the rows of one state or of all. */
export function FilteredList<Row, State extends string>({
  title,
  about,
  query,
  states,
  state,
  onState,
  actions,
  empty,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  readonly query: Paged<Row>;
  /** Each state with its name. */
  readonly states: Readonly<Record<State, string>>;
  readonly state: State | "";
  readonly onState: (state: State | "") => void;
  readonly actions?: ReactNode;
  /** Shown instead of no rows. */
  readonly empty: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}) {
  const t = useText();
  return (
    <Panel
      title={title}
      about={about}
      isFlush
      actions={
        <>
          {actions}
          <Select
            aria-label={t.keys.state}
            className="w-36"
            value={state}
            onChange={(event) => onState(event.target.value as State | "")}
          >
            <option value="">{t.anyState}</option>
            {(Object.entries(states) as [State, string][]).map(([one, name]) => (
              <option key={one} value={one}>
                {name}
              </option>
            ))}
          </Select>
        </>
      }
    >
      <Loaded query={query} lines={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          return rows.length === 0 ? empty : children(rows);
        }}
      </Loaded>
      <MoreRows query={query} />
    </Panel>
  );
}
