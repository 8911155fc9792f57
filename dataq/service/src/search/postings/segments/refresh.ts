import type { Analyser } from "../../analysis/analyser.ts";
import type { IndexDocument, MakeDocument, RefreshOptions, RefreshReport } from "../../search-index.ts";
import { alone, type Building, buildAgain, buildNew, removeUnfinished } from "../../snapshots/build.ts";
import { attachOwnTables } from "../../snapshots/own-tables.ts";
import { SegmentWriter, type SizedBuilding } from "./segment-writer.ts";

/**
 * Builds segments from the documents beside what is served, then switches to a snapshot with them in one transaction.
 * A process that is killed before the switch leaves the old data in service; the next refresh removes its rows.
 */
export function refresh(
  building: SizedBuilding,
  documents: AsyncIterable<IndexDocument>,
  findAnalyser: () => Promise<Analyser>,
  options: RefreshOptions,
): Promise<RefreshReport> {
  return alone(building, async () => {
    const analyser = await findAnalyser();
    const left = await interruptedSegments(building, analyser.version, options);
    await removeUnfinished(building, left.segments);
    const { dataset, resumeKey } = options;
    const writer = new SegmentWriter({ ...building, dataset, analyser, resumeKey });
    const take = async (document: IndexDocument, at: number) =>
      at < left.documents ? undefined : await writer.add(document);
    return buildNew(building, documents, { writer, kept: left.segments, take }, options);
  });
}

/** Builds everything that is served again. */
export function rebuild(
  building: SizedBuilding,
  make: MakeDocument,
  analyser: Analyser,
  signal: AbortSignal | undefined,
): Promise<RefreshReport> {
  const writerOf = (dataset: string) =>
    new SegmentWriter({ ...building, dataset, analyser, resumeKey: undefined });
  return alone(building, () => buildAgain(building, make, writerOf, signal));
}

/** Complete segments that the same refresh wrote before it was interrupted. */
async function interruptedSegments(
  { client, asOwner, corpus }: Building,
  analysis: string,
  options: RefreshOptions,
) {
  if (options.resumeKey === undefined) return { segments: [], documents: 0 };
  const found = await client.query<{ id: number; documents: number; own_tables: number | null }>(
    `select s.id, s.documents, s.own_tables from search_segment s
      where s.corpus = $1 and s.dataset = $2 and s.resume_key = $3 and s.analysis = $4 and s.is_ready
        and not exists (select from search_snapshot_segment p where p.segment = s.id) order by s.id`,
    [corpus, options.dataset, options.resumeKey, analysis],
  );
  for (const first of new Set(found.rows.map(({ own_tables }) => own_tables))) {
    if (first === null) continue;
    const own = found.rows.filter(({ own_tables }) => own_tables === first);
    await attachOwnTables(
      asOwner,
      first,
      own.map(({ id }) => id),
    );
  }
  return {
    segments: found.rows.map(({ id }) => id),
    documents: found.rows.reduce((sum, row) => sum + row.documents, 0),
  };
}
