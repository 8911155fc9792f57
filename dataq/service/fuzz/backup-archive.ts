import { Readable } from "node:stream";
import type { Target } from "../../../fuzz/target.ts";
import { readTar, tarEnd, tarEntry } from "../src/backup/tar.ts";

export const target: Target = {
  covers: ["dataq/service/src/backup/tar.ts"],
  seeds: [
    Buffer.concat([
      tarEntry({ name: "manifest.json", bytes: Buffer.from("{}") }, new Date(0)),
      tarEntry({ name: "tables/account.0001", bytes: Buffer.alloc(700, "x") }, new Date(0)),
      tarEnd,
    ]),
  ],
  async read(input) {
    let bytes = 0;
    const cut = input.length >> 1;
    const pieces = [Buffer.from(input.subarray(0, cut)), Buffer.from(input.subarray(cut))];
    for await (const file of readTar(Readable.from(pieces), 1 << 20)) bytes += file.bytes.length;
    if (bytes > input.length) throw new Error(`${input.length} bytes became ${bytes}.`);
  },
  refuses: (error) => /^The (?:file|backup) is /.test((error as Error).message),
};
