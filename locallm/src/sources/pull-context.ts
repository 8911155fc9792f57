import type { Store } from "../library/store.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import type { Network } from "./network.ts";
import type { Transfers } from "./transfer.ts";

/** What every source works with. */
export interface PullContext {
  store: Store;
  network: Network;
  transfers: Transfers;
  /** Ollama's words where it has some: `pulling manifest`, `pulling 941f309b54ca`, …, `success`. */
  onProgress(line: ProgressLine): void;
  signal: AbortSignal;
}
