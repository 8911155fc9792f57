import type { Tool, ToolChoice } from "../dialogue/turn.ts";
import { LocallmError } from "../wire/errors.ts";

/** Rejects a choice that the request's tools cannot satisfy. */
export function checkedChoice(choice: ToolChoice, tools: readonly Tool[]): ToolChoice {
  const mustCall = choice.kind === "required" || choice.kind === "named";
  if (mustCall && tools.length === 0)
    throw new LocallmError("invalid_field", { field: "tool_choice", problem: "needs tools to choose from" });
  if (choice.kind === "named" && !tools.some((tool) => tool.function.name === choice.name))
    throw new LocallmError("invalid_field", {
      field: "tool_choice",
      problem: `names "${choice.name}", which is not in tools`,
    });
  return choice;
}
