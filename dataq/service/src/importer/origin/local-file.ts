import type { Message } from "../message.ts";
import type { RowsFile } from "../open-data/rows.ts";
import type { Publisher } from "../publisher.ts";

/** A file on this machine, and where it came from. */
export interface LocalFile {
  readonly path: string;
  /** What the operator typed: a path, an address, or `pypi:<package>`. */
  readonly origin: string;
  readonly name: string;
  readonly sha256: string;
  /** The publishers according to the origin of the file; several if it was combined. */
  readonly publishers: readonly Publisher[];
  /** Which of its rows are wanted, and how they are read; as they are if absent. */
  readonly rows?: RowsFile;
}

export interface FetchOptions {
  /** Folder for downloaded files. */
  readonly folder: string;
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
  /** DATAQ_DATA_MIRROR: where the files of the catalogue of open data are. */
  readonly mirror?: string | undefined;
}
