import type pg from "pg";
import type { Database } from "../src/database/database.ts";

/** An operation on the database, and what it answered: a value that can be compared as JSON. */
export type Act = (database: Database) => Promise<unknown>;

/** Which of two operations sent each statement, in order: "AABB". */
export type Order = string;

/** A statement of one operation is about to be sent, has been sent and waits for a lock, or all have ended. */
type State = "at a border" | "under way" | "ended";

/**
 * Runs two operations at once and decides before each statement which of them may go on, with a connection for each.
 * A statement that waits for a lock of the other lets the other go on.
 */
export class Interleaver {
  readonly #database: Database;
  readonly #clients: readonly [pg.Client, pg.Client];
  readonly #observer: pg.Client;

  private constructor(database: Database, [first, second, observer]: readonly pg.Client[]) {
    this.#database = database;
    this.#clients = [first!, second!];
    this.#observer = observer!;
  }

  static async open(database: Database): Promise<Interleaver> {
    return new Interleaver(
      database,
      await Promise.all([database.connect(), database.connect(), database.connect()]),
    );
  }

  async close(): Promise<void> {
    for (const client of [...this.#clients, this.#observer]) await client.end();
  }

  /**
   * Runs the operations in the order that `wanted` begins with, and then the first one that can go on. Returns the
   * whole order, what each answered, and the places where the other one could have gone on, too.
   */
  async run(
    acts: readonly [Act, Act],
    wanted: Order,
  ): Promise<{ order: Order; answers: [unknown, unknown]; choices: number[] }> {
    const tracks = acts.map((act, place) => new Track(this.#database, this.#clients[place]!, act));
    let order = "";
    const choices: number[] = [];
    for (;;) {
      await Promise.all(tracks.map((track) => this.#settled(track)));
      const ready = tracks.flatMap(({ state }, place) => (state === "at a border" ? [place] : []));
      if (ready.length === 0) {
        if (tracks.every(({ state }) => state === "ended")) break;
        continue;
      }
      if (ready.length === 2) choices.push(order.length);
      const asked = "AB".indexOf(wanted[order.length] ?? "");
      const next = ready.includes(asked) ? asked : ready[0]!;
      order += "AB"[next]!;
      tracks[next]!.goOn();
    }
    return { order, answers: [tracks[0]!.answer, tracks[1]!.answer], choices };
  }

  /** Resolves when the track is at a border, has ended or waits for a lock. */
  async #settled(track: Track): Promise<void> {
    while (track.state === "under way") {
      await Promise.race([track.changed(), new Promise((resolve) => setTimeout(resolve, 2))]);
      if (track.state !== "under way") return;
      const { rows } = await this.#observer.query<{ waits: boolean }>(
        "select cardinality(pg_blocking_pids($1)) > 0 as waits",
        [(track.client as unknown as { processID: number }).processID],
      );
      if (rows[0]!.waits) return;
    }
  }
}

class Track {
  state: State = "under way";
  answer: unknown;
  readonly client: pg.Client;
  #goOn: (() => void) | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(database: Database, client: pg.Client, act: Act) {
    this.client = client;
    const query = async (...statement: Parameters<pg.Client["query"]>) => {
      // It neither reads nor locks anything, so its place is of no account.
      if (/^begin\b/i.test(String(statement[0]))) return client.query(...statement);
      await new Promise<void>((resolve) => {
        this.#goOn = resolve;
        this.#become("at a border");
      });
      return client.query(...statement);
    };
    const pool = { query, connect: async () => ({ query, release() {} }) };
    const gated = { ...database, query, pool } as unknown as Database;
    void act(gated)
      .catch((error: { code?: string; message: string }) => ({ failed: error.code ?? error.message }))
      .then((answer) => {
        this.answer = answer;
        this.#become("ended");
      });
  }

  changed(): Promise<void> {
    return this.#changed.promise;
  }

  goOn(): void {
    this.#become("under way");
    this.#goOn?.();
  }

  #become(state: State): void {
    this.state = state;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/**
 * Every order of the statements of two operations, each on a state of its own: what the orders end in. `prepare` makes
 * the same state again and returns the operations on it, and what can be seen of it afterwards.
 */
export async function everyOrder(
  interleaver: Interleaver,
  prepare: () => Promise<{ acts: readonly [Act, Act]; seen(): Promise<unknown> }>,
): Promise<Map<Order, string>> {
  const ends = new Map<Order, string>();
  const asked: Order[] = ["", "B".repeat(20)];
  for (let wanted = asked.pop(); wanted !== undefined; wanted = asked.pop()) {
    const { acts, seen } = await prepare();
    const { order, answers, choices } = await interleaver.run(acts, wanted);
    if (ends.has(order)) continue;
    ends.set(order, JSON.stringify({ answers, seen: await seen() }));
    for (const place of choices) {
      const other = order.slice(0, place) + (order[place] === "A" ? "B" : "A");
      if (![...ends.keys(), ...asked].some((known) => known.startsWith(other))) asked.push(other);
    }
  }
  return ends;
}
