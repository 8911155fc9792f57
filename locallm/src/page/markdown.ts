/**
 * Renders Markdown as models write it (headings, lists, tables, quotes, code, emphasis, links). Text only
 * becomes text nodes, so an answer cannot insert markup or scripts.
 */
export function renderMarkdown(text: string): HTMLElement[] {
  return render(text, 0);
}

function render(text: string, depth: number): HTMLElement[] {
  return blocksOf(text).map((block) => renderBlock(block, depth));
}

/** Deeper quotes and lists are shown as text, because each level is an element inside another. */
const deepest = 16;

interface Block {
  kind: "code" | "heading" | "list" | "table" | "quote" | "rule" | "paragraph";
  lines: string[];
  /** The language of a code block. */
  info?: string;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    if (fence !== null && open !== null) {
      if (line.trim().startsWith(fence) && line.trim().replaceAll(fence[0]!, "") === "") fence = null;
      else open.lines.push(line);
      if (fence === null) open = null;
      continue;
    }
    const [, mark, info] = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line) ?? [];
    if (mark !== undefined) {
      fence = mark;
      open = { kind: "code", lines: [], info: info ?? "" };
      blocks.push(open);
      continue;
    }
    const kind = kindOf(line, open);
    if (kind === null) open = null;
    else if (open?.kind === kind && kind !== "heading" && kind !== "rule") open.lines.push(line);
    else {
      open = { kind, lines: [line] };
      blocks.push(open);
    }
  }
  return blocks;
}

/** Null for an empty line. */
function kindOf(line: string, open: Block | null): Block["kind"] | null {
  if (line.trim() === "") return null;
  if (line.length > markedLine) return "paragraph";
  if (/^#{1,6}\s/.test(line)) return "heading";
  if (/^\s*([-*_])(?:\s*\1){2,}\s*$/.test(line)) return "rule";
  if (/^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line)) return "list";
  if (/^\s*>/.test(line)) return "quote";
  if (/^\s*\|.*\|\s*$/.test(line)) return "table";
  return open?.kind === "list" && /^\s/.test(line) ? "list" : "paragraph";
}

function renderBlock({ kind, lines, info }: Block, depth: number): HTMLElement {
  switch (kind) {
    case "code": {
      const code = element("code", lines.join("\n"));
      if (info) code.dataset["language"] = info;
      const box = element("pre", code);
      box.tabIndex = 0;
      return box;
    }
    case "heading": {
      const marks = /^#+/.exec(lines[0]!)![0];
      const text = lines[0]!.slice(marks.length).trim().replace(/ #+$/, "");
      // The message itself has an h2 heading.
      return element(`h${Math.min(6, marks.length + 2)}` as "h3", ...inline(text));
    }
    case "rule":
      return element("hr");
    case "quote":
      if (depth === deepest) return renderBlock({ kind: "paragraph", lines }, depth);
      return element(
        "blockquote",
        ...render(lines.map((line) => line.replace(/^\s*> ?/, "")).join("\n"), depth + 1),
      );
    case "list":
      return renderList(lines, depth);
    case "table":
      return renderTable(lines);
    case "paragraph":
      return element(
        "p",
        ...lines.flatMap((line, index) => (index === 0 ? inline(line) : [element("br"), ...inline(line)])),
      );
  }
}

const bullet = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** Items with deeper indentation form lists of their own below the item before them. */
function renderList(lines: readonly string[], level: number): HTMLElement {
  const [, indent = "", mark = "-"] = bullet.exec(lines[0]!) ?? [];
  const list = element(/\d/.test(mark) ? "ol" : "ul");
  if (list instanceof HTMLOListElement) list.start = Number.parseInt(mark, 10);
  let inner: string[] = [];
  const close = () => {
    const last = list.lastElementChild;
    if (last !== null && inner.length > 0)
      last.append(
        bullet.test(inner[0]!) && level < deepest
          ? renderList(inner, level + 1)
          : element("p", ...inline(inner.join(" ").trim())),
      );
    inner = [];
  };
  for (const line of lines) {
    const [, depth, , text] = bullet.exec(line) ?? [];
    if (depth === undefined || depth.length > indent.length + 1) inner.push(line);
    else {
      close();
      list.append(element("li", ...inline(text!)));
    }
  }
  close();
  return list;
}

function renderTable(lines: readonly string[]): HTMLElement {
  const rows = lines
    .filter((line) => !/^\s*\|[\s|:-]+\|\s*$/.test(line))
    .map((line) => line.trim().slice(1, -1).split("|"));
  const [head = [], ...body] = rows;
  const row = (cells: readonly string[], name: "th" | "td") =>
    element("tr", ...cells.map((cell) => element(name, ...inline(cell.trim()))));
  return element(
    "table",
    element("thead", row(head, "th")),
    element("tbody", ...body.map((cells) => row(cells, "td"))),
  );
}

const inlineMark =
  /(?<!`)(`{1,9})(?!`)(.+?)(?<!`)\1(?!`)|\*\*(.+?)\*\*|__(.+?)__|\*([^\s*](?:[^*]*[^\s*])?)\*|~~(.+?)~~|\[([^\]]{1,500})\]\((https?:\/\/[^\s)]+)\)/;

/** Longer lines are shown unformatted, because searching them for marks could take long. */
const markedLine = 20_000;

function inline(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let rest = text;
  while (rest !== "") {
    const match = rest.length > markedLine ? null : inlineMark.exec(rest);
    if (match === null) {
      nodes.push(rest);
      break;
    }
    if (match.index > 0) nodes.push(rest.slice(0, match.index));
    nodes.push(renderMark(match));
    rest = rest.slice(match.index + match[0].length);
  }
  return nodes;
}

function renderMark([, ticks, code, strong, strong2, em, struck, label, url]: RegExpExecArray): HTMLElement {
  if (ticks !== undefined) return element("code", code!);
  const bold = strong ?? strong2;
  if (bold !== undefined) return element("strong", ...inline(bold));
  if (em !== undefined) return element("em", ...inline(em));
  if (struck !== undefined) return element("s", ...inline(struck));
  const link = element("a", label!);
  link.href = url!;
  link.rel = "noopener noreferrer";
  link.target = "_blank";
  return link;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}
