import { attempt } from "./expression.ts";
import { string } from "./json-rules.ts";
import { jsonChars, type Language, lengthsFrom, textsOf, writableLanguage } from "./language.ts";
import { schemaLimits } from "./schema-error.ts";
import { hintOf, wordAt } from "./schema-path.ts";
import type { SchemaWriting } from "./schema-writing.ts";
import type { Shape } from "./shape.ts";
import { describingFormats, stringFormats } from "./string-formats.ts";

/** Writes strings: patterns, formats and lengths. */
export class StringGrammar {
  readonly #writing: SchemaWriting;
  readonly #languages = new Map<Shape, Language | null>();

  constructor(writing: SchemaWriting) {
    this.#writing = writing;
  }

  exists(shape: Shape): boolean {
    if (shape.minLength > shape.maxLength) return false;
    const language = this.language(shape);
    return language === null || !language.isEmpty;
  }

  body(shape: Shape, path: string): string {
    const language = this.language(shape);
    if (language !== null)
      return `"\\"" ${language.body(this.#writing.rules, hintOf(path), jsonChars)} "\\""`;
    const { minLength, maxLength } = shape;
    if (minLength > schemaLimits.repetitions) this.#writing.ignored.add(wordAt(path, "minLength"));
    const least = Math.min(minLength, schemaLimits.repetitions);
    const most = Math.max(least, Math.min(maxLength, schemaLimits.repetitions));
    return string(this.#writing.rules, least, maxLength === Infinity ? null : most);
  }

  /**
   * Returns null if any string of the right length is allowed. Adds keywords that cannot be enforced to
   * `ignored` at once.
   */
  language(shape: Shape): Language | null {
    const known = this.#languages.get(shape);
    if (known !== undefined) return known;
    const texts = shape.notValues.filter((value): value is string => typeof value === "string");
    let language: Language | null = null;
    const and = (part: Language | null, path: string) => {
      if (part === null) {
        this.#writing.ignored.add(path);
        return;
      }
      const both = attempt(() => (language ?? writableLanguage).and(part, this.#writing.budget));
      if (both === null) this.#writing.ignored.add(path);
      else language = both;
    };
    const positive = shape.patterns.filter(({ negative }) => !negative);
    const single = positive.length === 1 && shape.patterns.length === 1 && texts.length === 0;
    const isBounded = shape.minLength > 0 || shape.maxLength !== Infinity;
    for (const { name, path } of shape.formats) {
      const source = Object.hasOwn(stringFormats, name) ? stringFormats[name]! : null;
      if (source !== null) and(this.#writing.patterns.whole(source), path);
      else if (!describingFormats.has(name)) this.#writing.ignored.add(path);
    }
    for (const { source, negative, path } of shape.patterns) {
      const whole = single ? this.#writing.patterns.whole(source) : null;
      const before: Language | null = language;
      // Match the whole text even if the expression is not anchored, because authors usually mean that.
      if (whole !== null) and(whole, path);
      const isTooNarrow = (language as Language | null)?.isEmpty ?? false;
      if (whole !== null && !isTooNarrow && !isBounded) continue;
      language = before;
      const found = this.#writing.patterns.found(source, negative);
      if (found === null && single && language === null && !isBounded)
        language = this.#writing.patterns.ambiguous(source);
      if (language === null || language === before) and(found, path);
      // A format contains only usual forms: if the pattern requires an unusual one, the pattern wins.
      if (
        (language as Language | null)?.isEmpty === true &&
        before?.isEmpty === false &&
        shape.formats.length > 0
      ) {
        language = found;
        for (const format of shape.formats) this.#writing.ignored.add(format.path);
      }
    }
    if (texts.length > 0)
      and(
        attempt(() => textsOf(texts, this.#writing.budget).not(this.#writing.budget)),
        "not",
      );
    if (language !== null && isBounded) {
      const [least, most] = [shape.minLength, shape.maxLength];
      const length = attempt(() => lengthsFrom(least, most, this.#writing.budget));
      and(length, shape.patterns[0]?.path ?? shape.formats[0]?.path ?? "minLength");
    }
    this.#languages.set(shape, language);
    return language;
  }
}
