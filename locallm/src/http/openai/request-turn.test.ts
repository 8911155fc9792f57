import { expect, it } from "vitest";
import { checkBody } from "../../wire/body.ts";
import { chatCompletionsRequest } from "../../wire/openai/chat-completions.ts";
import { requestTurn } from "./request-turn.ts";

const none = (): never => {
  throw new Error("there is no image");
};
const noMedia = Object.assign(none, { sound: none });

function turnOf(more: object) {
  const body = { model: "m", messages: [{ role: "user", content: "hi" }], ...more };
  return requestTurn(checkBody(chatCompletionsRequest, body).body, noMedia);
}

const lookup = { type: "function", function: { name: "lookup" } };
const erase = { type: "function", function: { name: "erase" } };

it("offers only the allowed tools", () => {
  const allowed_tools = { mode: "required", tools: [lookup] };
  const { turn } = turnOf({
    tools: [lookup, erase],
    tool_choice: { type: "allowed_tools", allowed_tools },
  });
  expect(turn.tools.map((tool) => tool.function.name)).toEqual(["lookup"]);
  expect(turn.toolChoice).toEqual({ kind: "required" });
});

it("leaves a custom tool out, and lets the model choose where it was to be called", () => {
  const custom = { type: "custom", custom: { name: "shell" } };
  const { turn, ignored } = turnOf({ tools: [custom, lookup], tool_choice: custom });
  expect([turn.tools.length, turn.toolChoice, ignored]).toEqual([
    1,
    { kind: "auto" },
    ["tools[0].type=custom", "tool_choice"],
  ]);
});

it("reads calls of custom tools and the older form of a call, each with its result", () => {
  const { turn } = turnOf({
    messages: [
      {
        role: "assistant",
        tool_calls: [{ id: "a", type: "custom", custom: { name: "shell", input: "ls" } }],
      },
      { role: "tool", tool_call_id: "a", content: "note.txt" },
      { role: "assistant", content: null, function_call: { name: "lookup", arguments: '{"city":"Oslo"}' } },
      { role: "function", name: "lookup", content: "21" },
    ],
  });
  expect(turn.messages).toMatchObject([
    { tool_calls: [{ id: "a", function: { name: "shell", arguments: { input: "ls" } } }] },
    { role: "tool", tool_name: "shell", content: "note.txt" },
    { tool_calls: [{ function: { index: 0, name: "lookup", arguments: { city: "Oslo" } } }] },
    { role: "tool", tool_name: "lookup", content: "21" },
  ]);
});
