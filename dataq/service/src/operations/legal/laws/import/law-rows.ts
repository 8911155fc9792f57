import { day, text } from "../../../../importer/field.ts";
import { readRows } from "../../../../importer/format/read-rows.ts";
import { type Message, say } from "../../../../importer/message.ts";
import type { RowListener } from "../../../../importer/target.ts";
import { effectiveDateIn, readLawHistory } from "./law-history.ts";
import { readLawText } from "./law-text.ts";
import type { LawText, LawVersion } from "./law-version.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads laws from rows of three forms: one article a row (`article_text`, `law_id`), whole texts with version
 * (`version_date`, `text`), and whole texts with a legal domain (`domain`, `text`).
 */
export async function readLawRows(path: string, told: RowListener): Promise<LawVersion[]> {
  const versions: LawVersion[] = [];
  const articles = new Map<string, { name: string; list: LawText[] }>();
  for await (const row of readRows(path)) {
    if ("problem" in row) {
      told.row({});
      told.bad(`line ${row.line}`, row.problem);
      continue;
    }
    const { fields } = row;
    told.row(fields);
    if (fields["article_text"] !== undefined)
      addArticle(fields, articles, (problem) => told.bad(`line ${row.line}`, problem));
    else if (isCase(fields)) told.passOver();
    else {
      const version = wholeText(fields);
      if ("problem" in version) told.bad(`line ${row.line}`, version.problem);
      else versions.push(version);
    }
  }
  for (const [lawId, { name, list }] of articles) {
    versions.push({
      facts: { ...unknownFacts, law_id: lawId, law_name: name },
      articles: list,
      history: [],
    });
  }
  return versions;
}

/** Packs of laws carry typical cases too; those are judgments. */
function isCase(fields: Fields): boolean {
  return (text(fields, "category") ?? "").startsWith("案例");
}

function addArticle(
  fields: Fields,
  articles: Map<string, { name: string; list: LawText[] }>,
  onProblem: (problem: Message) => void,
): void {
  const lawId = text(fields, "law_id");
  const name = text(fields, "law_name");
  const articleNo = text(fields, "article_no");
  const content = text(fields, "article_text");
  if (lawId === null || name === null || articleNo === null || content === null) {
    onProblem(say("row_lacks", { fields: ["law_id", "law_name", "article_no", "article_text"] }));
    return;
  }
  const law = articles.get(lawId) ?? { name, list: [] };
  articles.set(lawId, law);
  law.list.push({ articleNo, chapter: text(fields, "chapter"), section: text(fields, "section"), content });
}

function wholeText(fields: Fields): LawVersion | { problem: Message } {
  const title = text(fields, "title") ?? text(fields, "name");
  const body = text(fields, "text");
  if (title === null || body === null) return { problem: say("row_lacks", { fields: ["title", "text"] }) };
  const { articles, head } = readLawText(body);
  const told = Array.isArray(fields["revision_history"]) ? fields["revision_history"].map(String) : head;
  const history = readLawHistory(told);
  const versionDate = day(fields, "version_date") ?? history.at(-1)?.date ?? null;
  const category = text(fields, "category") ?? "";
  return {
    facts: {
      ...unknownFacts,
      law_id: `${title}@${versionDate ?? "undated"}`,
      law_name: title,
      level_text: levelOf(category, title),
      promulgated_date: versionDate,
      effective_date: effectiveDateIn(articles.at(-1)?.content ?? "", versionDate),
      version_date: versionDate,
      department:
        departments[text(fields, "domain") ?? category] ??
        (category.startsWith("部门规章") ? "部门规章" : category || null),
    },
    articles:
      articles.length > 0 ? articles : [{ articleNo: "全文", chapter: null, section: null, content: body }],
    history,
  };
}

const unknownFacts = {
  level_text: null,
  issuing_body: null,
  promulgated_date: null,
  effective_date: null,
  version_date: null,
  status_text: null,
  department: null,
};

const departments: Readonly<Record<string, string>> = {
  administrative: "行政法",
  economic: "经济法",
  "constitutional-relevance": "宪法相关法",
  "civil-and-commercial": "民法商法",
  social: "社会法",
  procedural: "诉讼与非诉讼程序法",
  "criminal-law": "刑法",
  constitution: "宪法",
  "ecological-environment": "经济法",
  民法典: "民法商法",
};

function levelOf(category: string, title: string): string {
  if (title.endsWith("宪法") || category === "宪法") return "宪法";
  for (const level of ["行政法规", "司法解释", "部门规章"]) if (category.startsWith(level)) return level;
  return "法律";
}
