import Table from "cli-table3";

/**
 * A table of records that fits the terminal. `fields` of the call choose the columns; otherwise the operation's most
 * useful ones are shown.
 */
export function recordTable(
  operation: string,
  records: readonly Record<string, unknown>[],
  fields: readonly string[] | undefined,
  width: number,
): string {
  const names = fields ?? columns[operation] ?? scalarFields(records);
  const head = ["#", ...names];
  const rows = records.map((record, index) => [
    String(index + 1),
    ...names.map((name) => cell(record[name])),
  ]);
  return draw(head, rows, width);
}

/** One record: a line for each field. The Chinese words of a field that is there in English too are left out. */
export function fieldTable(record: Record<string, unknown>, width: number): string {
  const rows = Object.entries(record)
    .filter(([name]) => !/_(?:text|zh)$/.test(name) || !(name.replace(/_(?:text|zh)$/, "") in record))
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => [name, cell(value)]);
  return draw(["field", "value"], rows, width);
}

const columns: Readonly<Record<string, readonly string[]>> = {
  legal_cases: ["judgment_date", "court_name", "case_no", "title"],
  legal_laws: ["law_name", "article_no", "status", "content"],
  legal_citation_check: ["start", "cited", "verdict", "in_force", "problems"],
  legal_law_catalog: ["domain_code", "domain_name", "count"],
  enterprise_shixin_check: ["filed_date", "court", "case_no", "performance"],
  enterprise_zhixing_check: ["filed_date", "court", "case_no", "amount", "status"],
  content_hot_rank: ["rank", "title", "heat", "label"],
  research_paper_search: ["publication_date", "title", "authors", "citation_count"],
  research_patent_search: ["application_no", "title", "applicants", "legal_status"],
  research_journal_search: ["name", "issn", "sponsor", "subjects"],
  research_scholar_search: ["name", "affiliations", "works_count", "citation_count"],
};

function scalarFields(records: readonly Record<string, unknown>[]): string[] {
  const first = Object.entries(records[0] ?? {});
  return first
    .filter(([, value]) => typeof value !== "object")
    .map(([name]) => name)
    .slice(0, 5);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(cell).join(", ");
  if (typeof value === "object") {
    const { name } = value as { name?: unknown };
    return typeof name === "string" ? name : JSON.stringify(value);
  }
  // Control characters in a record must not reach the terminal.
  return String(value)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
}

/** The last column gets the remaining width. A cell that is too long is cut with an ellipsis. */
function draw(head: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const border = 3 * head.length + 1;
  const most = Math.max(12, Math.floor((width - border) / 2));
  const widths = head.map((name, column) => {
    const longest = Math.max(displayWidth(name), ...rows.map((row) => displayWidth(row[column] ?? "")));
    return Math.min(longest, most);
  });
  const others = widths.slice(0, -1).reduce((sum, one) => sum + one, 0);
  const last = widths.length - 1;
  widths[last] = Math.min(
    Math.max(...[head, ...rows].map((row) => displayWidth(row[last] ?? ""))),
    Math.max(12, width - border - others),
  );
  const table = new Table({
    head: [...head],
    colWidths: widths.map((one) => one + 2),
    style: { head: [], border: [] },
    wordWrap: false,
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

/** Width of a text in columns. A Chinese character takes two. */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\p{Script=Han}\u3000-\u303f\uff00-\uff60]/u.test(character) ? 2 : 1;
  return width;
}
