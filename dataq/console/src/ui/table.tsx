import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import { ScrollBox } from "./scroll-box.tsx";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand right, so that their digits align. */
  readonly isNumber?: boolean;
  /** Hidden on narrow screens: what can be done without there. */
  readonly isExtra?: boolean;
  readonly className?: string;
}

/** A table that scrolls sideways in its box instead of breaking the page; reachable by keyboard. */
export function Table<Row>({
  label,
  rows,
  columns,
  keyOf,
}: {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string | number;
}) {
  const shown = (column: Column<Row>) =>
    classes(
      column.isNumber && "tabular text-right",
      column.isExtra && "hidden md:table-cell",
      column.className,
    );
  return (
    <ScrollBox label={label}>
      <table className="w-full border-collapse text-left">
        <thead>
          <tr className="border-b border-line text-xs text-faint">
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={classes(
                  "px-3 py-2.5 font-medium whitespace-nowrap first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5",
                  shown(column),
                )}
              >
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={keyOf(row)} className="align-top hover:bg-sunken/60">
              {columns.map((column) => (
                <td
                  key={column.name}
                  className={classes(
                    "px-3 py-2.5 first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5",
                    shown(column),
                  )}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

/** Names with their values. */
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
