import { readCallList } from "../calls.ts";
import { takeMarker } from "../cursor.ts";
import { takeSpace } from "../json-text.ts";
import type { ToolFormat } from "../tool-format.ts";

/**
 * Command R7B and A: `<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]<|END_ACTION|>`;
 * Command R: `Action:` and a fenced JSON list. Source: Cohere's documentation of tool use and the model cards.
 */
export const commandR: ToolFormat = {
  name: "command-r",
  markers: ["<|START_ACTION|>", "Action: ```json", "Action:```json"],
  silent: ["<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"],
  shape: (template) => {
    const isNew = template.includes("<|START_ACTION|>");
    return {
      open: isNew ? "<|START_ACTION|>[\n    " : "Action: ```json\n[\n    ",
      before: (name) =>
        `{${isNew ? '"tool_call_id": "0", ' : ""}"tool_name": ${JSON.stringify(name)}, "parameters": `,
      after: "}",
      between: isNew ? null : ",\n    ",
      close: isNew ? "\n]<|END_ACTION|>" : "\n]```",
    };
  },
  *read(cursor, calls, marker) {
    const rest = yield* readCallList(cursor, calls);
    if (rest !== "") return marker + rest;
    yield* takeSpace(cursor);
    yield* takeMarker(cursor, ["<|END_ACTION|>", "```"]);
    return "";
  },
};
