/** The work that reading one schema may take. Steps are of about 0.1 to 1 µs each. */
export class Budget {
  readonly #whole: Budget | null;
  #left: number;

  constructor(steps: number, whole: Budget | null = null) {
    this.#left = steps;
    this.#whole = whole;
  }

  /** For one part of the work, which may spend so much of the whole. */
  part(steps: number): Budget {
    return new Budget(steps, this);
  }

  /** Throws BudgetSpent. */
  spend(steps: number): void {
    this.#whole?.spend(steps);
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetSpent(this.#whole !== null);
  }
}

export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
  /** Only a part's share is spent: the rest can go on. */
  readonly isPart: boolean;

  constructor(isPart: boolean) {
    super("the schema takes too long to read");
    this.isPart = isPart;
  }
}
