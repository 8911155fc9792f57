// Quantises one file. Runs in a separate process, because the engine may crash on a file, and because only its end stops
// the work.

import { quantizeFile } from "../engine/quantize.ts";
import type { QuantizeJob, QuantizeReport } from "../wire/inference/quantize.ts";
import type { ChildReport } from "./ask-child.ts";
import { type SentError, sendError } from "./protocol.ts";

/** Null if the file is written. */
export interface QuantizeEnd {
  readonly end: SentError | null;
}

const parent = process.ppid;

process.once("message", (job: QuantizeJob) => {
  const end = quantize(job);
  process.send?.({ end } satisfies QuantizeEnd, () => process.exit(0));
});

function quantize(job: QuantizeJob): SentError | null {
  try {
    quantizeFile(job, (report) => {
      // The engine blocks this thread, so no event tells that the server died.
      if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
      process.send?.({ report } satisfies ChildReport<QuantizeReport>);
    });
    return null;
  } catch (error) {
    return sendError(error);
  }
}
