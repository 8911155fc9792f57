import { Readable } from "node:stream";
import type { Target } from "../../fuzz/target.ts";
import { tarMembers } from "../src/sources/tar.ts";
import { LocallmError } from "../src/wire/errors.ts";

/** A tar with two files, the second with a long name. */
function sample(): Buffer {
  const entry = (name: string, type: string, text: string) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write(type, 156);
    header.write("ustar\x0000", 257, "latin1");
    header.write("        ", 148);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([header, Buffer.from(text.padEnd(Math.ceil(text.length / 512) * 512, "\0"))]);
  };
  const long = "package/long/model.gguf";
  const record = `path=${long}\n`;
  return Buffer.concat([
    entry("package/model.gguf", "0", "GGUF"),
    entry("notes", "x", `${record.length + 3} ${record}`),
    entry("short", "0", "GGUF"),
    Buffer.alloc(1024),
  ]);
}

/** The files of an npm package. No more bytes come out than went in. */
export const target: Target = {
  covers: ["locallm/src/sources/tar.ts"],
  seeds: [sample()],
  async read(input) {
    const cut = input.length >> 1;
    let bytes = 0;
    for await (const { content } of tarMembers(Readable.from([input.subarray(0, cut), input.subarray(cut)])))
      for await (const piece of content) bytes += piece.length;
    if (bytes > input.length) throw new Error(`${input.length} bytes became ${bytes}.`);
  },
  refuses: (error) => error instanceof LocallmError,
};
