import { asObject, parseJson } from "./json-text.ts";
import type { Tool } from "./turn.ts";

/** A value that a model wrote as bare text, converted to the type in the tool's schema: text for strings, else JSON. */
export function typedValue(tools: readonly Tool[], toolName: string, key: string, text: string): unknown {
  const schema = tools.find((tool) => tool.function.name === toolName)?.function.parameters;
  const property = asObject(asObject(schema?.["properties"])?.[key]);
  if (property?.["type"] === "string") return text;
  const parsed = parseJson(text.trim());
  return parsed === undefined ? text : parsed;
}
