import { crc32, deflateRawSync } from "node:zlib";

/** A Word file with these paragraphs. */
export function makeDocx(paragraphs: readonly string[]): Buffer {
  const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  // As word processors do, a paragraph is in several runs.
  const run = (text: string) =>
    `<w:r><w:rPr><w:sz w:val="32"/></w:rPr><w:t xml:space="preserve">${escaped(text)}</w:t></w:r>`;
  const body = paragraphs
    .map(
      (text) =>
        `<w:p><w:pPr><w:ind w:firstLine="640"/></w:pPr>${run(text.slice(0, 3))}${run(text.slice(3))}</w:p>`,
    )
    .join("");
  return makeZip({
    "[Content_Types].xml":
      '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "word/document.xml": `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}<w:sectPr/></w:body></w:document>`,
  });
}

/** A zip of these files. `statedBytes` lies about their size. */
export function makeZip(files: Readonly<Record<string, string | Buffer>>, statedBytes?: number): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fileName = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(statedBytes ?? bytes.length, 18);
    facts.writeUInt16LE(fileName.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), facts, fileName, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), facts, rest, fileName]));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
