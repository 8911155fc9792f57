import type { RowCost } from "./row-cost.ts";

/** What may follow in an answer. A step computes such tokens beside the answer's last one, and sampling judges them. */
export interface Guesses {
  /** Records the next token of the answer. */
  add(token: number): void;
  /** At most `most` tokens that may follow the last one. Empty if nothing is likely enough. */
  next(most: number): readonly number[];
}

/** How far text that repeats is searched and trusted. */
export interface GuessRule {
  /** The least number of tokens that must stand in the text twice before what followed them is a guess. */
  readonly least: number;
  /** The most tokens of a guess. */
  readonly most: number;
}

/** Only the last tokens are searched, so that a long conversation does not make each step longer. */
const searchedTokens = 32_768;

/**
 * Guesses what follows by the text itself: where the last tokens stand in the prompt or the answer before, the tokens
 * that followed them there. So a text that is copied or edited comes in large steps. Of several places it takes the one
 * with the longest match, and of equal ones the last. A guess is as long as the match, because a long copy goes on.
 */
export class TextGuesses implements Guesses {
  readonly #rule: GuessRule;
  #cells: Int32Array;
  #count: number;

  /** `prompt` may have cells of pictures, which are negative. They match, but are never guessed. */
  constructor(prompt: readonly number[], rule: GuessRule) {
    this.#rule = rule;
    this.#cells = new Int32Array(prompt.length + 256);
    this.#cells.set(prompt);
    this.#count = prompt.length;
  }

  add(token: number): void {
    if (this.#count === this.#cells.length) {
      const larger = new Int32Array(this.#count * 2);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells[this.#count++] = token;
  }

  next(most: number): readonly number[] {
    const { least, most: mostGuessed } = this.#rule;
    const { at, length } = this.#longestMatch(mostGuessed);
    if (length < least) return nothing;
    const from = at + 1;
    const after = this.#cells.subarray(from, Math.min(from + Math.min(most, length), this.#count));
    const picture = after.findIndex((cell) => cell < 0);
    return Array.from(picture < 0 ? after : after.subarray(0, picture));
  }

  /** The longest end of the text that stands in it before, counted up to `enough`, and where its last token stands. */
  #longestMatch(enough: number): { readonly at: number; readonly length: number } {
    const cells = this.#cells;
    const end = this.#count - 1;
    const first = Math.max(0, end - searchedTokens);
    const last = cells[end]!;
    let best = { at: -1, length: 0 };
    for (let before = end - 1; before >= first && best.length < enough; before--) {
      before = cells.lastIndexOf(last, before);
      if (before < first) break;
      let length = 1;
      while (length < enough && before >= length && cells[before - length] === cells[end - length]) length++;
      if (length > best.length) best = { at: before, length };
    }
    return best;
  }
}

const nothing: readonly number[] = [];

/** How much wrong guesses may cost at first and after a pause, in steps of one row: a short answer has not many of them. */
const allowance = 3;
/** Where the row of a guess costs more than this, too few are right for a gain. */
const worthwhile = 0.8;
/** How much they may cost at most, after right ones. */
const mostAllowance = 12;
/** How many tokens the first pause lasts. Each further one lasts twice as long. */
const firstPause = 64;

/**
 * The guesses of one answer, with what became of them. Where they cost more than they save, it pauses, and for longer
 * each time.
 */
export class Drafting {
  readonly #guesses: Guesses;
  readonly #rowCost: Pick<RowCost, "value">;
  #drafted = 0;
  #accepted = 0;
  /** What is left of the draft that a step computed, while the answer takes tokens from its outputs. */
  #judged: readonly number[] = nothing;
  #credit: number;
  #pause = firstPause;
  /** How many further tokens come without guesses. */
  #rest = 0;

  /** `rowCost` is what a further row costs a step, as a share of what a step of one row costs. */
  constructor(guesses: Guesses, rowCost: Pick<RowCost, "value">) {
    this.#guesses = guesses;
    this.#rowCost = rowCost;
    // Where a row costs so much, an answer begins with a pause. What it guesses later tells if that is still so.
    this.#credit = rowCost.value > worthwhile ? 0 : allowance;
  }

  /** How many tokens were guessed and computed, and how many of them the answer took. */
  get counts(): { readonly tokens: number; readonly accepted: number } {
    return { tokens: this.#drafted, accepted: this.#accepted };
  }

  /** How many tokens may be guessed now, at most `most`, and at most what the credit pays if all of them are wrong. */
  room(most: number): number {
    const { value } = this.#rowCost;
    let affordable = value === 0 ? most : Math.floor(this.#credit / value);
    if (affordable < 1) {
      this.#rest = this.#pause;
      this.#pause *= 2;
      this.#credit = Math.max(allowance, value);
      affordable = 0;
    }
    return this.#rest > 0 ? 0 : Math.max(0, Math.min(most, affordable));
  }

  next(most: number): readonly number[] {
    const room = this.room(most);
    return room === 0 ? nothing : this.#guesses.next(room);
  }

  /** Records that a step has computed a draft. The next tokens that are added tell how much of it was right. */
  judge(draft: readonly number[]): void {
    this.#drafted += draft.length;
    this.#credit -= draft.length * this.#rowCost.value;
    this.#judged = draft;
  }

  /** Adds the answer's next token. */
  add(token: number): void {
    if (this.#rest > 0) this.#rest--;
    this.#guesses.add(token);
    if (this.#judged[0] !== token) {
      this.#judged = nothing;
      return;
    }
    this.#judged = this.#judged.slice(1);
    this.#accepted++;
    this.#credit = Math.min(mostAllowance, this.#credit + 1);
  }
}
