/** Accounts, and what callers were told that their calls cost. */
export class Bookkeeping {
  readonly url: string;
  readonly keys: readonly string[];
  readonly #opening: number;
  readonly #told: Map<string, number>;
  readonly #counts = new Map<string, number>();

  private constructor(url: string, keys: readonly string[], opening: number) {
    this.url = url;
    this.keys = keys;
    this.#opening = opening;
    this.#told = new Map(keys.map((key) => [key, 0]));
  }

  /** Three accounts, with the operator's key. */
  static async open(url: string, operator: string): Promise<Bookkeeping> {
    const opening = 2_000_000_000;
    const keys: string[] = [];
    for (let n = 0; n < 3; n++) {
      const answer = await fetch(`${url}/admin/v1/accounts`, {
        method: "POST",
        headers: { authorization: `Bearer ${operator}`, "content-type": "application/json" },
        body: JSON.stringify({ name: `day ${n}`, tokens: opening, keys: 1, tier: "operator" }),
      });
      const body = (await answer.json()) as { keys: string[] };
      keys.push(body.keys[0]!);
    }
    return new Bookkeeping(url, keys, opening);
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  counts(): readonly (readonly [string, number])[] {
    return [...this.#counts].sort();
  }

  charged(key: string, tokens: number): void {
    this.#told.set(key, this.#told.get(key)! + tokens);
  }

  /** Tokens of all accounts that calls hold. */
  async held(): Promise<number> {
    const all = await Promise.all(this.keys.map((key) => this.#balance(key)));
    return all.reduce((sum, { held }) => sum + held, 0);
  }

  async #balance(key: string): Promise<{ readonly balance: number; readonly held: number }> {
    const answer = await fetch(`${this.url}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
    return (await answer.json()) as { balance: number; held: number };
  }

  /** Where a balance is not what was opened less what callers were told. */
  async faults(): Promise<string[]> {
    const faults: string[] = [];
    for (const [key, told] of this.#told) {
      const { balance, held } = await this.#balance(key);
      const expected = this.#opening - told;
      if (balance + held !== expected || held !== 0)
        faults.push(`a balance of ${balance} with ${held} on hold, where callers were told ${expected}`);
    }
    return faults;
  }
}
