import { setPriority } from "node:os";
import { judgmentDocument, judgmentsCorpus } from "../../src/operations/legal/cases/corpus.ts";
import { sampleJudgment } from "../../src/operations/legal/cases/sample/judgments.ts";
import { asSample } from "../../src/sample/provenance.ts";
import { embeddedIndex } from "../../src/search/open-index.ts";
import type { IndexDocument } from "../../src/search/search-index.ts";
import { openFolder } from "../../test/data-folder.ts";

/**
 * A separate process: `node refresh-part.ts <data folder> <count>` replaces this many judgments with changed ones.
 */
const [folder, count] = process.argv.slice(2);
setPriority(5);
const database = await openFolder(folder as string, 2);
try {
  await embeddedIndex(database).refresh(judgmentsCorpus, changed(Number(count)), {
    dataset: "generated",
    mode: "update",
  });
} finally {
  await database.close();
}

async function* changed(until: number): AsyncGenerator<IndexDocument> {
  for (let number = 0; number < until; number++) {
    const { source: _, ...fields } = sampleJudgment(number);
    yield judgmentDocument(asSample({ ...fields, title: `${fields.title}（更正）` }));
  }
}
