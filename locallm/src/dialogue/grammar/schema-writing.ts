import type { Budget } from "./budget.ts";
import type { Rules } from "./gbnf.ts";
import type { PatternLanguages } from "./pattern-languages.ts";
import type { Shapes } from "./schema-shapes.ts";
import type { Conjuncts, Shape } from "./shape.ts";

/** The state and functions that the writers of strings, numbers, arrays and objects share for one schema. */
export interface SchemaWriting {
  readonly rules: Rules;
  readonly budget: Budget;
  readonly patterns: PatternLanguages;
  /** Paths of keywords that the grammar does not enforce. */
  readonly ignored: Set<string>;
  /**
   * Writes the rule for the values that satisfy all of these schemas. Without schemas, any value is allowed.
   */
  item(conjuncts: Conjuncts): string;
  /** Whether no value satisfies all of these schemas. */
  isEmpty(conjuncts: Conjuncts): boolean;
  shapesOf(conjuncts: Conjuncts): Shapes;
  /** Bits of the types that have values in this shape. */
  typesOf(shape: Shape, conjuncts: Conjuncts): number;
  /** The values of an enumeration that satisfy the schemas' other keywords. */
  valuesOf(shape: Shape, conjuncts: Conjuncts): readonly unknown[];
  satisfies(value: unknown, schema: unknown): boolean;
}
