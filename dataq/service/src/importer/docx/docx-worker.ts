import { parentPort } from "node:worker_threads";
import yauzl from "yauzl";
import { DocxProblem, paragraphsIn } from "./document-xml.ts";
import type { DocxAnswer } from "./read-docx.ts";

/** Reads one Word file in a thread of its own, which may be ended at any moment. */
parentPort?.once("message", (bytes: Uint8Array) => {
  void read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).then((answer) => {
    parentPort?.postMessage(answer);
  });
});

async function read(bytes: Buffer): Promise<DocxAnswer> {
  try {
    return {
      paragraphs: paragraphsIn(new TextDecoder("utf-8", { fatal: true }).decode(await mainPart(bytes))),
    };
  } catch (error) {
    return { problem: error instanceof DocxProblem ? error.code : "not_docx" };
  }
}

async function mainPart(bytes: Buffer): Promise<Buffer> {
  const zip = await yauzl.fromBufferPromise(bytes);
  let entries = 0;
  for await (const entry of zip.eachEntry()) {
    if (++entries > mostEntries) throw new DocxProblem("too_long");
    if (!/^word\/document\d?\.xml$/.test(entry.fileName)) continue;
    if (entry.uncompressedSize > mostBytes) throw new DocxProblem("too_long");
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      // The stated size may be a lie.
      length += (chunk as Buffer).length;
      if (length > mostBytes) throw new DocxProblem("too_long");
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks, length);
  }
  throw new DocxProblem("not_docx");
}

const mostEntries = 5_000;
/** The longest law has about 4 MB of it. */
const mostBytes = 48 * 2 ** 20;
