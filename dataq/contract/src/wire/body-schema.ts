import { z } from "zod";
import { type JsonSchema, openSchema, plainSchema } from "../json-schema.ts";

/** The schema of a request body, as JSON Schema 2020-12. */
export function requestBody(schema: z.ZodType): JsonSchema {
  return plainSchema(z.toJSONSchema(schema, { io: "input", override: withoutDatePattern }));
}

/** The schema of an answer. It allows other fields, because later versions add some. */
export function answerBody(schema: z.ZodType): JsonSchema {
  return openSchema(plainSchema(z.toJSONSchema(schema, { io: "input", override: withoutDatePattern })));
}

/** Removes the pattern of dates, which has about 300 characters and says the same as the format. */
function withoutDatePattern({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === "date-time" || jsonSchema.format === "date") delete jsonSchema.pattern;
}
