import MarkdownIt, { type Token } from "/page/markdown-it.js";
import { codeBox } from "./code-box.ts";
import { element, styled } from "./element.ts";
import { mathBox, mathRules } from "./math.ts";

/** A part of a text that stands for itself, such as a paragraph or a list. Equal sources look the same. */
export interface Block {
  readonly source: string;
  build(): HTMLElement;
}

/**
 * Reads Markdown as models write it. The parser only names the parts: every element is made here, text becomes text
 * nodes, HTML is text, and pictures are links, so an answer can neither insert markup nor load anything.
 */
export function blocksOf(text: string): Block[] {
  if (text.length > longestText) return [plainBlock(text)];
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let tokens: Token[] = [];
  for (const token of parser.parse(text, {})) {
    tokens.push(token);
    if (token.level > 0 || token.nesting > 0) continue;
    const own = tokens;
    const [from = 0, to = 0] = own[0]!.map ?? [];
    const source = `${token.type} ${lines.slice(from, to).join("\n")}`;
    blocks.push({ source, build: () => elementsOf(own)[0] as HTMLElement });
    tokens = [];
  }
  return blocks;
}

/** Longer texts are shown as they are. */
const longestText = 1_000_000;

function plainBlock(text: string): Block {
  return { source: text, build: () => styled("div", "plain", text) };
}

const parser = new MarkdownIt({ html: false, breaks: true, linkify: true, maxNesting: 100 });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
parser.validateLink = (url: string) => /^(?:https?:|mailto:)/i.test(url.trim());
mathRules(parser);
// The parser leaves out what is nested too deeply. Here such lines become paragraphs before.
parser.block.ruler.before("table", "deep", (state, line, _, silent) => {
  if (silent || state.level < 2 * deepest) return false;
  state.push("paragraph_open", "p", 1);
  const inline = state.push("inline", "", 0);
  inline.content = state.getLines(line, line + 1, state.blkIndent, false).trim();
  inline.children = [];
  state.push("paragraph_close", "p", -1);
  state.line = line + 1;
  return true;
});

/** Deeper lists, quotes and marks are shown as text of the one around them. */
const deepest = 16;

/** The elements that tokens open, by their tags. Any other tag becomes a span. */
const allowed = new Set("p ul ol li blockquote table thead tbody tr th td strong em s hr br".split(" "));

function elementsOf(tokens: readonly Token[]): Node[] {
  const root = element("div");
  const open: Element[] = [root];
  for (const token of tokens) {
    const top = open.at(-1)!;
    if (token.nesting > 0) {
      const made = elementFor(token);
      // Items of a tight list have no paragraphs.
      const isLeftOut = token.hidden || open.length > 3 * deepest;
      if (!isLeftOut) top.append(made);
      open.push(isLeftOut ? top : made);
    } else if (token.nesting < 0) open.pop();
    else top.append(...leaf(token));
  }
  return [...root.childNodes];
}

function elementFor({ tag, attrs }: Token): Element {
  const attribute = (name: string) => attributeOf(attrs, name);
  // The message itself has an h2 heading.
  if (/^h[1-6]$/.test(tag)) return element(`h${Math.min(6, Number(tag[1]) + 2)}` as "h3");
  if (tag === "a") return link(attribute("href") ?? "");
  const made = element((allowed.has(tag) ? tag : "span") as "p");
  if (made instanceof HTMLOListElement) made.start = Number(attribute("start") ?? 1);
  const align = /^text-align:(left|right|center)$/.exec(attribute("style") ?? "")?.[1];
  if (align !== undefined) made.className = align;
  return made;
}

function attributeOf(attrs: Token["attrs"], name: string): string | null {
  const value = attrs?.find(([key]) => key === name)?.[1];
  return value === undefined ? null : String(value);
}

function link(url: string): HTMLAnchorElement {
  const made = element("a");
  made.href = url;
  made.rel = "noopener noreferrer nofollow";
  made.target = "_blank";
  return made;
}

function leaf(token: Token): (Node | string)[] {
  switch (token.type) {
    case "inline":
      return elementsOf(token.children ?? []);
    case "text":
      return [token.content];
    case "softbreak":
    case "hardbreak":
      return [element("br")];
    case "hr":
      return [element("hr")];
    case "code_inline":
      return [element("code", token.content)];
    case "fence":
    case "code_block":
      return [codeBox(token.content.replace(/\n$/, ""), token.info.trim().split(/\s/)[0] ?? "")];
    case "math":
      return [mathBox(token.content, token.markup === "block")];
    case "image":
      return picture(token);
    default:
      return [token.content];
  }
}

/** A picture of an answer is never loaded, because the request alone would tell something. */
function picture({ attrs, content }: Token): Node[] {
  const url = attributeOf(attrs, "src") ?? "";
  const made = link(url);
  made.append(`🖼 ${content || url}`);
  return [made];
}
