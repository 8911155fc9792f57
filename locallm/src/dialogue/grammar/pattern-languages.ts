import { type Budget, BudgetSpent } from "./budget.ts";
import { attempt, readExpression } from "./expression.ts";
import { ambiguousLanguageOf, type Language, languageOf } from "./language.ts";

/** Of the whole budget, the share of one pattern: above it the pattern is left to a check of the answer. */
const patternSteps = 500_000;

/** The languages of a schema's patterns, each made once. Null for a pattern that no automaton can follow. */
export class PatternLanguages {
  readonly #budget: Budget;
  readonly #known = new Map<string, Language | null>();
  /** Patterns that spent their share of the budget. */
  readonly #costly = new Set<string>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** The texts that an expression matches from end to end. */
  whole(source: string): Language | null {
    return this.#once(`=${source}`, (budget) => languageOf(readExpression(source, budget), true, budget));
  }

  /** The texts in which an expression is found, or (`negative`) is not. */
  found(source: string, negative: boolean): Language | null {
    const found = this.#once(`~${source}`, (budget) =>
      languageOf(readExpression(source, budget), false, budget),
    );
    return negative && found !== null ? this.#once(`!${source}`, (budget) => found.not(budget)) : found;
  }

  /** As `whole`, for an expression that an automaton can follow only with several states at once. */
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
