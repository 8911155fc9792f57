import { type ReactNode, useState } from "react";
import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { ScrollBox } from "./scroll-box.tsx";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Aligned right, so that digits line up; the first column heads its row and stays left. */
  readonly isNumber?: boolean;
  /** Hidden in narrow tables; cards show it. */
  readonly isExtra?: boolean;
  /** Takes a full line of a card. */
  readonly isWide?: boolean;
  readonly className?: string;
}

/**
 * A table that scrolls sideways in its own box instead of widening the page, and can be reached by keyboard.
 * On a phone each row is a card: the first cell is the heading, and the others are in two columns under their
 * names; a cell without content is left out. ARIA roles are explicit, because browsers drop the implicit ones when CSS changes the layout of a
 * table.
 */
export function Table<Row>({
  label,
  rows,
  columns,
  keyOf,
  step = Number.POSITIVE_INFINITY,
}: {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Number of rows to show at first and to add at each press, for long lists that are not paged. */
  readonly step?: number;
  readonly keyOf: (row: Row) => string | number;
}) {
  const t = useText();
  const [drawn, setDrawn] = useState(step);
  const edges = "sm:px-3 sm:py-2.5 sm:first:pl-5 sm:last:pr-5";
  return (
    <ScrollBox label={label}>
      {/* biome-ignore-start lint/a11y/noRedundantRoles: not redundant where `display` is not a table's */}
      <table role="table" className="block w-full border-collapse text-left sm:table">
        <thead role="rowgroup" className="sr-only sm:not-sr-only sm:table-header-group">
          <tr role="row" className="border-b border-line text-xs text-faint">
            {columns.map((column, index) => (
              <th
                key={column.name}
                role="columnheader"
                scope="col"
                className={classes(
                  "font-medium whitespace-nowrap",
                  edges,
                  column.isNumber && index > 0 && "text-right",
                  column.isExtra && "max-md:hidden",
                  column.className,
                )}
              >
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="block divide-y divide-line sm:table-row-group">
          {rows.slice(0, drawn).map((row) => (
            <tr
              key={keyOf(row)}
              role="row"
              className="grid grid-cols-2 gap-x-4 gap-y-2 px-4 py-3 hover:bg-sunken/60 sm:table-row sm:p-0 sm:align-baseline"
            >
              {columns.map((column, index) => {
                const content = column.cell(row);
                return (
                  <td
                    key={column.name}
                    role="cell"
                    className={classes(
                      "max-sm:max-w-none max-sm:min-w-0 max-sm:whitespace-normal max-sm:wrap-anywhere",
                      edges,
                      (index === 0 || column.isWide) && "max-sm:col-span-2",
                      isNothing(content) && "max-sm:hidden",
                      column.isNumber && "tabular",
                      column.isNumber && index > 0 && "sm:text-right",
                      column.isExtra && "sm:max-md:hidden",
                      column.className,
                    )}
                  >
                    {index > 0 && (
                      <span aria-hidden className="block text-xs text-faint sm:hidden">
                        {column.name}
                      </span>
                    )}
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above */}
      {rows.length > drawn && (
        <div className="border-t border-line p-3 text-center">
          <Button onClick={() => setDrawn(drawn + step)}>{t.more}</Button>
        </div>
      )}
    </ScrollBox>
  );
}

/** What React draws as nothing. */
function isNothing(content: ReactNode): boolean {
  return content === null || content === undefined || content === false || content === "";
}

/** A list of names with their values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="divide-y divide-line">
      {facts.map(([name, value]) => (
        <div
          key={name}
          className="grid grid-cols-1 gap-x-6 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[11rem_1fr] sm:px-5"
        >
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
