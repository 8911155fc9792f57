import { withoutRadicals } from "@dataq/contract";

/** Why a file has no text that can be checked. */
export class FileProblem extends Error {
  readonly kind: "format" | "size" | "empty" | "broken";
  constructor(kind: FileProblem["kind"]) {
    super(kind);
    this.kind = kind;
  }
}

const largestBytes = 20e6;
/** Of a document's parts when they are unpacked. */
const largestPartBytes = 60e6;

/**
 * Reads the text of a Word, PDF, Markdown or text file in this browser; nothing is sent anywhere. The readers of Word and
 * PDF are loaded with the first such file. Throws `FileProblem`.
 */
export async function textOfFile(file: File): Promise<string> {
  if (file.size > largestBytes) throw new FileProblem("size");
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = await textOf(file.name.toLowerCase(), bytes);
  if (text.trim() === "") throw new FileProblem("empty");
  return text;
}

async function textOf(name: string, bytes: Uint8Array): Promise<string> {
  try {
    if (name.endsWith(".docx")) return await wordText(bytes);
    if (name.endsWith(".pdf")) return await pdfText(bytes);
  } catch (error) {
    throw error instanceof FileProblem ? error : new FileProblem("broken");
  }
  if (!/\.(?:txt|md|markdown|text)$/.test(name)) throw new FileProblem("format");
  return plainText(bytes);
}

function plainText(bytes: Uint8Array): string {
  const marked = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  for (const encoding of [marked, "gb18030"]) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch {}
  }
  throw new FileProblem("broken");
}

async function pdfText(bytes: Uint8Array): Promise<string> {
  const { extractText, getDocumentProxy } = await import("unpdf");
  const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: false });
  return withoutRadicals(text.join("\n"));
}

/** The body, then the notes, because opinions cite in notes. */
const wordParts = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"];

async function wordText(bytes: Uint8Array): Promise<string> {
  const { unzipSync } = await import("fflate");
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!wordParts.includes(name)) return false;
      if (originalSize > largestPartBytes) throw new FileProblem("size");
      return true;
    },
  });
  return wordParts
    .flatMap((name) => (parts[name] === undefined ? [] : [paragraphs(new TextDecoder().decode(parts[name]))]))
    .join("\n");
}

const wordNames = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

function paragraphs(xml: string): string {
  const document = new DOMParser().parseFromString(xml, "application/xml");
  if (document.querySelector("parsererror") !== null) throw new FileProblem("broken");
  return [...document.getElementsByTagNameNS(wordNames, "p")].map(paragraph).join("\n");
}

/** Words that a reviser deleted (`delText`) are no longer in the text. */
function paragraph(element: Element): string {
  let text = "";
  for (const each of element.getElementsByTagNameNS(wordNames, "*")) {
    if (each.localName === "t") text += each.textContent;
    else if (each.localName === "tab") text += "\t";
    else if (each.localName === "br") text += "\n";
  }
  return text;
}
