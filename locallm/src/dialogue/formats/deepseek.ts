import { readNamedCall, takeUpTo } from "../calls.ts";
import { takeMarker } from "../cursor.ts";
import { peek, takeSpace } from "../json-text.ts";
import type { ToolFormat } from "../tool-format.ts";

const callsBegin = "<｜tool▁calls▁begin｜>";
const callBegin = "<｜tool▁call▁begin｜>";
const separator = "<｜tool▁sep｜>";

/**
 * V3 and R1: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, a line break and the arguments in a fenced JSON
 * block; V3.1: `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}`. Source: DeepSeek's model cards and the chat
 * templates they describe.
 */
export const deepseek: ToolFormat = {
  name: "deepseek",
  markers: [callsBegin, callBegin],
  silent: ["<｜tool▁calls▁end｜>"],
  shape: (template) => {
    const fenced = template.includes("```json");
    return {
      open: `${callsBegin}${callBegin}`,
      before: (name) => (fenced ? `function${separator}${name}\n\`\`\`json\n` : `${name}${separator}`),
      after: fenced ? "\n```<｜tool▁call▁end｜>" : "<｜tool▁call▁end｜>",
      between: fenced ? `\n${callBegin}` : callBegin,
      close: "<｜tool▁calls▁end｜>",
    };
  },
  *read(cursor, calls, marker) {
    if (marker === callsBegin) {
      yield* takeSpace(cursor);
      if ((yield* takeMarker(cursor, [callBegin])) === null) return marker;
    }
    const head = yield* takeUpTo(cursor, separator);
    if (head === null) return marker;
    let name = head.text.trim();
    let before = `${marker}${head.text}${separator}`;
    if ((yield* peek(cursor)) !== "{") {
      const line = yield* takeUpTo(cursor, "\n");
      if (line === null) return before;
      name = line.text.trim();
      before += `${line.text}\n`;
      yield* takeSpace(cursor);
      yield* takeMarker(cursor, ["```json"]);
    }
    if (!(yield* readNamedCall(cursor, calls, name))) return before;
    yield* takeSpace(cursor);
    yield* takeMarker(cursor, ["```"]);
    yield* takeSpace(cursor);
    yield* takeMarker(cursor, ["<｜tool▁call▁end｜>"]);
    return "";
  },
};
