import { buildLegalIndex } from "../../src/operations/legal/cases/fill.ts";
import { embeddedIndex } from "../../src/search/open-index.ts";
import { usualSizes } from "../../src/search/postings/segments/segment-writer.ts";
import { openFolder } from "../../test/data-folder.ts";

/**
 * A separate process: `node build-part.ts <data folder> <size> [threads]` fills the legal index up to this many judgments.
 */
const [folder, size, threads = usualSizes.cut.threads] = process.argv.slice(2);
const sizes = { ...usualSizes, cut: { ...usualSizes.cut, threads: Number(threads) } };
const database = await openFolder(folder as string, 2);
try {
  await buildLegalIndex(database, embeddedIndex(database, { sizes }), { size: Number(size) });
} finally {
  await database.close();
}
