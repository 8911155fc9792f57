import type { Text } from "../../text/en.ts";

/** The fields of a citation's record that the table reads. */
export interface CitationRow {
  readonly id: string;
  readonly cited: string;
  readonly verdict: string;
  readonly problems: readonly string[];
  readonly kind: string;
  readonly law_name: string | null;
  readonly article_no: string | null;
  readonly status: string | null;
  readonly effective_date: string | null;
  readonly expired_date: string | null;
  readonly replaced_by: string | null;
  readonly content: string | null;
  readonly nearest: Place | null;
  readonly fits_article?: Place | null;
  readonly quotations: readonly Quotation[];
  readonly judgment: { readonly title: string } | null;
  readonly source: unknown;
}

interface Place {
  readonly law_name: string;
  readonly article_no: string | null;
  readonly paragraph?: number | null;
}

interface Quotation {
  readonly agrees: boolean | null;
  readonly differences: readonly Difference[];
  readonly agrees_with_version: string | null;
  readonly found_in: Place | null;
}

export interface Difference {
  readonly kind: "same" | "added" | "missing";
  readonly text: string;
}

export interface Verdict {
  readonly tone: "good" | "warn" | "bad" | "plain";
  readonly text: string;
}

/** Whether a record is one of a citation with all that the table reads: a call may choose its fields. */
export function isCitation(row: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof row["verdict"] === "string" &&
    typeof row["cited"] === "string" &&
    Array.isArray(row["problems"]) &&
    Array.isArray(row["quotations"])
  );
}

/** What the reader must know first: the gravest problem, or that there is none. */
export function verdictOf(row: CitationRow, t: Text["citations"]): Verdict {
  const { verdict, problems } = row;
  const [first] = problems;
  if (first === "not_in_force") return { tone: "bad", text: stateOf(row, t) };
  if (first !== undefined) {
    const tone = first === "fits_other_article" ? "warn" : "bad";
    return { tone, text: t.problems[first as keyof typeof t.problems] ?? first };
  }
  if (verdict === "exists") return { tone: "good", text: t.right };
  // Without a problem, an unknown law is named by a rightly quoted article, not by the writer.
  const texts: Record<string, string> = { ...t.problems, ...t.unchecked };
  return { tone: "plain", text: texts[verdict] ?? verdict };
}

/** What is wrong, and what would be right: one sentence each. */
export function findingsOf(row: CitationRow, t: Text["citations"]): readonly string[] {
  const place = ({ law_name, article_no, paragraph }: Place) =>
    t.place(law_name, article_no ?? "", paragraph ?? null);
  const has = (problem: string) => row.problems.includes(problem);
  const found: string[] = [];
  if (row.nearest !== null && has(row.verdict)) found.push(t.nearest(place(row.nearest)));
  if (has("not_in_force")) {
    if (row.problems[0] !== "not_in_force") found.push(`${stateOf(row, t)}${t.stop}`);
    if (row.status === "not_yet_effective" && row.effective_date !== null)
      found.push(t.from(row.effective_date));
    else if (row.expired_date !== null) found.push(t.until(row.expired_date));
    if (row.replaced_by !== null) found.push(t.replacedBy(row.replaced_by));
  }
  if (row.fits_article) found.push(t.fits(place(row.fits_article)));
  for (const { agrees, found_in, agrees_with_version: version } of row.quotations) {
    if (agrees === false && found_in !== null) found.push(t.foundIn(place(found_in)));
    if (agrees === false && version !== null) found.push(t.ofVersion(version));
  }
  if (found.length === 0 && row.quotations.some(({ agrees }) => agrees === true)) found.push(t.agrees);
  if (row.judgment !== null) found.push(row.judgment.title);
  return [...new Set(found)];
}

function stateOf({ status }: CitationRow, t: Text["citations"]): string {
  return t.states[status as keyof typeof t.states] ?? t.problems.not_in_force;
}

/** The differences of each quotation that disagrees, with long common words cut in their middle. */
export function differencesOf({ quotations }: CitationRow): readonly (readonly Difference[])[] {
  return quotations
    .filter(({ agrees, differences }) => agrees === false && differences.some(({ kind }) => kind !== "same"))
    .map(({ differences }) =>
      differences.map(({ kind, text }, at) =>
        kind === "same"
          ? { kind, text: shortened(text, at === 0, at === differences.length - 1) }
          : { kind, text },
      ),
    );
}

const longest = 40;
const beside = 16;

/** Only the words beside a change matter. */
function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  const characters = [...text];
  if (characters.length <= longest) return text;
  const start = isFirst ? "" : characters.slice(0, beside).join("");
  const end = isLast ? "" : characters.slice(-beside).join("");
  return `${start}……${end}`;
}
