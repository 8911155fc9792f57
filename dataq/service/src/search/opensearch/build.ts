import type { Analyser } from "../analysis/analyser.ts";
import type { IndexDocument, MakeDocument, RefreshOptions, RefreshReport } from "../search-index.ts";
import { alone, buildAgain, buildNew, removeUnfinished } from "../snapshots/build.ts";
import { exists } from "./connection.ts";
import { DocumentWriter, type IndexBuilding, type LeftSegment } from "./document-writer.ts";

/**
 * Builds segments from the documents, then switches to a snapshot with them in one transaction of PostgreSQL. Nothing is
 * switched in OpenSearch: the snapshot names the indices, so the two cannot disagree, wherever a process is killed.
 * The next refresh with the same key continues after the last document that both have.
 */
export function refresh(
  building: IndexBuilding,
  documents: AsyncIterable<IndexDocument>,
  findAnalyser: () => Promise<Analyser>,
  options: RefreshOptions,
): Promise<RefreshReport> {
  const build = async () => {
    const analyser = await findAnalyser();
    const { dataset, resumeKey, signal } = options;
    const left = await interruptedSegments(building, analyser.version, options);
    await removeUnfinished(
      building,
      left.map(({ id }) => id),
    );
    const writer = new DocumentWriter({ ...building, dataset, analyser, resumeKey, signal });
    const whole = left.filter(({ isReady }) => isReady);
    const open = left.find(({ isReady }) => !isReady);
    const wholeDocuments = whole.reduce((sum, each) => sum + each.documents, 0);
    if (open !== undefined) writer.continue(open);
    const leftDocuments = wholeDocuments + (open?.documents ?? 0);
    const take = async (document: IndexDocument, at: number) => {
      if (at >= leftDocuments) await writer.add(document);
      else if (at >= wholeDocuments) writer.skip(document);
    };
    const kept = whole.map(({ id }) => id);
    return buildNew(building, documents, { writer, kept, take }, options);
  };
  return alone(building, build, () => removeAbandonedIndices(building));
}

/** Builds everything that is served again. */
export function rebuild(
  building: IndexBuilding,
  make: MakeDocument,
  analyser: Analyser,
  signal: AbortSignal | undefined,
): Promise<RefreshReport> {
  const writerOf = (dataset: string) =>
    new DocumentWriter({ ...building, dataset, analyser, resumeKey: undefined, signal });
  const build = () => buildAgain(building, make, writerOf, signal);
  return alone(building, build, () => removeAbandonedIndices(building));
}

/** The segments that the same refresh wrote before it was interrupted. Only the last one may be incomplete. */
async function interruptedSegments(
  { client, connection, corpus }: IndexBuilding,
  analysis: string,
  { dataset, resumeKey }: RefreshOptions,
): Promise<(LeftSegment & { readonly isReady: boolean })[]> {
  if (resumeKey === undefined) return [];
  const found = await client.query<LeftSegment & { isReady: boolean }>(
    `select s.id, s.home, s.is_ready as "isReady",
            (select count(*)::int from search_document d where d.segment = s.id) as documents
       from search_segment s
      where s.corpus = $1 and s.dataset = $2 and s.resume_key = $3 and s.analysis = $4 and s.home <> ''
        and not exists (select from search_snapshot_segment p where p.segment = s.id) order by s.id`,
    [corpus, dataset, resumeKey, analysis],
  );
  const left: (LeftSegment & { readonly isReady: boolean })[] = [];
  for (const segment of found.rows) {
    if (segment.documents === 0 || !(await exists(connection, segment.home))) break;
    left.push(segment);
    if (!segment.isReady) break;
  }
  return left;
}

/** Removes our indices whose segments PostgreSQL no longer has, of all corpora. */
async function removeAbandonedIndices({ client, connection, databaseId }: IndexBuilding): Promise<void> {
  const ours = `${connection.prefix}-${databaseId}-`;
  const listed = await connection.askWithRetries<Record<string, unknown>>({
    method: "GET",
    path: `/${ours}*?expand_wildcards=all&filter_path=*.settings.index.uuid`,
  });
  const names = Object.keys(listed);
  const found = await client.query<{ home: string }>(
    "select home from search_segment where home is not null",
  );
  const used = new Set(found.rows.map(({ home }) => home));
  for (const name of names)
    if (name.startsWith(ours) && !used.has(name))
      await connection.askWithRetries({ method: "DELETE", path: `/${name}?ignore_unavailable=true` });
}
