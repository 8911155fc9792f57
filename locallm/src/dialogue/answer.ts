import { Cursor, more, skipSpace, takeMarker, upTo } from "./cursor.ts";
import type { ThinkingTags } from "./thinking.ts";

/** A part of an answer, in the order the model wrote it. */
export type AnswerPiece =
  | { readonly kind: "content" | "thinking"; readonly text: string }
  /** A tool call begins; `index` counts from 0. */
  | { readonly kind: "call"; readonly index: number; readonly id: string; readonly name: string }
  /** The next part of its arguments, as JSON text. */
  | { readonly kind: "arguments"; readonly index: number; readonly text: string }
  /** The call is whole; `arguments` is null where the model's text was cut or is no JSON object. */
  | { readonly kind: "called"; readonly index: number; readonly call: FinishedCall };

export interface FinishedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** The arguments as the model wrote them. */
  readonly text: string;
}

/** Splits a model's text as it arrives. Any split of the same text gives the same parts. */
export interface AnswerReader {
  push(text: string): AnswerPiece[];
  /** What was held back. Call once, when the model has ended. */
  end(): AnswerPiece[];
}

export interface AnswerSyntax {
  readonly thinking: ThinkingTags | null;
  /** The prompt ended inside the thinking. */
  readonly open: boolean;
}

export function createReader(syntax: AnswerSyntax): AnswerReader {
  const cursor = new Cursor();
  const reading = readAnswer(cursor, syntax);
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
  };
}

type Reading = Generator<AnswerPiece | undefined, void>;

const content = (text: string): AnswerPiece => ({ kind: "content", text });
const thought = (text: string): AnswerPiece => ({ kind: "thinking", text });

function* readAnswer(cursor: Cursor, { thinking, open }: AnswerSyntax): Reading {
  if (thinking !== null && (open || (yield* opensThinking(cursor, thinking)))) {
    yield* skipSpace(cursor);
    yield* upTo(cursor, [thinking.close], thought);
    yield* skipSpace(cursor);
  }
  while (yield* more(cursor)) yield* upTo(cursor, [], content);
}

function* opensThinking(cursor: Cursor, { open }: ThinkingTags): Generator<AnswerPiece | undefined, boolean> {
  let space = "";
  while (yield* more(cursor)) {
    const length = cursor.text.length - cursor.text.trimStart().length;
    space += cursor.take(length);
    if (cursor.text !== "") break;
  }
  if ((yield* takeMarker(cursor, [open])) !== null) return true;
  if (space !== "") yield content(space);
  return false;
}
