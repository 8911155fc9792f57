import { content, type Reading, thought } from "../answer-piece.ts";
import { type Calls, readNamedCall, takeUpTo } from "../calls.ts";
import { type Cursor, more, takeMarker, upTo } from "../cursor.ts";
import type { ToolFormat } from "../tool-format.ts";

const ends = ["<|end|>", "<|return|>", "<|call|>", "<|start|>"];

/**
 * gpt-oss: every message is `<|channel|>name<|message|>text<|end|>`; `analysis` is thinking, `final` and plain
 * `commentary` are for the user, `to=functions.name` makes a call. Source: OpenAI's guide to the harmony
 * response format.
 */
export const harmony: ToolFormat = {
  name: "harmony",
  markers: [],
  shape: () => ({
    open: "<|channel|>commentary to=functions.",
    before: (name) => `${name} <|constrain|>json<|message|>`,
    after: "",
    between: null,
    close: "",
  }),
  // biome-ignore lint/correctness/useYield: the whole answer is read by readAll.
  *read() {
    return "";
  },
  *readAll(cursor, calls) {
    while (yield* more(cursor)) {
      const mark = yield* takeMarker(cursor, ["<|start|>", "<|channel|>", "<|message|>", ...ends]);
      // A prompt may end within a header, and a model may begin with plain text.
      if (mark === null && !(yield* isHeader(cursor))) yield* upTo(cursor, [...ends, "<|channel|>"], content);
      else if (mark === "<|message|>") yield* upTo(cursor, ends, content);
      else if (mark === "<|start|>" || mark === "<|channel|>" || mark === null)
        yield* readMessage(cursor, calls);
    }
  },
};

/** Reads `assistant<|channel|>…`, which follows if the prompt ended with `<|start|>`. */
function* isHeader(cursor: Cursor): Generator<undefined, boolean> {
  while (true) {
    if (cursor.text.startsWith("assistant")) return true;
    if (cursor.ended || !"assistant".startsWith(cursor.text)) return false;
    yield undefined;
  }
}

function* readMessage(cursor: Cursor, calls: Calls): Reading<void> {
  const header = yield* takeUpTo(cursor, "<|message|>");
  if (header === null) {
    cursor.take(cursor.text.length);
    return;
  }
  const recipient = /\bto=(?:functions\.)?([\w.-]+)/.exec(header.text)?.[1];
  const channel = /(?:<\|channel\|>|^)\s*(analysis|commentary|final)\b/.exec(header.text)?.[1];
  if (
    recipient !== undefined &&
    recipient !== "assistant" &&
    (yield* readNamedCall(cursor, calls, recipient))
  ) {
    yield* upTo(cursor, ends, content);
    return;
  }
  const isThought = channel === "analysis";
  yield* upTo(cursor, ends, isThought ? thought : content);
}
