import { asObject, parseJson } from "./json-text.ts";
import type { Tool } from "./turn.ts";

/**
 * Converts a value that a model wrote as bare text to the type in the tool's schema. Strings stay text, other
 * types are parsed as JSON.
 */
export function typedValue(tools: readonly Tool[], toolName: string, key: string, text: string): unknown {
  const schema = tools.find((tool) => tool.function.name === toolName)?.function.parameters;
  const property = asObject(asObject(schema?.["properties"])?.[key]);
  if (property?.["type"] === "string") return text;
  const parsed = parseJson(text.trim());
  return parsed === undefined ? text : parsed;
}
