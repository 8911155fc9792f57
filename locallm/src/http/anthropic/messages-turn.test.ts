import { expect, it } from "vitest";
import { countTokensRequest } from "../../wire/anthropic/messages.ts";
import { checkBody } from "../../wire/body.ts";
import { messagesTurn } from "./messages-turn.ts";

const none = (): never => {
  throw new Error("there is no image");
};
const noMedia = Object.assign(none, { sound: none });

it("reads search results as text, and leaves out what ran at Anthropic", () => {
  const source = "https://example.com/a";
  const found = { type: "search_result", source, title: "A", content: [{ type: "text", text: "word" }] };
  const messages = [
    { role: "user", content: [found] },
    {
      role: "assistant",
      content: [
        { type: "server_tool_use", id: "a", name: "web_search", input: {} },
        { type: "web_search_tool_result", tool_use_id: "a", content: [] },
        { type: "text", text: "seen" },
      ],
    },
    { role: "user", content: "go on" },
  ];
  const { body } = checkBody(countTokensRequest, { model: "m", messages });
  const { turn, ignored } = messagesTurn(body, noMedia);
  expect(turn.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", expect.stringMatching(/^A\s+https:\/\/example\.com\/a\s+word$/)],
    ["assistant", "seen"],
    ["user", "go on"],
  ]);
  expect(ignored).toEqual([
    "messages[1].content[0].type=server_tool_use",
    "messages[1].content[1].type=web_search_tool_result",
  ]);
});
