/** Limits the work of reading one schema. A step takes about 0.1 to 1 µs. */
export class Budget {
  readonly #whole: Budget | null;
  #left: number;

  constructor(steps: number, whole: Budget | null = null) {
    this.#left = steps;
    this.#whole = whole;
  }

  /** Returns a smaller budget for one part of the work. Steps of the part also count here. */
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
  /** True if only the budget of a part is used up, so that the rest of the work can continue. */
  readonly isPart: boolean;

  constructor(isPart: boolean) {
    super("the schema takes too long to read");
    this.isPart = isPart;
  }
}
