import { isObject } from "./schema-document.ts";

/** Keywords that only describe. */
export const describing: ReadonlySet<string> = new Set(
  "$schema $id id $comment $anchor $dynamicAnchor $vocabulary $defs definitions title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema strict discriminator".split(
    " ",
  ),
);

/** Keywords whose every violation shapes can express. */
const negatable = new Set(
  "type const enum $ref allOf anyOf not minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf required properties minItems maxItems items".split(
    " ",
  ),
);

/** Keywords that constrain a value. */
export const constraining: ReadonlySet<string> = new Set([
  ...negatable,
  ..."$dynamicRef oneOf if then else nullable format prefixItems additionalItems contains minContains maxContains uniqueItems unevaluatedItems patternProperties additionalProperties propertyNames minProperties maxProperties dependencies dependentRequired dependentSchemas unevaluatedProperties".split(
    " ",
  ),
]);

/** Whether shapes can express every violation of the schema. */
export function canNegate(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  return Object.keys(schema).every(
    (word) => negatable.has(word) || describing.has(word) || word.startsWith("x-"),
  );
}
