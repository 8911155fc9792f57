import { z } from "zod";
import { type JsonSchema, openSchema, plainSchema } from "../json-schema.ts";

/** What can be sent, as JSON Schema 2020-12. */
export function requestBody(schema: z.ZodType): JsonSchema {
  return plainSchema(z.toJSONSchema(schema, { io: "input", override: withoutDatePattern }));
}

/** What is returned. Later versions add fields, so others are allowed. */
export function answerBody(schema: z.ZodType): JsonSchema {
  return openSchema(plainSchema(z.toJSONSchema(schema, { io: "input", override: withoutDatePattern })));
}

/** The format already says the same, in fewer than 300 characters. */
function withoutDatePattern({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === "date-time" || jsonSchema.format === "date") delete jsonSchema.pattern;
}
