import { buildLegalIndex } from "../../src/operations/legal/cases/fill.ts";
import { PostingIndex } from "../../src/search/postings/posting-index.ts";
import { openFolder } from "../../test/data-folder.ts";

/** A separate process: `node build-part.ts <data folder> <size>` fills the legal index up to this many judgments. */
const [folder, size] = process.argv.slice(2);
const database = await openFolder(folder as string, 2);
try {
  await buildLegalIndex(database, new PostingIndex(database), { size: Number(size) });
} finally {
  await database.close();
}
