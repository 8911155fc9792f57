import { LocallmError } from "../wire/errors.ts";
import { type QuantizeJob, type QuantizeReport, quantizeBufferBytes } from "../wire/inference/quantize.ts";
import { computingCores } from "./cores.ts";
import { openLibrary } from "./libllama/library.ts";
import { hearLog } from "./libllama/log.ts";
import { withoutPaths } from "./libllama/without-paths.ts";

/** Blocks until the file is written. Throws `quantize_failed`. Call it in a process that ends afterwards. */
export function quantizeFile(job: QuantizeJob, onReport: (report: QuantizeReport) => void): void {
  const library = openLibrary();
  const log = new QuantizeLog(onReport);
  const params = {
    ...library.llama_model_quantize_default_params(),
    nthread: computingCores(),
    ftype: job.fileType,
    allow_requantize: job.allowRequantize,
    dry_run: job.isDry,
    max_buf_size: quantizeBufferBytes,
  };
  const status = hearLog(
    library,
    (line) => log.hear(line),
    () => library.llama_model_quantize(job.from, job.to, params),
  );
  if (status !== 0) throw new LocallmError("quantize_failed", { reason: log.problem });
}

/**
 * Reads the engine's log, the only place where it tells what it does. A line about a tensor arrives in pieces: what the
 * tensor is, what it becomes, and its size when it is done.
 */
export class QuantizeLog {
  problem = "it gave no reason";
  readonly #onReport: (report: QuantizeReport) => void;
  #tensor: { name: string; type: string } | null = null;
  #misfit: { name: string; rowLength: number; wanted: string } | null = null;

  constructor(onReport: (report: QuantizeReport) => void) {
    this.#onReport = onReport;
  }

  hear(piece: string): void {
    const started = /^\[ *\d+\/ *\d+\] (.+?) +- \[[\d, ]+\], type = *(\w+),/.exec(piece);
    if (started !== null) this.#tensor = { name: started[1] ?? "", type: ggmlName(started[2]) };
    const into = /^converting to (\w+) \.\.|^size = .*\((\w+)\)$/.exec(piece);
    if (into !== null && this.#tensor !== null) this.#tensor.type = ggmlName(into[1] ?? into[2]);
    if (piece.startsWith("size =") && this.#tensor !== null) {
      this.#onReport({ kind: "tensor", ...this.#tensor });
      this.#tensor = null;
    }
    const misfit = /^warning: (.+?) +- ncols +(\d+) not divisible by .* type +(\w+)\)/.exec(piece);
    if (misfit !== null)
      this.#misfit = {
        name: misfit[1] ?? "",
        rowLength: Number(misfit[2]),
        wanted: ggmlName(misfit[3]),
      };
    const fallback = /-> falling back to +(\w+)$/.exec(piece);
    if (fallback !== null && this.#misfit !== null) {
      this.#onReport({ kind: "fallback", ...this.#misfit, type: ggmlName(fallback[1]) });
      this.#misfit = null;
    }
    if (/will require an imatrix/.test(piece)) this.#onReport({ kind: "needs matrix" });
    const failed = /failed to quantize: (.+)$/s.exec(piece);
    if (failed !== null) this.problem = withoutPaths((failed[1] ?? "").trim());
  }
}

/** The engine prints `q4_K`; headers call it `Q4_K`. */
function ggmlName(printed = ""): string {
  return printed.toUpperCase();
}
