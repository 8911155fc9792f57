import { day, text } from "../../../../importer/field.ts";
import { readRows } from "../../../../importer/format/read-rows.ts";
import { type Message, say } from "../../../../importer/message.ts";
import type { RowListener } from "../../../../importer/target.ts";
import { readLawHistory, versionDateIn } from "./law-history.ts";
import { whyNotLaw } from "./law-kind.ts";
import { bookOf, joinParts, type LawPart } from "./law-parts.ts";
import { readLawText } from "./law-text.ts";
import type { LawText, LawVersion } from "./law-version.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads laws from rows of three forms: one article per row (`article_text`, `law_id`), whole texts with a version
 * (`version_date`, `text`), and whole texts with a legal domain (`domain`, `text`). Reports each row that is not a
 * law; parts of a law are combined when they are complete.
 */
export async function readLawRows(path: string, told: RowListener): Promise<LawVersion[]> {
  const versions: LawVersion[] = [];
  const listed = new Map<string, ListedLaw>();
  const books = new Map<string, LawPart[]>();
  for await (const row of readRows(path)) {
    const place = `line ${row.line}`;
    if ("problem" in row) {
      told.row({});
      told.bad(place, row.problem);
      continue;
    }
    const { fields } = row;
    told.row(fields);
    if (fields["article_text"] !== undefined) {
      const problem = addArticle(fields, place, listed);
      if (problem !== null) told.bad(place, problem);
      continue;
    }
    const read = wholeText(fields);
    if ("problem" in read) told.bad(place, read.problem);
    else if (read.book === null) versions.push(read.version);
    else books.set(read.book, [...(books.get(read.book) ?? []), { ...read, row: place }]);
  }
  for (const parts of books.values()) versions.push(...versionsOfBook(parts, told));
  for (const [lawId, law] of listed) {
    const problem = whyNotLaw({ title: law.name, category: "", articles: law.articles });
    if (problem === null) versions.push(listedVersion(lawId, law));
    else for (const { row } of law.articles) told.bad(row, problem);
  }
  return versions;
}

interface ListedLaw {
  readonly name: string;
  readonly articles: (LawText & { readonly row: string })[];
}

function addArticle(fields: Fields, row: string, listed: Map<string, ListedLaw>): Message | null {
  const lawId = text(fields, "law_id");
  const name = text(fields, "law_name");
  const articleNo = text(fields, "article_no");
  const content = text(fields, "article_text");
  if (lawId === null || name === null || articleNo === null || content === null)
    return say("row_lacks", { fields: ["law_id", "law_name", "article_no", "article_text"] });
  const law = listed.get(lawId) ?? { name, articles: [] };
  listed.set(lawId, law);
  law.articles.push({
    articleNo,
    chapter: text(fields, "chapter"),
    section: text(fields, "section"),
    content,
    row,
  });
  return null;
}

function listedVersion(lawId: string, { name, articles }: ListedLaw): LawVersion {
  return {
    facts: { ...unknownFacts, law_id: lawId, law_name: name },
    articles: articles.map(({ row: _, ...article }) => article),
    history: [],
  };
}

/**
 * Reads the texts of a folder: one whole law, or the parts of a law with its amendments. Parts may be
 * missing.
 */
function versionsOfBook(texts: readonly LawPart[], told: RowListener): LawVersion[] {
  const joined = joinParts(texts);
  const alone = texts.filter((part) => joined?.from.includes(part) !== true);
  const versions = alone.flatMap(({ row, title, version }) => {
    const isEmpty = version.articles.length === 0;
    const problem = isEmpty
      ? say("law_without_text", { title })
      : whyNotLaw({ ...version, title, category: "" });
    if (problem === null) return [version];
    told.bad(row, problem);
    return [];
  });
  return joined === undefined ? versions : [joined.law, ...versions];
}

type ReadText = { readonly version: LawVersion; readonly title: string; readonly book: string | null };

function wholeText(fields: Fields): ReadText | { readonly problem: Message } {
  const name = text(fields, "name");
  const title = text(fields, "title") ?? name;
  const body = text(fields, "text");
  if (title === null || body === null) return { problem: say("row_lacks", { fields: ["title", "text"] }) };
  const { articles, head } = readLawText(body);
  const told = Array.isArray(fields["revision_history"]) ? fields["revision_history"].map(String) : head;
  const history = readLawHistory(told);
  const versionDate = day(fields, "version_date") ?? versionDateIn(history);
  const category = text(fields, "category") ?? "";
  const version = {
    facts: {
      ...unknownFacts,
      law_id: text(fields, "law_id") ?? `${title}@${versionDate ?? "undated"}`,
      law_name: title,
      level_text: text(fields, "level") ?? levelOf(category, title),
      issuing_body: text(fields, "issuing_body"),
      promulgated_date: day(fields, "promulgated_date") ?? versionDate,
      effective_date: day(fields, "effective_date"),
      version_date: versionDate,
      department:
        departments[text(fields, "domain") ?? category] ??
        (category.startsWith("部门规章") ? "部门规章" : category === "法律" ? null : category || null),
    },
    articles: articles.length > 0 ? articles : undivided(head, title),
    history,
  };
  const book = bookOf(text(fields, "path"), title, name);
  if (book !== null) return { version, book, title: name ?? title };
  if (version.articles.length === 0) return { problem: say("law_without_text", { title }) };
  const problem = whyNotLaw({ ...version, title, category });
  return problem === null ? { version, book, title } : { problem };
}

/** A text without articles: a decision becomes a single article, and a title page becomes nothing. */
function undivided(lines: readonly string[], title: string): LawText[] {
  const body = lines.filter((line) => {
    const plain = line.replace(/^[#>*\s(（]+|[*\s)）]+$/g, "");
    if (plain === "" || plain === title) return false;
    const events = /^(?:根据|依据)?[0-9０-９]{4}年/.test(plain) ? readLawHistory([line]).length : 0;
    return events === 0 || line.length > 200 * events;
  });
  const content = body.join("\n");
  return content === "" ? [] : [{ articleNo: "全文", chapter: null, section: null, content }];
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
