/** What the queue needs to know about a waiting request. */
export interface Waiting {
  /** Requests that wait for the same thing form a line. */
  readonly line: string;
  /** The id of the API key that sent the request. Null means that it was sent without one. */
  readonly key: string | null;
  /** Order of arrival across all lines. */
  readonly ticket: number;
}

/**
 * A bounded queue with several lines. In each line, API keys take turns, so that a key with many waiting requests does
 * not delay the others. Requests of one key keep their order.
 */
export class Queue<Request extends Waiting> {
  readonly #limit: number;
  /** The waiting requests of each line by key. The next key is the first one. */
  readonly #lines = new Map<string, Map<string | null, Request[]>>();
  /** How many requests of each key wait, in all lines. */
  readonly #lengths = new Map<string | null, number>();
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  get isFull(): boolean {
    return this.#length >= this.#limit;
  }

  /**
   * Adds a request. If the queue was full, removes and returns one that is refused: the newest request of the key that
   * has the most. This may be the request itself.
   */
  push(request: Request): Request | null {
    const keys = this.#lines.get(request.line);
    const same = keys?.get(request.key);
    if (same !== undefined) same.push(request);
    else if (keys !== undefined) keys.set(request.key, [request]);
    else this.#lines.set(request.line, new Map([[request.key, [request]]]));
    this.#count(request.key, 1);
    if (this.#length <= this.#limit) return null;
    const refused = this.#mostDispensable(request);
    this.remove(refused);
    return refused;
  }

  /** The next request of a line. */
  head(line: string): Request | undefined {
    for (const requests of this.#lines.get(line)?.values() ?? []) return requests[0];
    return undefined;
  }

  /** The requests of a line, grouped by key. */
  line(line: string): readonly Request[] {
    return [...(this.#lines.get(line)?.values() ?? [])].flat();
  }

  /** The requests of a line in the order in which they would be served. */
  *inTurn(line: string): Generator<Request> {
    const keys = [...(this.#lines.get(line)?.values() ?? [])];
    const longest = Math.max(0, ...keys.map(({ length }) => length));
    for (let round = 0; round < longest; round++)
      for (const requests of keys) if (round < requests.length) yield requests[round]!;
  }

  /** The heads of all lines, oldest first. */
  heads(): Request[] {
    return this.lines()
      .map((line) => this.head(line)!)
      .sort((a, b) => a.ticket - b.ticket);
  }

  /** Removes a request that is served, so that the next turn is another key's. */
  serve(request: Request): void {
    this.remove(request);
    const keys = this.#lines.get(request.line);
    const rest = keys?.get(request.key);
    if (keys === undefined || rest === undefined) return;
    keys.delete(request.key);
    keys.set(request.key, rest);
  }

  /** Returns false if the request is no longer waiting. */
  remove(request: Request): boolean {
    const keys = this.#lines.get(request.line);
    const requests = keys?.get(request.key);
    const index = requests?.indexOf(request) ?? -1;
    if (keys === undefined || requests === undefined || index < 0) return false;
    requests.splice(index, 1);
    if (requests.length === 0) keys.delete(request.key);
    if (keys.size === 0) this.#lines.delete(request.line);
    this.#count(request.key, -1);
    return true;
  }

  /** Removes and returns all requests of a line. */
  take(line: string): readonly Request[] {
    const requests = this.line(line);
    this.#lines.delete(line);
    for (const { key } of requests) this.#count(key, -1);
    return requests;
  }

  lines(): string[] {
    return [...this.#lines.keys()];
  }

  #count(key: string | null, change: 1 | -1): void {
    this.#length += change;
    const length = (this.#lengths.get(key) ?? 0) + change;
    if (length === 0) this.#lengths.delete(key);
    else this.#lengths.set(key, length);
  }

  /** The newest request of the key with the most requests; `added` if no key has more than its own key. */
  #mostDispensable(added: Request): Request {
    let most = added.key;
    for (const [key, length] of this.#lengths) if (length > this.#lengths.get(most)!) most = key;
    const last = [...this.#lines.values()].flatMap((keys) => keys.get(most)?.at(-1) ?? []);
    return last.reduce((newest, each) => (each.ticket > newest.ticket ? each : newest));
  }
}
