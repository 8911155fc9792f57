import { randomInt } from "node:crypto";
import { type AnswerPiece, content, type Reading, thought } from "./answer-piece.ts";
import { Calls } from "./calls.ts";
import { Cursor, more, skipSpace, takeMarker, upTo } from "./cursor.ts";
import { takeSpace } from "./json-text.ts";
import type { ThinkingTags } from "./thinking.ts";
import type { ToolFormat } from "./tool-format.ts";
import type { Tool } from "./turn.ts";

export type { AnswerPiece } from "./answer-piece.ts";

/**
 * Splits a model's text into pieces as it arrives. The pieces do not depend on how the text was split on
 * arrival.
 */
export interface AnswerReader {
  push(text: string): AnswerPiece[];
  /** Returns the text that was held back. Call it once, at the end of the answer. */
  end(): AnswerPiece[];
  /** What the next text becomes, or null if that depends on the text. */
  plain(): PlainText | null;
}

/**
 * Text in which none of the markers occurs or may begin, and that does not end with white space if there are any,
 * becomes one piece of this kind.
 */
export interface PlainText {
  readonly kind: "content" | "thinking";
  readonly markers: readonly string[];
}

export interface AnswerSyntax {
  readonly thinking: ThinkingTags | null;
  /** Whether the prompt ends inside the model's thinking. */
  readonly open: boolean;
  readonly format: ToolFormat | null;
  /** The functions that the model may call; if empty, nothing is read as a call. */
  readonly tools: readonly Tool[];
  /** Creates ids for calls that have none. */
  readonly newId?: () => string;
}

export function createReader(syntax: AnswerSyntax): AnswerReader {
  const cursor = new Cursor();
  const newId = syntax.newId ?? (() => randomId(syntax.format?.id));
  const reading = readAnswer(cursor, syntax, new Calls(syntax.tools, newId));
  const run = () => {
    const pieces: AnswerPiece[] = [];
    while (true) {
      const { value, done } = reading.next();
      if (done || value === undefined) return pieces;
      pieces.push(value);
    }
  };
  return {
    push: (text) => {
      cursor.text += text;
      return run();
    },
    end: () => {
      cursor.ended = true;
      return run();
    },
    plain: () => {
      if (cursor.plain === null) return null;
      const { piece, markers } = cursor.plain;
      return { kind: piece === thought ? "thinking" : "content", markers };
    },
  };
}

function* readAnswer(
  cursor: Cursor,
  { thinking, open, format, tools }: AnswerSyntax,
  calls: Calls,
): Reading<void> {
  if (format?.readAll !== undefined) {
    yield* format.readAll(cursor, calls);
    return;
  }
  if (thinking !== null && (open || (yield* opensThinking(cursor, thinking)))) {
    yield* skipSpace(cursor);
    yield* upTo(cursor, [thinking.close], thought);
    yield* skipSpace(cursor);
  }
  const mayCall = format !== null && tools.length > 0;
  if (mayCall && format.readStart !== undefined) {
    const space = yield* takeSpace(cursor);
    const rest = yield* format.readStart(cursor, calls);
    if (calls.count === 0 && space + rest !== "") yield content(space + rest);
    if (calls.count > 0) yield* skipSpace(cursor);
  }
  const silent = format?.silent ?? [];
  const markers = [...(mayCall ? format.markers : []), ...silent];
  while (yield* more(cursor)) {
    const found = yield* upTo(cursor, markers, content);
    if (found === null || format === null) return;
    if (silent.includes(found.marker)) continue;
    const rest = yield* format.read(cursor, calls, found.marker);
    if (rest === "") yield* skipSpace(cursor);
    else yield content(found.space + rest);
  }
}

/** Drops white space before the tag. If no tag follows, the white space belongs to the answer. */
function* opensThinking(cursor: Cursor, { open }: ThinkingTags): Reading<boolean> {
  const space = yield* takeSpace(cursor);
  if ((yield* takeMarker(cursor, [open])) !== null) return true;
  if (space !== "") yield content(space);
  return false;
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

function randomId({ prefix, length } = { prefix: "call_", length: 8 }): string {
  return prefix + Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
