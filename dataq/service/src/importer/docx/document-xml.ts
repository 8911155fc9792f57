/**
 * Reads the paragraphs of a Word document's main part, which a stranger sent. It is no XML parser: no entity but the five
 * of XML is known, a document type is refused, and depth, length of a tag and text are bounded. One pass over the text,
 * without recursion.
 */
export function paragraphsIn(xml: string): string[] {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw new DocxProblem("doctype");
  const paragraphs: string[] = [];
  const open: Element[] = [];
  const texts: string[][] = [];
  let prefixes: Prefixes | undefined;
  let isHidden = false;
  let length = 0;
  const write = (text: string) => {
    length += text.length;
    if (length > mostCharacters) throw new DocxProblem("too_long");
    texts.at(-1)?.push(text);
  };
  let at = 0;
  while (at < xml.length) {
    const start = xml.indexOf("<", at);
    const text = xml.slice(at, start === -1 ? xml.length : start);
    const inside = open.at(-1);
    if (inside?.name === "t" && inside.isRead && !isHidden && text !== "") write(decoded(text));
    if (start === -1) break;
    const tag = tagAt(xml, start);
    at = tag.end;
    if (tag.kind === "data" && inside?.name === "t" && inside.isRead && !isHidden) write(tag.text);
    if (tag.kind === "close") {
      const closed = open.pop();
      if (closed?.written !== tag.text) throw new DocxProblem("not_xml");
      if (closed.name === "p") {
        const lines = (texts.pop() ?? []).join("").split("\n");
        if (closed.isRead) paragraphs.push(...lines);
      }
      if (closed.name === "r") isHidden = false;
    }
    if (tag.kind !== "open") continue;
    prefixes ??= prefixesIn(tag.attributes);
    const name = nameOf(tag.text, prefixes);
    const isRead = (inside?.isRead ?? true) && !unread.has(name);
    if (isRead) {
      if (name === "tab" && inside?.name === "r") write(" ");
      if ((name === "br" || name === "cr") && inside?.name === "r") write("\n");
      if (name === "noBreakHyphen") write("-");
      if (name === "vanish" && open.some((each) => each.name === "r") && isOn(tag.attributes))
        isHidden = true;
      // Word counts these itself, so that the text lacks the number of an article or an item.
      if (name === "numId" && !/\bval="0"/.test(tag.attributes)) throw new DocxProblem("numbered");
    }
    if (tag.isEmpty) continue;
    if (open.length >= mostLevels) throw new DocxProblem("too_deep");
    if (name === "p") texts.push([]);
    open.push({ name, written: tag.text, isRead });
  }
  if (open.length > 0 || prefixes === undefined) throw new DocxProblem("not_xml");
  return paragraphs.map((text) => text.replace(/[ \t\u00a0]+/g, " ").trim()).filter((text) => text !== "");
}

/** Why a Word file cannot be read. */
export class DocxProblem extends Error {
  readonly code: DocxProblemCode;

  constructor(code: DocxProblemCode) {
    super(code);
    this.code = code;
  }
}

export type DocxProblemCode =
  | "not_docx"
  | "not_xml"
  | "doctype"
  | "too_deep"
  | "too_long"
  | "too_slow"
  | "numbered";

interface Element {
  /** The name in WordprocessingML; empty for any other. */
  readonly name: string;
  readonly written: string;
  readonly isRead: boolean;
}

interface Tag {
  readonly kind: "open" | "close" | "data" | "other";
  /** The name of an element, or the text of a CDATA section. */
  readonly text: string;
  readonly attributes: string;
  readonly isEmpty: boolean;
  readonly end: number;
}

function tagAt(xml: string, start: number): Tag {
  const until = (mark: string, from: number): number => {
    const found = xml.indexOf(mark, from);
    if (found === -1) throw new DocxProblem("not_xml");
    return found;
  };
  const other = { attributes: "", isEmpty: true } as const;
  if (xml.startsWith("<!--", start))
    return { ...other, kind: "other", text: "", end: until("-->", start) + 3 };
  if (xml.startsWith("<![CDATA[", start)) {
    const end = until("]]>", start);
    return { ...other, kind: "data", text: xml.slice(start + 9, end), end: end + 3 };
  }
  if (xml.startsWith("<?", start)) return { ...other, kind: "other", text: "", end: until("?>", start) + 2 };
  tagPattern.lastIndex = start;
  const found = tagPattern.exec(xml);
  if (found === null) throw new DocxProblem("not_xml");
  const [whole, slash, text = "", attributes = "", empty] = found;
  return {
    kind: slash === "/" ? "close" : "open",
    text,
    attributes,
    isEmpty: empty === "/",
    end: start + whole.length,
  };
}

/** Attributes are bounded, and each alternative begins with another character, so that nothing is tried twice. */
const tagPattern =
  /<(\/?)([^\s<>/="']{1,100})((?:[^<>"'/]|"[^"<]{0,20000}"|'[^'<]{0,20000}'){0,4000})(\/?)>/y;

interface Prefixes {
  readonly word: string;
  readonly compatibility: string;
}

/** Files may call the namespaces as they like. */
function prefixesIn(attributes: string): Prefixes {
  const called = new Map<string, string>();
  for (const [, prefix = "", , uri = ""] of attributes.matchAll(
    /xmlns:?([^\s="']{0,50})\s*=\s*(["'])([^"']{0,300})\2/g,
  ))
    called.set(uri, prefix);
  const word = called.get(wordNamespace) ?? called.get(strictNamespace);
  if (word === undefined) throw new DocxProblem("not_docx");
  return { word, compatibility: called.get(compatibilityNamespace) ?? "mc" };
}

function nameOf(written: string, { word, compatibility }: Prefixes): string {
  const colon = written.indexOf(":");
  const prefix = colon === -1 ? "" : written.slice(0, colon);
  const name = written.slice(colon + 1);
  if (prefix === word) return name;
  // What older readers show instead of the same thing.
  return prefix === compatibility && name === "Fallback" ? name : "";
}

function isOn(attributes: string): boolean {
  return !/\bval="(?:0|false|off)"/.test(attributes);
}

function decoded(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,10}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name as string] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff)
      ? String.fromCodePoint(code)
      : "";
  });
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
/** Text that was deleted or moved away, readings above characters, and what is shown instead. */
const unread = new Set(["del", "moveFrom", "rt", "Fallback"]);
const mostLevels = 256;
const mostCharacters = 8_000_000;
const wordNamespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const strictNamespace = "http://purl.oclc.org/ooxml/wordprocessingml/main";
const compatibilityNamespace = "http://schemas.openxmlformats.org/markup-compatibility/2006";
