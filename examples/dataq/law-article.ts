// Prints the text of an article of law, its source and what it cost.
//   node law-article.ts 民法典 第五百七十七条
import { DataQuery } from "dataq-client";

const query = process.argv.slice(2).join(" ") || "民法典 第五百七十七条";
const client = new DataQuery();
const { data, usage } = await client.legal_laws({ query, page_size: 1 });

const [article] = data;
if (article === undefined) {
  console.log(`${query}: nothing found`);
} else {
  console.log(`${article.law_name} ${article.article_no}（${article.status_text}）`);
  console.log(article.content);
  console.log(`source: ${article.source.name} (${article.source.kind})`);
}
console.log(`${usage.tokens} tokens, ${usage.balance} left`);
