import type { Digest } from "../library/digest.ts";
import type { NetworkResponse } from "./network.ts";

/** In bytes; `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface TransferRequest {
  /** The source's host, for error messages. */
  host: string;
  /** Identifies the download: the content's digest if known, otherwise a digest of its URL. */
  key: Digest;
  /** The required digest; null if the source does not publish one. */
  expected: Digest | null;
  sizeBytes: number;
  /** Requests a range, or the whole file for null. Called for each part and each try. */
  open(range: ByteRange | null, signal: AbortSignal): Promise<NetworkResponse>;
  onProgress?(completedBytes: number): void;
  /** Whether another process has finished the same download. Polled while another process is downloading. */
  isDone(): Promise<boolean>;
  /** Receives the complete, verified file. Anything left in the folder afterwards is removed. */
  finish(path: string, digest: Digest): Promise<void>;
  signal: AbortSignal;
}

export interface TransferLimits {
  /** The number of parallel downloads of parts. */
  parts: number;
  partMinBytes: number;
  partMaxBytes: number;
  /** A part that receives nothing for this long is requested again. */
  stallMs: number;
  /** Failures or stalls in a row, without progress between them, before the transfer gives up. */
  tries: number;
  /** The delay before the second try. Doubles with each further try. */
  retryDelayMs: number;
  /** The interval for polling another process's download. */
  waitMs: number;
}
