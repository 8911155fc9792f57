import { readCallList } from "../calls.ts";
import { takeMarker } from "../cursor.ts";
import { peek, takeSpace } from "../json-text.ts";
import type { ToolFormat } from "../tool-format.ts";

/** Calls as JSON between the marks that a template prints around them. */
export function genericFormat(open: string, close: string, argumentsKey = "arguments"): ToolFormat {
  const closing = close === "" ? [] : [close];
  return {
    name: "generic",
    markers: open === "" ? [] : [open],
    silent: closing,
    shape: () => ({
      open,
      before: (name) => `{"name": ${JSON.stringify(name)}, ${JSON.stringify(argumentsKey)}: `,
      after: `}${close}`,
      between: open === "" ? null : `\n${open}`,
      close: "",
    }),
    *read(cursor, calls, marker) {
      const rest = yield* readCallList(cursor, calls);
      if (rest !== "") return marker + rest;
      yield* takeSpace(cursor);
      yield* takeMarker(cursor, closing);
      return "";
    },
    ...(open === ""
      ? {
          *readStart(cursor, calls) {
            const first = yield* peek(cursor);
            return first === "{" || first === "[" ? yield* readCallList(cursor, calls) : "";
          },
        }
      : {}),
  };
}
