import type { Tool, ToolChoice } from "../../dialogue/turn.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ResponsesRequest } from "../../wire/openai/responses.ts";

type WireTool = NonNullable<ResponsesRequest["tools"]>[number];

/** The tools that a model here may call, made from those of a request. */
export interface ResponsesTools {
  readonly tools: readonly Tool[];
  /** Names of the tools whose calls carry a text instead of arguments. */
  readonly customs: ReadonlySet<string>;
  /** Fields without effect. */
  readonly ignored: readonly string[];
}

/**
 * Reads functions and custom tools. Leaves out tools that run at OpenAI (`web_search`, `mcp`, `image_generation`)
 * and kinds that are not known here (`namespace`), as Ollama does: programs offer them without needing them.
 */
export function readTools({ tools: given = [], tool_choice: choice }: ResponsesRequest): ResponsesTools {
  const allowed = typeof choice === "object" && choice.type === "allowed_tools" ? choice.tools : undefined;
  const names = allowed === undefined ? null : new Set(allowed.map(({ name }) => name));
  const tools: Tool[] = [];
  const customs = new Set<string>();
  const ignored: string[] = [];
  for (const [index, tool] of given.entries()) {
    const field = `tools[${index}]`;
    if (tool.type !== "function" && tool.type !== "custom") {
      ignored.push(`${field}.type=${tool.type.slice(0, 40)}`);
      continue;
    }
    if (tool.name === undefined)
      throw new LocallmError("invalid_field", { field: `${field}.name`, problem: "is required" });
    if (names !== null && !names.has(tool.name)) continue;
    if (tool.type === "function") tools.push(functionTool(tool.name, tool));
    else {
      tools.push(customTool(tool.name, tool));
      customs.add(tool.name);
      if (tool.format?.type === "grammar") ignored.push(`${field}.format`);
    }
  }
  return { tools, customs, ignored };
}

/** Choices of a tool that was left out become `auto`. */
export function toolChoiceOf(choice: ResponsesRequest["tool_choice"]): {
  readonly choice: ToolChoice;
  readonly ignored: readonly string[];
} {
  if (choice === undefined) return { choice: { kind: "auto" }, ignored: [] };
  if (typeof choice === "string") return { choice: { kind: choice }, ignored: [] };
  switch (choice.type) {
    case "function":
    case "custom":
      if (choice.name === undefined)
        throw new LocallmError("invalid_field", { field: "tool_choice.name", problem: "is required" });
      return { choice: { kind: "named", name: choice.name }, ignored: [] };
    case "allowed_tools":
      return { choice: { kind: choice.mode ?? "auto" }, ignored: [] };
    default:
      return { choice: { kind: "auto" }, ignored: ["tool_choice"] };
  }
}

function functionTool(name: string, { description, parameters }: WireTool): Tool {
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    },
  };
}

/**
 * A custom tool takes a text. Models call functions only, so it becomes a function with one text. Its grammar, in
 * Lark or as a regular expression, is told to the model; it does not bind what the model writes.
 */
function customTool(name: string, { description, format }: WireTool): Tool {
  const { syntax = "lark", definition } = format?.type === "grammar" ? format : {};
  const rule =
    definition === undefined
      ? "The text for the tool."
      : `The text for the tool. It must match this ${syntax === "regex" ? "regular expression" : `${syntax} grammar`}:\n${definition}`;
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: {
        type: "object",
        properties: { [customInput]: { type: "string", description: rule } },
        required: [customInput],
      },
    },
  };
}

/** The parameter of the function that stands for a custom tool. */
export const customInput = "input";

/** The text in a custom tool's arguments, or the arguments themselves where the model wrote something else. */
export function customText(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    const text = typeof value === "object" && value !== null ? Reflect.get(value, customInput) : value;
    if (typeof text === "string") return text;
  } catch {}
  return args;
}
