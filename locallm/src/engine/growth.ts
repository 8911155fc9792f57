import type { Room } from "./room.ts";

export interface GrowthRequest {
  readonly room: Room;
  /** The cells of the cache that may not be used before they are granted. */
  readonly spare: number;
  /** Asks for so many of them. Resolves to how many are granted, which may be none. */
  readonly ask: (cells: number) => Promise<number>;
  readonly now: () => number;
  readonly pace?: Pace;
}

/** How often is asked. */
export interface Pace {
  /** Fewer cells are not asked for, so that a step rarely waits for an answer. */
  readonly leastCells: number;
  /** After a refusal, nothing is asked for so long. */
  readonly pauseNs: number;
}

const usualPace: Pace = { leastCells: 256, pauseNs: 1e9 };
/** A sixteenth of what was spare at first is asked for at a time. */
const parts = 16;

/**
 * The cells of a shared cache that take no memory yet. The server may give their memory to another model meanwhile, so
 * they are used only once it has granted them. The library fills the lowest cells first, so that it touches no more cells
 * than `Room` has counted at once.
 */
export class Growth {
  readonly #request: GrowthRequest;
  readonly #step: number;
  readonly #pauseNs: number;
  #spare: number;
  #refusedNs = Number.NEGATIVE_INFINITY;

  /** Takes the spare cells out of the room. */
  constructor(request: GrowthRequest) {
    this.#request = request;
    this.#spare = request.spare;
    const { leastCells, pauseNs } = request.pace ?? usualPace;
    this.#pauseNs = pauseNs;
    this.#step = Math.max(leastCells, Math.ceil(request.spare / parts));
    request.room.cells -= request.spare;
  }

  /** Grows the room until so many cells are free, or as far as the server allows. */
  async reach(free: number): Promise<void> {
    const { room, ask, now } = this.#request;
    const lacking = free - room.free;
    if (lacking <= 0 || this.#spare === 0 || now() - this.#refusedNs < this.#pauseNs) return;
    const asked = Math.min(this.#spare, Math.max(lacking, this.#step));
    const granted = await ask(asked);
    this.#spare -= granted;
    room.cells += granted;
    if (granted < asked) this.#refusedNs = now();
  }
}
