import { parentPort, workerData } from "node:worker_threads";
import { Analyser } from "../../analysis/analyser.ts";
import { PartBuilder, type PlainDocument } from "./part-builder.ts";

export interface PartWorkerData {
  readonly version: string;
  readonly words: readonly string[];
}

/** A thread of a large build: it cuts documents into terms. */
const { version, words } = workerData as PartWorkerData;
const builder = new PartBuilder(new Analyser(version, words));

parentPort?.on("message", (documents: readonly PlainDocument[]) => {
  const part = builder.build(documents);
  const { lengths, dates, sizes, bytes, bodies, bodyEnds } = part;
  const transfer = [lengths, dates, sizes, bytes, bodies, bodyEnds].map(({ buffer }) => buffer);
  parentPort?.postMessage(part, transfer);
});
