import { Budget, BudgetSpent } from "./budget.ts";
import { attempt, readExpression } from "./expression.ts";
import { Rules } from "./gbnf.ts";
import { anyObject } from "./json-rules.ts";
import { type Language, languageOf } from "./language.ts";
import { faultsOf } from "./schema-check.ts";
import { SchemaDocument } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import { schemaGrammar } from "./schema-grammar.ts";

export interface SchemaWish {
  readonly schema: unknown;
  /** Whether invalid parts are ignored and named, as in the parameters of tools. */
  readonly lenient: boolean;
}

/** The grammars of several schemas, which share their rules. */
export interface WrittenSchemas {
  readonly rules: readonly (readonly [name: string, body: string])[];
  /** For each schema, in order. */
  readonly schemas: readonly { readonly body: string; readonly ignored: readonly string[] }[];
}

/** Throws SchemaError and BudgetSpent. */
export function writeSchemas(wishes: readonly SchemaWish[], steps: number): WrittenSchemas {
  const rules = new Rules();
  const budget = new Budget(steps);
  const schemas = wishes.map(({ schema, lenient }) => {
    if (!lenient) return schemaGrammar(rules, schema, budget);
    try {
      return schemaGrammar(rules, schema, budget, true);
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      return { body: anyObject(rules), ignored: [""] };
    }
  });
  return { rules: rules.entries(), schemas };
}

/**
 * Returns the problems of a finished answer. An empty list means that it satisfies the schema. Throws
 * BudgetSpent.
 */
export function checkAnswer(schema: unknown, text: string, steps: number): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return ["/ must be JSON"];
  }
  const budget = new Budget(steps);
  const languages = new Map<string, Language | null>();
  const found = (source: string) => {
    let language = languages.get(source);
    if (language === undefined) {
      language = attempt(() => languageOf(readExpression(source, budget), false, budget));
      languages.set(source, language);
    }
    return language;
  };
  return faultsOf(value, schema, {
    document: new SchemaDocument(schema),
    budget,
    matches: (pattern, own) => found(pattern)?.has(own) ?? testPattern(pattern, own),
  });
}

/**
 * Tests patterns that no automaton can match. Its time is unbounded, so call it only in a thread that can be
 * ended.
 */
function testPattern(pattern: string, text: string): boolean | null {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return null;
  }
}

export { BudgetSpent, SchemaError };
