import { z } from "zod";
import { type JsonSchema, openSchema, plainSchema } from "../json-schema.ts";
import { memoize } from "../memoize.ts";

/** The schema of a request body, as JSON Schema 2020-12. */
export const requestBody = memoize(
  (schema: z.ZodType): JsonSchema =>
    plainSchema(z.toJSONSchema(schema, { io: "input", override: withoutDatePattern })),
);

/** The schema of an answer. It allows other fields, because later versions add some. */
export const answerBody = memoize(
  (schema: z.ZodType): JsonSchema =>
    openSchema(plainSchema(z.toJSONSchema(schema, { io: "input", override: withoutDatePattern }))),
);

/** Removes the pattern of dates, which has about 300 characters and says the same as the format. */
function withoutDatePattern({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === "date-time" || jsonSchema.format === "date") delete jsonSchema.pattern;
}
