import { readCallObject, takeUpTo } from "../calls.ts";
import { takeMarker } from "../cursor.ts";
import { peek, takeSpace } from "../json-text.ts";
import { typedValue } from "../schema-value.ts";
import type { ToolFormat } from "../tool-format.ts";

/**
 * `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, one per call: Hermes 2 Pro and 3, Qwen 2.5 and 3, SmolLM3 and
 * many others. Qwen3-Coder writes `<function=name><parameter=key>value</parameter></function>` between the same tags.
 * Sources: the Hermes function calling repository; Qwen's documentation of function calling; the model card of
 * Qwen3-Coder.
 */
export const hermes: ToolFormat = {
  name: "hermes",
  markers: ["<tool_call>"],
  shape: () => ({
    open: "<tool_call>\n",
    before: (name) => `{"name": ${JSON.stringify(name)}, "arguments": `,
    after: "}\n</tool_call>",
    between: "\n<tool_call>\n",
    close: "",
  }),
  *read(cursor, calls, marker) {
    const space = yield* takeSpace(cursor);
    if ((yield* takeMarker(cursor, ["<function="])) !== null) {
      const name = yield* takeUpTo(cursor, ">");
      if (name === null) return `${marker}${space}<function=`;
      // The object has no prototype, because the model may choose any parameter name.
      const given = Object.create(null) as Record<string, unknown>;
      const text = yield* readParameters(given, name.text.trim());
      yield* calls.whole(name.text.trim(), text);
    } else if ((yield* peek(cursor)) === "{") {
      const rest = yield* readCallObject(cursor, calls);
      if (rest !== "") return marker + space + rest;
    } else return marker + space;
    yield* takeSpace(cursor);
    yield* takeMarker(cursor, ["</tool_call>"]);
    return "";

    function* readParameters(given: Record<string, unknown>, tool: string): Generator<undefined, string> {
      while (true) {
        yield* takeSpace(cursor);
        const next = yield* takeMarker(cursor, ["<parameter=", "</function>"]);
        if (next !== "<parameter=") return JSON.stringify(given);
        const key = yield* takeUpTo(cursor, ">");
        const value = key === null ? null : yield* takeUpTo(cursor, "</parameter>");
        if (key === null || value === null) return JSON.stringify(given).slice(0, -1);
        const text = value.text.replace(/^\n/, "").replace(/\n$/, "");
        given[key.text.trim()] = typedValue(calls.tools, tool, key.text.trim(), text);
      }
    }
  },
};
