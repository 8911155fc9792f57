import { readCallList, readNamedCall, takeUpTo } from "../calls.ts";
import { peek, takeSpace } from "../json-text.ts";
import type { ToolFormat } from "../tool-format.ts";

/**
 * `[TOOL_CALLS] [{"name": …, "arguments": {…}}]` (tokenizers v2 to v7), and from v11 on, once per call,
 * `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`, the id optional. Source: Mistral's mistral-common (its instruct
 * tokenizers and their documentation).
 */
export const mistral: ToolFormat = {
  name: "mistral",
  markers: ["[TOOL_CALLS]"],
  silent: ["</s>"],
  id: { prefix: "", length: 9 },
  shape: (template) =>
    template.includes("[ARGS]")
      ? {
          open: "[TOOL_CALLS]",
          before: (name) => `${name}[ARGS]`,
          after: "",
          between: "[TOOL_CALLS]",
          close: "",
        }
      : {
          open: "[TOOL_CALLS] [",
          before: (name) => `{"name": ${JSON.stringify(name)}, "arguments": `,
          after: "}",
          between: ", ",
          close: "]",
        },
  *read(cursor, calls, marker) {
    const space = yield* takeSpace(cursor);
    const first = yield* peek(cursor);
    if (first === "[" || first === "{") {
      const rest = yield* readCallList(cursor, calls);
      return rest === "" ? "" : marker + space + rest;
    }
    const name = yield* takeUpTo(cursor, ["[ARGS]", "[CALL_ID]", "{", "\n"]);
    if (name === null || name.marker === "\n")
      return marker + space + (name === null ? "" : `${name.text}\n`);
    if (name.marker === "{") cursor.text = `{${cursor.text}`;
    const id = name.marker === "[CALL_ID]" ? yield* takeUpTo(cursor, "[ARGS]") : null;
    if (!(yield* readNamedCall(cursor, calls, name.text.trim(), id?.text.trim())))
      return (
        marker + space + name.text + (name.marker === "{" ? "" : name.marker) + (id === null ? "" : id.text)
      );
    return "";
  },
};
