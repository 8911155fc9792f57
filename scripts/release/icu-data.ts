/**
 * What PostgreSQL reads of ICU's tables: collations, normal forms, the ends of words, properties of characters. It reads no
 * names of languages, currencies and time zones, no other character sets, no transliteration and no dictionaries.
 */
const read = /^[^/]+\/(?:coll\/.+|brkitr\/[^/]+\.(?:brk|res)|[^/]+\.(?:res|icu|nrm|spp|cfu))$/;

/**
 * ICU's library of tables with zeros for those that PostgreSQL never reads, 9 of 11 MB packed. ICU takes them for tables
 * that are not there. Other bytes are returned as they are, and so is a library that is signed.
 */
export function withoutUnreadTables(library: Buffer): Buffer {
  // "CmnD" is the format of a header of 12 bytes and more, of which the first two say how long it is.
  const header = library.indexOf("CmnD") - 12;
  if (header < 0 || library.readUInt16BE(header + 2) !== 0xda27 || isSignedForWindows(library))
    return library;
  const start = header + library.readUInt16LE(header);
  const count = library.readUInt32LE(start);
  const tables = Array.from({ length: count }, (_, at) => {
    const name = start + library.readUInt32LE(start + 4 + 8 * at);
    return {
      name: library.toString("latin1", name, library.indexOf(0, name)),
      from: start + library.readUInt32LE(start + 8 + 8 * at),
    };
  });
  const shorter = Buffer.from(library);
  // Where the last one ends is not said.
  for (const [at, { name, from }] of tables.slice(0, -1).entries())
    if (!read.test(name)) shorter.fill(0, from, tables[at + 1]!.from);
  return shorter;
}

/** Whether a DLL has a certificate, the fifth entry of its data directories. */
function isSignedForWindows(library: Buffer): boolean {
  if (library.toString("latin1", 0, 2) !== "MZ") return false;
  const optional = library.readUInt32LE(60) + 24;
  return library.readUInt32LE(optional + 112 + 8 * 4 + 4) !== 0;
}
