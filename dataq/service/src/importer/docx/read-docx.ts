import { Worker } from "node:worker_threads";
import type { DocxProblemCode } from "./document-xml.ts";

/** The paragraphs of a Word file without empty ones, or why it cannot be read. */
export type DocxAnswer = { readonly paragraphs: readonly string[] } | { readonly problem: DocxProblemCode };

/** Reads a Word file of a stranger in a thread with a limit of time and memory: it may be made to exhaust both. */
export async function readDocx(bytes: Buffer, limitMs = 20_000): Promise<DocxAnswer> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./docx-worker.${extension}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 },
  });
  const { promise, resolve } = Promise.withResolvers<DocxAnswer>();
  const late = setTimeout(() => resolve({ problem: "too_slow" }), limitMs);
  worker.on("message", resolve);
  worker.on("error", () => resolve({ problem: "too_long" }));
  worker.on("exit", () => resolve({ problem: "too_long" }));
  worker.postMessage(new Uint8Array(bytes));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
