// Writes all hits of a search to a file, one per line, within a budget. A run that was stopped, or that spent its
// budget, continues where it stopped when you start it again.
//   node collect-papers.ts 神经网络 papers.jsonl
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { BudgetExceededError, DataQuery, type PageState } from "dataq-client";

const [query = "神经网络", path = "papers.jsonl"] = process.argv.slice(2);
const place = `${path}.place`;
const resume = existsSync(place) ? (JSON.parse(readFileSync(place, "utf8")) as PageState) : undefined;

const client = new DataQuery();
const walk = client.paginate("research_paper_search", { query, page_size: 20 }, { maxTokens: 1_000, resume });
let count = 0;
try {
  for await (const page of walk) {
    appendFileSync(path, page.data.map((paper) => `${JSON.stringify(paper)}\n`).join(""));
    writeFileSync(place, JSON.stringify(walk.state()));
    count += page.data.length;
  }
  console.log(`${count} papers; that is all of them`);
} catch (error) {
  if (!(error instanceof BudgetExceededError)) throw error;
  console.log(`${count} papers for ${error.spent} tokens; start again for more`);
}
