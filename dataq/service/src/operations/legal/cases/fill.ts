import type { Database } from "../../../database/database.ts";
import { saidOf } from "../../../importer/import-error.ts";
import { plainOptions, Run } from "../../../importer/runs.ts";
import { sizeWithout } from "../../../search/contents.ts";
import type { IndexDocument, SearchIndex } from "../../../search/search-index.ts";
import { judgmentDocument, judgmentsCorpus, legalIndexFill } from "./corpus.ts";
import { sampleJudgment } from "./sample/judgments.ts";

export const fullSize = legalIndexFill.upTo;
/**
 * The data set of generated judgments that fill up the index. Imported judgments replace the last of them.
 */
const generated = legalIndexFill.dataset;

/**
 * Fills up the legal index with generated judgments in addition to imported ones. The new index is built next
 * to the served one and replaces it at the end. An interrupted build continues where it stopped.
 */
export async function buildLegalIndex(
  database: Database,
  index: SearchIndex,
  options: {
    readonly size?: number;
    readonly signal?: AbortSignal;
    readonly progress?: (done: number, total: number) => void;
  } = {},
): Promise<{ size: number; real: number }> {
  const real = sizeWithout(await index.contents(judgmentsCorpus), [generated]);
  const total = Math.max(0, (options.size ?? fullSize) - real);
  const run = await Run.start(database, {
    target: judgmentsCorpus,
    dataset: generated,
    origin: "generator",
    sha256: "",
    options: plainOptions,
    total,
  });
  try {
    const { size } = await index.refresh(judgmentsCorpus, judgments(total), {
      dataset: generated,
      mode: "replace",
      resumeKey: `generated 3 ${total}`,
      ...(options.signal && { signal: options.signal }),
      progress: (done) => {
        run.progress(done);
        options.progress?.(done, total);
      },
    });
    await run.finish(database.pool, {
      rows: total,
      records: total,
      badRows: 0,
      passedOver: 0,
      duplicateIds: [],
      publishers: [],
    });
    return { size, real };
  } catch (error) {
    await run.fail(saidOf(error)).catch(() => {});
    throw error;
  }
}

async function* judgments(count: number): AsyncGenerator<IndexDocument> {
  for (let number = 0; number < count; number++) yield judgmentDocument(sampleJudgment(number));
}

/** Removes the generated judgments, for operators who want only imported ones. */
export async function emptyLegalFill(index: SearchIndex): Promise<{ size: number }> {
  const real = sizeWithout(await index.contents(judgmentsCorpus), [generated]);
  if (real === 0)
    throw new Error("No judgment is imported, so the index would be empty. DATAQ_SAMPLES=off hides samples.");
  const { size } = await index.refresh(judgmentsCorpus, judgments(0), {
    dataset: generated,
    mode: "replace",
  });
  return { size };
}
