import type { Dataset } from "./datasets.ts";
import { licenceOf, publisherOf, type RunState } from "./runs.ts";

/** A data set in the form of the command line and the management API. */
export function datasetBody(set: Dataset): object {
  const { runs, past } = set;
  return {
    name: set.name,
    operation: set.target,
    state: set.state,
    rows: set.rows,
    refused: set.refused,
    for_other_operations: set.passedOver,
    records: set.records,
    duplicates: set.duplicates,
    served: set.served,
    duplicate_ids: runs.flatMap(({ duplicate_ids }) => duplicate_ids),
    changed_at: set.changedAt,
    next_refresh_at: set.nextRefreshAt,
    imports: runs.map(importBody),
    restorable: past && {
      served: past.served,
      ended_at: past.endedAt,
      until: past.restorableUntil,
    },
  };
}

function importBody(run: RunState): object {
  const { origin, sha256, options, updated_at, rows, bad_rows, done } = run;
  return {
    origin,
    sha256,
    mode: options.mode,
    publisher: publisherOf(run),
    kind: options.kind,
    licence: licenceOf(run),
    at: updated_at,
    rows,
    refused: bad_rows,
    records: done,
  };
}
