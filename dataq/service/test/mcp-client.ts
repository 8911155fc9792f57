import { registerHooks } from "node:module";
import type { JsonSchemaType, JsonSchemaValidator } from "@modelcontextprotocol/client";

// Packages that the official client needs offer their TypeScript under the condition "source", which tests run our
// own packages with.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      /^eventsource/.test(specifier) ? { ...context, conditions: ["node", "import"] } : context,
    ),
});

export const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
export const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");

/** The client's own validator. To compile the schemas of all tools takes it half a second, so all clients share them. */
class SharedValidator extends AjvJsonSchemaValidator {
  readonly #compiled = new Map<string, JsonSchemaValidator<unknown>>();

  override getValidator<Answer>(schema: JsonSchemaType): JsonSchemaValidator<Answer> {
    const key = JSON.stringify(schema);
    const known = this.#compiled.get(key) ?? super.getValidator(schema);
    this.#compiled.set(key, known);
    return known as JsonSchemaValidator<Answer>;
  }
}

export const jsonSchemaValidator = new SharedValidator();
