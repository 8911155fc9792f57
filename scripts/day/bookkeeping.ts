import { createHash } from "node:crypto";

/** Tokens by the digest of an Idempotency-Key, as the service keeps it. */
export type Paid = ReadonlyMap<string, number>;

/** Tokens by the key of an account. */
export type Balances = ReadonlyMap<string, number>;

interface Told {
  /** Of the account. */
  readonly key: string;
  /** Null: an earlier answer was paid, or was free, and did not arrive. */
  readonly tokens: number | null;
}

/** Accounts, and what callers were told that their calls cost. */
export class Bookkeeping {
  readonly url: string;
  readonly keys: readonly string[];
  readonly #opening: number;
  /** By the digest of an Idempotency-Key. */
  readonly #told = new Map<string, Told>();
  readonly #counts = new Map<string, number>();

  private constructor(url: string, keys: readonly string[], opening: number) {
    this.url = url;
    this.keys = keys;
    this.#opening = opening;
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

  answered(idempotencyKey: string, told: Told): void {
    this.#told.set(createHash("sha256").update(idempotencyKey).digest("base64url"), told);
    if (told.tokens === null) this.count("answers of dataq that only a repeated call got");
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

  /** Without what is on hold. */
  async balances(): Promise<Balances> {
    const of = async (key: string) => [key, (await this.#balance(key)).balance] as const;
    return new Map(await Promise.all(this.keys.map(of)));
  }

  /** Where the ledger has paid something else than a caller was told, and where a balance is another one. */
  faults(balances: Balances, paid: Paid): string[] {
    const faults: string[] = [];
    const expected = new Map(this.keys.map((key) => [key, this.#opening]));
    for (const [digest, { key, tokens }] of this.#told) {
      const inLedger = paid.get(digest) ?? 0;
      if (tokens !== null && tokens !== inLedger)
        faults.push(
          `${inLedger} tokens were paid under the key ${digest}, and its caller was told ${tokens}`,
        );
      expected.set(key, expected.get(key)! - (tokens ?? inLedger));
    }
    for (const [key, tokens] of expected)
      if (balances.get(key) !== tokens)
        faults.push(`a balance of ${balances.get(key)}, where the calls leave ${tokens}`);
    return faults;
  }
}
