import { totalmem } from "node:os";

/** What pictures and sounds of one request may take. Whoever sends them decides how much work they are. */
export const pictureLimits = {
  bytes: 20 * 2 ** 20,
  /** More than any telephone takes; as bytes, 192 MB. */
  pixels: 64_000_000,
  /** As samples of one channel at 48 kHz, 115 MB. A projector makes rows of 30 seconds in one step. */
  seconds: 600,
  perRequest: 32,
  /** A JPEG or PNG of `pixels` takes one second of a busy machine. */
  decodeMs: 10_000,
  decodeBytes: 1.5 * 2 ** 30,
  /** Pictures that are read at once. */
  decoders: 2,
  encodeMs: 300_000,
  loadMs: 120_000,
  /** How long an idle projector stays in memory. */
  idleMs: 300_000,
  /** The memory for rows of pictures that conversations may show again. */
  keptBytes: Math.min(512 * 2 ** 20, totalmem() / 32),
} as const;
