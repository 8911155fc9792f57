import { readFileSync } from "node:fs";
import { lawArticlesCorpus } from "../../src/operations/legal/laws/corpus.ts";
import { readLawReference } from "../../src/operations/legal/question/law-reference.ts";
import type { JudgedQuestion } from "./judged-questions.ts";

/** One question of STARD's `data/queries.json`. */
interface StardQuestion {
  readonly 问题: string;
  /** Law and article (中华人民共和国民法典第五十四条) as the key, the text as the value. */
  readonly 相关法规: Readonly<Record<string, string>>;
}

/** The questions of STARD (github.com/oneal2000/STARD) for which an article is in the data. */
export function readStard(file: string, held: ReadonlySet<string>): JudgedQuestion[] {
  const questions = JSON.parse(readFileSync(file, "utf8")) as readonly StardQuestion[];
  return questions.flatMap(({ 问题: query, 相关法规: statutes }) => {
    const right = new Set(
      Object.keys(statutes)
        .map(articleId)
        .filter((id) => held.has(id)),
    );
    return right.size === 0 ? [] : [{ kind: "STARD", query, corpus: lawArticlesCorpus, right }];
  });
}

function articleId(name: string): string {
  const { law, article } = readLawReference(name.normalize("NFKC"));
  return `${law}:${article?.number}${article?.sub == null ? "" : `-${article.sub}`}`;
}
