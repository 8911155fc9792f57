import type pg from "pg";
import type { Database } from "../src/database/database.ts";
import { areIndependent, type Footprint, Footprints } from "./footprint.ts";

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
  readonly #footprints: Footprints;

  private constructor(
    database: Database,
    footprints: Footprints,
    [first, second, observer]: readonly pg.Client[],
  ) {
    this.#database = database;
    this.#footprints = footprints;
    this.#clients = [first!, second!];
    this.#observer = observer!;
  }

  static async open(database: Database): Promise<Interleaver> {
    return new Interleaver(
      database,
      await Footprints.read(database),
      await Promise.all([database.connect(), database.connect(), database.connect()]),
    );
  }

  async close(): Promise<void> {
    for (const client of [...this.#clients, this.#observer]) await client.end();
  }

  /**
   * Runs the operations in the order that `wanted` begins with, and then the first one that can go on. Returns the
   * whole order, what each answered, and the places where the other one could have gone on, too.
   *
   * Where the second sends a statement that has nothing to do with the first's next one, the first might as well have
   * gone on before. So the first does not go on just after it, if it can be avoided; otherwise `isRepeat` is true,
   * because another order does the same, and no later places are told. With `plays: "all"` every place counts.
   */
  async run(
    acts: readonly [Act, Act],
    wanted: Order,
    plays: "different" | "all" = "different",
  ): Promise<{ order: Order; answers: [unknown, unknown]; choices: number[]; isRepeat: boolean }> {
    const tracks = acts.map(
      (act, place) => new Track(this.#database, this.#clients[place]!, this.#footprints, act),
    );
    let order = "";
    let isRepeat = false;
    const choices: number[] = [];
    /** The last statement, if it was the second's, and the first could have gone on instead. */
    let passed: Footprint | undefined;
    for (;;) {
      await Promise.all(tracks.map((track) => this.#settled(track)));
      const ready = tracks.flatMap(({ state }, place) => (state === "at a border" ? [place] : []));
      if (ready.length === 0) {
        if (tracks.every(({ state }) => state === "ended")) break;
        continue;
      }
      const isSame =
        plays === "different" && passed !== undefined && areIndependent(passed, tracks[0]!.footprint);
      const asked = "AB".indexOf(wanted[order.length] ?? "neither");
      const usual = isSame ? ready.at(-1)! : ready[0]!;
      const next = ready.includes(asked) ? asked : usual;
      if (isSame && next === 0) isRepeat = true;
      if (ready.length === 2 && !isSame && !isRepeat) choices.push(order.length);
      passed = ready.length === 2 && next === 1 ? tracks[1]!.footprint : undefined;
      order += "AB"[next]!;
      tracks[next]!.goOn();
    }
    return { order, answers: [tracks[0]!.answer, tracks[1]!.answer], choices, isRepeat };
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
  /** Of the statement that is about to be sent. */
  footprint: Footprint = { reads: new Set(), writes: new Set() };
  /** What the open transaction has written. Others see it at its end. */
  readonly #written = new Set<string>();
  #goOn: (() => void) | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(database: Database, client: pg.Client, footprints: Footprints, act: Act) {
    this.client = client;
    const query = async (...statement: Parameters<pg.Client["query"]>) => {
      const [sent] = statement as readonly unknown[];
      const text = typeof sent === "string" ? sent : (sent as { text: string }).text;
      // It neither reads nor locks anything, so its place is of no account.
      if (/^begin\b/i.test(text)) {
        this.#written.clear();
        return client.query(...statement);
      }
      const { reads, writes } = footprints.of(text);
      for (const name of writes) this.#written.add(name);
      const isEnd = /^(?:commit|rollback)\b/i.test(text);
      this.footprint = isEnd ? { reads, writes: new Set(this.#written) } : { reads, writes };
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
 * Every order of the statements of two operations, each on a state of its own: what the orders end in. Of orders that
 * differ only in statements that have nothing to do with each other, one is played. `prepare` makes the same state again
 * and returns the operations on it, and what can be seen of it afterwards.
 */
export async function everyOrder(
  interleaver: Interleaver,
  prepare: () => Promise<{ acts: readonly [Act, Act]; seen(): Promise<unknown> }>,
  plays: "different" | "all" = "different",
): Promise<Map<Order, string>> {
  const ends = new Map<Order, string>();
  /** Beginnings of the orders that were played or are going to be. */
  const known = new Set<Order>();
  const asked: Order[] = [];
  const ask = (order: Order) => {
    if (known.has(order)) return;
    addBeginnings(known, order);
    asked.push(order);
  };
  ask("");
  ask("B");
  for (let wanted = asked.pop(); wanted !== undefined; wanted = asked.pop()) {
    const { acts, seen } = await prepare();
    const { order, answers, choices, isRepeat } = await interleaver.run(acts, wanted, plays);
    if (ends.has(order)) continue;
    addBeginnings(known, order);
    if (!isRepeat) ends.set(order, JSON.stringify({ answers, seen: await seen() }));
    for (const place of choices) ask(order.slice(0, place) + (order[place] === "A" ? "B" : "A"));
  }
  return ends;
}

function addBeginnings(known: Set<Order>, order: Order): void {
  for (let length = order.length; length > 0 && !known.has(order.slice(0, length)); length--)
    known.add(order.slice(0, length));
}
