import { type Budget, BudgetSpent } from "./budget.ts";
import { attempt, readExpression } from "./expression.ts";
import { ambiguousLanguageOf, type Language, languageOf } from "./language.ts";

/**
 * The part of the budget that one pattern may use. A more expensive pattern is checked only in the finished
 * answer.
 */
const patternSteps = 500_000;

/** The texts that a schema's patterns match; each pattern is read once. Null if no automaton can match it. */
export class PatternLanguages {
  readonly #budget: Budget;
  readonly #known = new Map<string, Language | null>();
  /** Patterns that exceeded their part of the budget. */
  readonly #costly = new Set<string>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** The texts that an expression matches from start to end. */
  whole(source: string): Language | null {
    return this.#once(`=${source}`, (budget) => languageOf(readExpression(source, budget), true, budget));
  }

  /** Returns the texts that contain a match of an expression, or with `negative` all other texts. */
  found(source: string, negative: boolean): Language | null {
    const found = this.#once(`~${source}`, (budget) =>
      languageOf(readExpression(source, budget), false, budget),
    );
    return negative && found !== null ? this.#once(`!${source}`, (budget) => found.not(budget)) : found;
  }

  /** Like `whole`, for an expression whose deterministic automaton is too large. */
  ambiguous(source: string): Language | null {
    return this.#once(`?${source}`, (budget) => ambiguousLanguageOf(readExpression(source, budget), budget));
  }

  #once(key: string, make: (budget: Budget) => Language): Language | null {
    let language = this.#known.get(key);
    if (language === undefined) {
      const source = key.slice(1);
      language = this.#costly.has(source) ? null : this.#withinShare(source, make);
      this.#known.set(key, language);
    }
    return language;
  }

  #withinShare(source: string, make: (budget: Budget) => Language): Language | null {
    try {
      return attempt(() => make(this.#budget.part(patternSteps)));
    } catch (error) {
      if (!(error instanceof BudgetSpent) || !error.isPart) throw error;
      this.#costly.add(source);
      return null;
    }
  }
}
