import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { Budget } from "../src/dialogue/grammar/budget.ts";
import { Rules } from "../src/dialogue/grammar/gbnf.ts";
import { SchemaError } from "../src/dialogue/grammar/schema-error.ts";
import { schemaGrammar } from "../src/dialogue/grammar/schema-grammar.ts";
import { Automaton, type Position } from "../src/engine/grammar/automaton.ts";
import { Work } from "../src/engine/grammar/work.ts";
import { parseGbnf } from "./gbnf.ts";

export interface JudgedSchema {
  readonly schema: object;
  /** The schema's authors say that no value satisfies it, so rejecting it is correct. */
  readonly isContradiction?: boolean;
  /** The schema uses JSON Schema draft 7. */
  readonly isOld?: boolean;
  readonly lenient?: boolean;
}

/**
 * Writes the schema's grammar, derives random texts from it, and checks them with ajv and our own automaton.
 * `refusal` is null if the schema was accepted. `wrong` is null if all texts were valid.
 */
export function judgeSchema(
  { schema, isContradiction = false, isOld = false, lenient = false }: JudgedSchema,
  texts: number,
) {
  const rules = new Rules();
  let refusal: string | null = null;
  let ignored: readonly string[] = [];
  let wrong: string | null = null;
  try {
    const made = schemaGrammar(rules, schema, new Budget(1_500_000), lenient);
    ignored = made.ignored;
    wrong = wrongText(rules.print(made.body), schema, isOld, texts);
  } catch (error) {
    if (!isContradiction) refusal = error instanceof SchemaError ? error.message : String(error);
  }
  return { refusal, ignored, wrong };
}

/** No more texts of a grammar are judged after so many characters: long arrays can have 300,000 in each. */
const mostCharacters = 200_000;

/** Returns a random text of the grammar that ajv or our automaton rejects. */
function wrongText(gbnf: string, schema: object, isOld: boolean, texts: number): string | null {
  const options = { strict: false, unicodeRegExp: true, logger: false, multipleOfPrecision: 6 } as const;
  const ajv = ajvFormats.default(isOld ? new Ajv(options) : new Ajv2020(options));
  let validate: (value: unknown) => boolean;
  try {
    const compiled = ajv.compile(schema);
    validate = (value) => {
      try {
        return compiled(value);
      } catch (error) {
        // ajv follows a schema's reference to itself forever.
        if (error instanceof RangeError) return true;
        throw error;
      }
    };
  } catch {
    // ajv cannot read some schemas, such as patterns in other syntaxes and references to missing targets.
    validate = () => true;
  }
  const grammar = parseGbnf(gbnf);
  const work = new Work(() => 0);
  const start = new Automaton(gbnf, work).start("root", work);
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  let left = mostCharacters;
  for (let count = 0; count < texts && left > 0; count += 1) {
    let text: string;
    try {
      text = grammar.derive(random);
    } catch (error) {
      if (error instanceof RangeError) continue;
      throw error;
    }
    left -= text.length;
    let position: Position | null = start;
    for (const byte of Buffer.from(text)) position = position?.after(byte, work) ?? null;
    if (position?.canEnd !== true || !validate(JSON.parse(text))) return text.slice(0, 200);
  }
  return null;
}
