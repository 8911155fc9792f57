import type { Database } from "../../database/database.ts";
import { Run } from "../../importer/runs.ts";
import { sampleJudgment } from "../../sample/judgments/judgments.ts";
import { judgmentDocument, judgmentsCorpus } from "../../search/corpora/judgments.ts";
import type { PostingIndex } from "../../search/postings/posting-index.ts";
import type { IndexDocument } from "../../search/search-index.ts";

/** Size of the legal index (specification, section 1). */
export const fullSize = 68_787;
/** Dataset of the judgments that fill the index up; the next import of real ones removes it. */
const generated = "generated";

/**
 * Fills the legal index up to its full size with generated judgments, beside what was imported. Builds beside what
 * serves and switches at the end; cut off, it goes on where it stopped.
 */
export async function buildLegalIndex(
  database: Database,
  index: PostingIndex,
  options: {
    readonly size?: number;
    readonly signal?: AbortSignal;
    readonly progress?: (done: number, total: number) => void;
  } = {},
): Promise<{ size: number; real: number }> {
  const real = await index.size(judgmentsCorpus, [generated]);
  const total = Math.max(0, (options.size ?? fullSize) - real);
  const run = await Run.start(database, {
    target: judgmentsCorpus,
    dataset: generated,
    origin: "generator",
    sha256: "",
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
    await run.finish("done", total, 0, null);
    return { size, real };
  } catch (error) {
    await run.finish("failed", 0, 0, (error as Error).message).catch(() => {});
    throw error;
  }
}

async function* judgments(count: number): AsyncGenerator<IndexDocument> {
  for (let number = 0; number < count; number++) yield judgmentDocument(sampleJudgment(number));
}
