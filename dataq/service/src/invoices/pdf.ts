/** A line of a page: one text, or several in columns. */
export interface PdfLine {
  readonly texts: readonly PdfText[];
  /** Space above, in points. */
  readonly above?: number;
}

export interface PdfText {
  readonly text: string;
  /** Points from the left edge, or to the right edge of the text if it is `isRight`. */
  readonly x: number;
  readonly isRight?: boolean;
  readonly size?: number;
}

const WIDTH = 595;
const HEIGHT = 842;
const TOP = 60;
const BOTTOM = 60;
const LEADING = 1.5;
const SIZE = 10;

/**
 * Writes A4 pages (ISO 32000-1). The font is not embedded: it is Adobe's STSong-Light with the predefined map
 * UniGB-UTF16-H, which PDF viewers replace by a Chinese font of the machine (9.7.5.2). So a page has a few kilobytes, any
 * Chinese name can be written, and no font is shipped. ASCII (CIDs 1 to 95) is set half as wide as a Chinese character.
 */
export function writePdf(title: string, lines: readonly PdfLine[]): Buffer {
  const pages = pagesOf(lines);
  const objects: string[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((_, n) => `${6 + 2 * n} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UTF16-H /DescendantFonts [4 0 R] >>",
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 /W [1 95 500] /FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >> >>",
    `<< /Title <FEFF${hexOf(title)}> /Producer (dataq) >>`,
  ];
  for (const [n, content] of pages.entries())
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${WIDTH} ${HEIGHT}] /Resources << /Font << /F1 3 0 R >> >> /Contents ${7 + 2 * n} 0 R >>`,
      `<< /Length ${Buffer.byteLength(content)} >>\nstream\n${content}\nendstream`,
    );
  return fileOf(objects);
}

/** The content of each page: texts from the top down. */
function pagesOf(lines: readonly PdfLine[]): string[] {
  const pages: string[][] = [[]];
  let y = HEIGHT - TOP;
  for (const { texts, above = 0 } of lines) {
    const height = Math.max(...texts.map(({ size = SIZE }) => size)) * LEADING;
    if (y - above - height < BOTTOM) {
      pages.push([]);
      y = HEIGHT - TOP;
    } else y -= above;
    y -= height;
    for (const { text, x, isRight, size = SIZE } of texts) {
      const left = isRight ? x - widthOf(text, size) : x;
      pages.at(-1)!.push(`BT /F1 ${size} Tf ${left.toFixed(2)} ${y.toFixed(2)} Td <${hexOf(text)}> Tj ET`);
    }
  }
  return pages.map((page) => page.join("\n"));
}

function widthOf(text: string, size: number): number {
  return [...text].reduce((sum, character) => sum + (/[\x20-\x7e]/.test(character) ? 0.5 : 1), 0) * size;
}

/** The map has no characters beyond the basic plane, and none for controls. */
function hexOf(text: string): string {
  let hex = "";
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const shown = code > 0xffff || code < 0x20 ? 0x3f : code;
    hex += shown.toString(16).padStart(4, "0");
  }
  return hex;
}

/** The file: each object with its number, then the table of where each begins. */
function fileOf(objects: readonly string[]): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  let length = parts[0]!.length;
  const starts: number[] = [];
  for (const [n, object] of objects.entries()) {
    starts.push(length);
    const part = Buffer.from(`${n + 1} 0 obj\n${object}\nendobj\n`);
    parts.push(part);
    length += part.length;
  }
  const rows = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
