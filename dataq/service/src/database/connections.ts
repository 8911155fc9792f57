/**
 * The connections of one service. The sum is the setting DATAQ_POOL:
 *
 *     1 session (life lock, LISTEN) + long reads (exports, checks of the ledger) + pool (calls)
 *
 * Work beside the calls (first data, a refresh, a job, a build of vectors) borrows connections from the pool while it
 * runs, so that the sum stays.
 */
export interface Connections {
  readonly poolSize: number;
  readonly longReads: number;
}

/**
 * A thread or process that imports or refreshes: the lock that one service refreshes, the lock of a fold, the build of an
 * index, the owner of the build's tables, and a pool of one. The first data has two builds and one lock.
 */
export const WORK_CONNECTIONS = 5;

/** Two remain for calls while other work runs. */
export const LEAST_CONNECTIONS = 9;

/** Ten services beside PostgreSQL's own default, max_connections = 100, of which 3 are reserved for superusers. */
export const CONNECTIONS_BESIDE_OTHERS = 9;

/** The embedded server belongs to this machine alone. */
export const CONNECTIONS_OF_EMBEDDED = 24;

const SESSION = 1;
const SECOND_LONG_READ_FROM = 16;

export function divide(connections: number): Connections {
  const longReads = connections < SECOND_LONG_READ_FROM ? 1 : 2;
  return { poolSize: connections - SESSION - longReads, longReads };
}
