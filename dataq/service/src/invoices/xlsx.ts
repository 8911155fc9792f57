import { crc32 } from "node:zlib";

/** A sheet of a workbook. Every cell is text, as written: nothing in it is a formula or a number. */
export interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Writes a workbook (ECMA-376, part 1). It has no styles, because who reads it is a program. */
export function writeXlsx(sheets: readonly Sheet[]): Buffer {
  const parts = sheets.map(({ name, rows }, n) => ({
    tag: `<sheet name="${escaped(name)}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`,
    relation: `<Relationship Id="rId${n + 1}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${n + 1}.xml"/>`,
    type: `<Override PartName="/xl/worksheets/sheet${n + 1}.xml" ContentType="${TYPE}.worksheet+xml"/>`,
    path: `xl/worksheets/sheet${n + 1}.xml`,
    content: `<worksheet xmlns="${MAIN}"><sheetData>${rows.map(rowOf).join("")}</sheetData></worksheet>`,
  }));
  const all = (field: "tag" | "relation" | "type") => parts.map((part) => part[field]).join("");
  return zipOf([
    [
      "[Content_Types].xml",
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>${all("type")}</Types>`,
    ],
    [
      "_rels/.rels",
      `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      "xl/workbook.xml",
      `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${all("tag")}</sheets></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${PACKAGE}/relationships">${all("relation")}</Relationships>`,
    ],
    ...parts.map(({ path, content }) => [path, content] as const),
  ]);
}

function rowOf(cells: readonly string[], row: number): string {
  const written = cells.map((text, column) =>
    text === ""
      ? ""
      : `<c r="${columnOf(column)}${row + 1}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`,
  );
  return `<row r="${row + 1}">${written.join("")}</row>`;
}

/** A for the first column, AA for the 27th. */
function columnOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnOf(Math.floor(index / 26) - 1) + last;
}

/** Text of XML 1.0, which has no place for most control characters. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML does not allow
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]!)
  );
}

/** A zip file of stored parts (APPNOTE 4.3). Each has the earliest time that zip knows, so that equal data is equal bytes. */
function zipOf(files: readonly (readonly [path: string, content: string])[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [path, content] of files) {
    const name = Buffer.from(path);
    const data = Buffer.from(HEAD + content);
    // Version 2.0, no flags, stored, 1 January 1980.
    const common = Buffer.from("14000000000000002100", "hex");
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32LE(crc32(data), 0);
    sizes.writeUInt32LE(data.length, 4);
    sizes.writeUInt32LE(data.length, 8);
    sizes.writeUInt16LE(name.length, 12);
    const place = Buffer.alloc(4);
    place.writeUInt32LE(at);
    parts.push(Buffer.from("PK\x03\x04"), common, sizes, name, data);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), common, sizes, Buffer.alloc(10), place, name);
    at += 30 + name.length + data.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, list, Buffer.from("PK\x05\x06"), end]);
}
