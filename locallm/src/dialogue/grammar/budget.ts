/** The work that reading one schema may take. Steps are of about 0.1 to 1 µs each. */
export class Budget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Throws BudgetSpent. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetSpent();
  }
}

export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}
