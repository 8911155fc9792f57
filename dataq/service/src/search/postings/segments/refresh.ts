import type { Analyser } from "../../analysis/analyser.ts";
import type { IndexDocument, RefreshOptions, RefreshReport } from "../../search-index.ts";
import { BitSet } from "../../snapshots/bitset.ts";
import { alone, analyse, type Building, keptBodies, removeUnfinished } from "../../snapshots/build.ts";
import { attachOwnTables } from "../../snapshots/own-tables.ts";
import { served, switchTo } from "../../snapshots/switch.ts";
import { type BuildSizes, SegmentWriter } from "./segment-writer.ts";

export interface SizedBuilding extends Building {
  readonly sizes: BuildSizes;
}

/**
 * Builds segments from the documents beside what is served, then switches to a snapshot with them in one transaction.
 * A process that is killed before the switch leaves the old data in service; the next refresh removes its rows.
 */
export function refresh(
  building: SizedBuilding,
  corpus: string,
  documents: AsyncIterable<IndexDocument>,
  findAnalyser: () => Promise<Analyser>,
  options: RefreshOptions,
): Promise<RefreshReport> {
  const { client } = building;
  return alone(building, corpus, async () => {
    // Read only now, because a rebuild may just have switched to a newer dictionary.
    const analyser = await findAnalyser();
    const left = await leftByCutOff(building, corpus, analyser.version, options);
    await removeUnfinished(building, corpus, left.segments);
    const { dataset, resumeKey } = options;
    const writer = new SegmentWriter({ ...building, corpus, dataset, analyser, resumeKey });
    let count = 0;
    try {
      for await (const document of documents) {
        options.signal?.throwIfAborted();
        if (count >= left.documents) await writer.add(document);
        count++;
        if (count % progressEvery === 0) options.progress?.(count);
      }
      await writer.finish();
    } finally {
      await writer.close();
    }
    options.progress?.(count);
    await analyse(client);
    return switchTo(client, corpus, [...left.segments, ...writer.segments], options);
  });
}

/**
 * Merges the segments of every data set into new ones, split with the newest dictionary, and switches to all of them
 * at once: a process that is killed leaves no snapshot whose segments use two dictionaries.
 */
export function rebuild(
  building: SizedBuilding,
  corpus: string,
  make: (body: never) => IndexDocument,
  analyser: Analyser,
  signal: AbortSignal | undefined,
): Promise<RefreshReport> {
  const { client } = building;
  return alone(building, corpus, async () => {
    await removeUnfinished(building, corpus, []);
    const before = await served(client, corpus);
    const added: number[] = [];
    const dead = new Map<number, BitSet>();
    for (const dataset of new Set(before.map((segment) => segment.dataset))) {
      const own = before.filter((segment) => segment.dataset === dataset);
      const writer = new SegmentWriter({ ...building, corpus, dataset, analyser, resumeKey: undefined });
      try {
        for await (const { body, isDead } of keptBodies(client, own, before)) {
          signal?.throwIfAborted();
          const { segment, ordinal } = await writer.add(make(body as never));
          if (!isDead) continue;
          const bits = dead.get(segment) ?? BitSet.ofSize(0);
          dead.set(segment, bits.with(ordinal));
        }
        await writer.finish();
      } finally {
        await writer.close();
      }
      added.push(...writer.segments);
    }
    await analyse(client);
    return switchTo(client, corpus, added, { replacesAll: true, dead });
  });
}

const progressEvery = 500;
/** Complete segments that the same refresh wrote before it was interrupted. */
async function leftByCutOff(
  { client, asOwner }: Building,
  corpus: string,
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
