import {
  type CitationRow,
  differencesOf,
  findingsOf,
  verdictOf,
} from "../routes/playground/citation-findings.ts";
import { words } from "./words.ts";

/** An answer of `/v1/try`. */
interface Tried {
  readonly operation: string;
  readonly data: readonly Record<string, unknown>[];
  readonly total: number;
  readonly warnings: readonly string[];
  readonly tokens: number;
}

/** What a reader sees of an answer. Nothing of it is read as HTML. */
export function answerOf(answer: Tried, question: string): readonly Node[] {
  return answer.operation === "legal_laws" ? articles(answer) : verdicts(answer, question);
}

interface Problem {
  readonly detail?: string;
  readonly next_action?: string;
}

export function problemOf({ detail = words().unreachable, next_action: next = "" }: Problem): Node {
  // Chinese sentences have no space between them.
  const between = detail.endsWith("。") ? "" : " ";
  const told = element("p", "problem", `${detail}${between}${next}`.trim());
  told.setAttribute("role", "alert");
  return told;
}

function articles({ data, total, warnings, tokens }: Tried): readonly Node[] {
  const t = words();
  if (data.length === 0)
    return [element("p", "problem", t.nothing), ...warnings.map((each) => element("p", "hint", each))];
  return [
    ...data.map((row) => {
      const text = (name: string) => (typeof row[name] === "string" ? (row[name] as string) : "");
      const highlights = Array.isArray(row["highlights"]) ? (row["highlights"] as string[]) : [];
      const source = (row["source"] ?? {}) as Record<string, unknown>;
      return element(
        "article",
        "",
        element(
          "h4",
          "",
          `${text("law_name")} ${text("article_no")}`,
          element(
            "span",
            row["status"] === "in_force" ? "state good" : "state",
            t.lawStates[text("status") as keyof typeof t.lawStates] ?? "",
          ),
        ),
        element("p", "content", ...marked(text("content"), hitsOf(highlights))),
        element(
          "p",
          "hint",
          [
            text("effective_date") && t.effective(text("effective_date")),
            typeof source["name"] === "string" ? t.source(publisherOf(source["name"])) : "",
          ]
            .filter(Boolean)
            .join(" · "),
        ),
      );
    }),
    element("p", "hint", [t.found(data.length, total), t.cost(tokens.toLocaleString("en"))].join(" · ")),
  ];
}

/** The page names the publishers in its language; others are called as the record calls them. */
const publishers: Readonly<Record<string, string>> = JSON.parse(
  document.querySelector("#publishers")?.textContent ?? "{}",
);

function publisherOf(name: string): string {
  return Object.hasOwn(publishers, name) ? publishers[name]! : name;
}

function verdicts({ data, tokens }: Tried, question: string): readonly Node[] {
  const t = words();
  const rows = data as unknown as readonly (CitationRow & Place)[];
  if (rows.length === 0) return [element("p", "problem", t.noCitations)];
  const wrong = rows.filter(({ problems }) => problems.length > 0).length;
  return [
    element("p", "result", t.checked(rows.length, wrong)),
    element("p", "content", ...withMarks(question, rows)),
    element(
      "ol",
      "verdicts",
      ...rows.map((row) => {
        const { tone, text } = verdictOf(row, t.citations);
        return element(
          "li",
          "",
          element("span", `verdict ${tone}`, text),
          element("strong", "", row.cited),
          ...findingsOf(row, t.citations).map((each) => element("p", "hint", each)),
          ...differencesOf(row).map((parts) =>
            element(
              "p",
              "quoted",
              ...parts.map(({ kind, text: part }) =>
                kind === "same" ? part : element(kind === "added" ? "del" : "ins", "", part),
              ),
            ),
          ),
        );
      }),
    ),
    element("p", "hint", t.cost(tokens.toLocaleString("en"))),
  ];
}

interface Place {
  readonly start_utf16: number;
  readonly end_utf16: number;
}

/** The text with a mark on each citation, in the colour of its verdict. */
function withMarks(text: string, rows: readonly (CitationRow & Place)[]): readonly (Node | string)[] {
  const parts: (Node | string)[] = [];
  let at = 0;
  for (const row of rows.toSorted((a, b) => a.start_utf16 - b.start_utf16)) {
    if (row.start_utf16 < at) continue;
    const { tone } = verdictOf(row, words().citations);
    parts.push(
      text.slice(at, row.start_utf16),
      element("mark", tone, text.slice(row.start_utf16, row.end_utf16)),
    );
    at = row.end_utf16;
  }
  return [...parts, text.slice(at)];
}

/** The words that the service marked in its passages. */
function hitsOf(highlights: readonly string[]): readonly string[] {
  const hits = highlights.flatMap((each) => [...each.matchAll(/<em>(.*?)<\/em>/gs)].map(([, hit]) => hit!));
  // A single character is a part of other words, too.
  return [...new Set(hits)].filter((hit) => hit.length > 1).sort((a, b) => b.length - a.length);
}

function marked(text: string, hits: readonly string[]): readonly (Node | string)[] {
  if (hits.length === 0) return [text];
  const pattern = new RegExp(`(${hits.map((hit) => hit.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|")})`);
  return text.split(pattern).map((part, at) => (at % 2 === 1 ? element("mark", "", part) : part));
}

function element(name: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  made.append(...children);
  return made;
}
