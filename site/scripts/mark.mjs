// Marks Chinese pages as saying what the English ones say now. Run it for a page after reading both.
//   node site/scripts/mark.mjs dataq/billing dataq/search
import { markTwin } from "./pages.mjs";

for (const name of process.argv.slice(2)) markTwin(name);
