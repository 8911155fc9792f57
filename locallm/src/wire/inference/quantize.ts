/** A file of weights that the engine writes again in another type. */
export interface QuantizeJob {
  /** The file, or the first file of split weights, which then lies beside the others under llama.cpp's names. */
  readonly from: string;
  readonly to: string;
  /** llama.cpp's number of the type, `llama_ftype`. */
  readonly fileType: number;
  readonly allowRequantize: boolean;
  /** Only tells which type each tensor would get. */
  readonly isDry: boolean;
}

/** Rows in memory at once: the source, its floats and the result. Larger tensors are converted in parts. */
export const quantizeBufferBytes = 512 * 2 ** 20;

/** What the engine tells while it works. Types are ggml's names in capitals. */
export type QuantizeReport =
  /** A tensor is done. */
  | { readonly kind: "tensor"; readonly name: string; readonly type: string }
  /** The rows of a tensor do not consist of whole blocks of the wanted type. */
  | {
      readonly kind: "fallback";
      readonly name: string;
      readonly rowLength: number;
      readonly wanted: string;
      readonly type: string;
    }
  /** Some tensors would get types that need an importance matrix. Only a dry run reports it. */
  | { readonly kind: "needs matrix" };

/** Quantises in a process of its own, which ends when `signal` aborts. Throws `quantize_failed`. */
export type Quantizer = (
  job: QuantizeJob,
  onReport: (report: QuantizeReport) => void,
  signal: AbortSignal,
) => Promise<void>;
