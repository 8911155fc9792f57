import { open as openFile } from "node:fs";
import type { Readable } from "node:stream";
import { type Entry, fromFd, type ZipFile } from "yauzl";

export interface ZipMember {
  name: string;
  sizeBytes: number;
  open(): Promise<Readable>;
}

/**
 * Calls `use` with the selected members of a zip file, then closes the file. Reads the directory member by member, so
 * that a large or false directory cannot exhaust memory.
 */
export async function withZip<Result>(
  path: string,
  passes: (name: string) => boolean,
  use: (members: ZipMember[]) => Promise<Result>,
): Promise<Result> {
  const zip = await openZip(path);
  try {
    return await use(await listMembers(zip, passes));
  } finally {
    zip.close();
  }
}

const maxEntries = 100_000;

function openZip(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    openFile(path, "r", (openError, descriptor) => {
      if (openError !== null) {
        reject(openError);
        return;
      }
      fromFd(descriptor, { lazyEntries: true, autoClose: false }, (error, zip) =>
        error ? reject(error) : resolve(zip),
      );
    });
  });
}

function listMembers(zip: ZipFile, passes: (name: string) => boolean): Promise<ZipMember[]> {
  return new Promise((resolve, reject) => {
    const members: ZipMember[] = [];
    let seen = 0;
    zip.on("error", reject);
    zip.on("end", () => resolve(members));
    zip.on("entry", (entry: Entry) => {
      if (++seen > maxEntries) {
        reject(new Error(`the archive has more than ${maxEntries} members`));
        return;
      }
      if (passes(entry.fileName)) {
        members.push({
          name: entry.fileName,
          sizeBytes: entry.uncompressedSize,
          open: () => openMember(zip, entry),
        });
      }
      zip.readEntry();
    });
    zip.readEntry();
  });
}

function openMember(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}
