import type { Reading } from "../answer-piece.ts";
import { type Calls, readCallObject, readNamedCall, takeUpTo } from "../calls.ts";
import type { Cursor } from "../cursor.ts";
import { takeMarker } from "../cursor.ts";
import { peek, takeSpace } from "../json-text.ts";
import type { ToolFormat } from "../tool-format.ts";
import { readPythonCalls } from "./python-calls.ts";

/**
 * Llama 3.1 and later: a whole answer of `{"name": …, "parameters": {…}}`, with or without `<|python_tag|>`, several
 * separated by `;`; `<function=name>{…}</function>`; from 3.2 on also `[name(key=value)]`. Source: Meta's prompt format
 * pages for Llama 3.1, 3.2 and 3.3.
 */
export const llama3: ToolFormat = {
  name: "llama3",
  markers: ["<|python_tag|>", "<function="],
  silent: ["<|eom_id|>", "<|eot_id|>"],
  shape: () => ({
    open: "",
    before: (name) => `{"name": ${JSON.stringify(name)}, "parameters": `,
    after: "}",
    between: "; ",
    close: "",
  }),
  *read(cursor, calls, marker) {
    if (marker === "<function=") {
      const name = yield* takeUpTo(cursor, ">");
      if (name === null) return marker;
      if (!(yield* readNamedCall(cursor, calls, name.text.trim()))) return `${marker}${name.text}>`;
      yield* takeSpace(cursor);
      yield* takeMarker(cursor, ["</function>"]);
      return "";
    }
    const rest = yield* readObjects(cursor, calls, false);
    return rest === null ? marker : rest;
  },
  *readStart(cursor, calls) {
    const first = yield* peek(cursor);
    if (first === "[") return yield* readPythonCalls(cursor, calls);
    return first === "{" ? ((yield* readObjects(cursor, calls, true)) ?? "") : "";
  },
};

/** Returns null if no object follows. */
function* readObjects(cursor: Cursor, calls: Calls, onlyOffered: boolean): Reading<string | null> {
  let read = false;
  while (true) {
    const space = yield* takeSpace(cursor);
    if ((yield* peek(cursor)) !== "{") return read ? "" : space === "" ? null : space;
    const rest = yield* readCallObject(cursor, calls, onlyOffered);
    if (rest !== "") return rest;
    read = true;
    yield* takeSpace(cursor);
    yield* takeMarker(cursor, [";"]);
  }
}
