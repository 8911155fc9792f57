/** What is told of a step of answers. */
export interface AnswersStep {
  readonly answers: number;
  /** The rows of guesses beside them. */
  readonly guessed: number;
  readonly ns: number;
}

/** What the row of a guess costs, as a share of what a step takes for each of its answers. */
export interface RowCost {
  readonly value: number;
  saw(step: AnswersStep): void;
}

export const fixedRowCost = (value: number): RowCost => ({ value, saw: () => {} });

/** How much of a new measurement counts. */
const share = 1 / 4;
/** A single step can take many times as long as it should. */
const mostCost = 2;

/**
 * It depends on the processor, the weights and the number of threads, so it is measured: steps with guesses are compared
 * with those without.
 */
export class LearnedRowCost implements RowCost {
  #value: number;
  /** What a step without guesses takes lately, by the number of its answers. */
  readonly #plainNs = new Map<number, number>();

  constructor(assumed: number) {
    this.#value = assumed;
  }

  get value(): number {
    return this.#value;
  }

  saw({ answers, guessed, ns }: AnswersStep): void {
    const plainNs = this.#plainNs.get(answers);
    if (guessed === 0) {
      this.#plainNs.set(answers, plainNs === undefined ? ns : plainNs + share * (ns - plainNs));
    } else if (plainNs !== undefined) {
      const cost = ((ns / plainNs - 1) * answers) / guessed;
      this.#value += share * (Math.min(Math.max(cost, 0), mostCost) - this.#value);
    }
  }
}
