import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync, zstdCompressSync } from "node:zlib";
import type { Target } from "../../../fuzz/target.ts";
import { readRows } from "../src/importer/format/read-rows.ts";
import { ImportError } from "../src/importer/import-error.ts";

const folder = mkdtempSync(join(tmpdir(), "dataq-fuzz-"));
const path = join(folder, "data");
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

function sqlite(): Buffer {
  const file = join(folder, "seed.db");
  const database = new DatabaseSync(file);
  database.exec(
    "pragma page_size = 512; create table laws (name text, n integer); insert into laws values ('民法典', 577)",
  );
  database.close();
  return readFileSync(file);
}

/** A zip with one stored file. */
function zip(name: string, content: string): Buffer {
  const sizes = (buffer: Buffer, at: number) => {
    buffer.writeUInt32LE(content.length, at);
    buffer.writeUInt32LE(content.length, at + 4);
    buffer.writeUInt16LE(name.length, at + 8);
  };
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  sizes(local, 18);
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02014b50, 0);
  sizes(central, 20);
  const start = 30 + name.length + content.length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(46 + name.length, 12);
  end.writeUInt32LE(start, 16);
  return Buffer.concat([local, Buffer.from(name + content), central, Buffer.from(name), end]);
}

const csv = '案号,法院;x,"判决\n日期"\r\n（2023）京01民终1号,北京,"2023-01-01 ""x"""\r\n';
const lines = '{"title":"民法典","n":577}\n\n{"a":[1,{"b":null}]}\n[1]\n{"x":"\\u0000"}\n';

/** A file for an import, in any format and any container. Every row has a line and either fields or a problem. */
export const target: Target = {
  covers: ["dataq/service/src/importer/format"],
  seeds: [
    csv,
    "a\tb\n1\t2\n",
    lines,
    '[{"a":1},2,{"b":"x"}]',
    Buffer.from("\ufeff案号,法院\n1,2\n", "utf16le"),
    Buffer.from([0xb0, 0xb8, 0xba, 0xc5, 0x2c, 0xb7, 0xa8, 0xd4, 0xba, 0x0a, 0x31, 0x2c, 0x32, 0x0a]),
    gzipSync(csv),
    zstdCompressSync(Buffer.from(lines)),
    zip("laws.jsonl", lines),
    zip("a/laws.csv.gz", csv),
    sqlite(),
  ],
  longest: 8_192,
  // A kilobyte of gzip may be a megabyte of rows.
  bounds: { ms: 400, msPerKib: 200, mib: 96, mibPerKib: 32 },
  async read(input) {
    writeFileSync(path, input);
    let last = 0;
    for await (const row of readRows(path)) {
      if (!(row.line >= last)) throw new Error(`Line ${row.line} comes after line ${last}.`);
      last = row.line;
      if ("fields" in row && JSON.stringify(row.fields).includes("\\u0000"))
        throw new Error("A row with a NUL character is accepted.");
    }
  },
  // What is damaged in a container or a database, its library says in its own words; the import reports them.
  refuses: (error) =>
    error instanceof ImportError || !/^(?:Type|Range|Reference)Error$/.test((error as Error).name),
};
