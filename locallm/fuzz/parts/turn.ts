import type { Turn } from "../../src/dialogue/turn.ts";

/** A conversation with everything that a template may read. */
export const fullTurn: Turn = {
  messages: [
    { role: "system", content: "Answer briefly." },
    { role: "user", content: "Weather in Rome & <Oslo>?" },
    {
      role: "assistant",
      content: "",
      thinking: "They want to know.",
      tool_calls: [
        { id: "call_1", function: { index: 0, name: "weather", arguments: { city: "Rome", days: 1.5 } } },
      ],
    },
    { role: "tool", content: "12 °C", tool_name: "weather", tool_call_id: "call_1" },
    { role: "user", content: "Thanks 🎉" },
  ],
  tools: [
    {
      type: "function",
      function: {
        name: "weather",
        description: "Weather of a city",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    },
  ],
  toolChoice: { kind: "auto" },
  severalCalls: true,
  think: true,
  format: null,
};
