import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import { asObject, jsonOf } from "./json-body.ts";

/** A part of a tool call as engines send it: any field may be missing. */
export interface CallPart {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** The next part of the arguments, or all of them. */
  readonly text: string;
}

const maxCalls = 256;
const maxChars = 8 * 1024 * 1024;

/**
 * Puts the parts of an answer's tool calls in order: our APIs send one call after the other, while an engine may mix
 * them, leave out ids and indices, or repeat them. The first open call is passed on as it arrives; the parts of others
 * wait until it is complete.
 */
export class RemoteCalls {
  readonly #newId: () => string;
  readonly #ids = new Set<string>();
  /** The first one is passed on as it arrives. */
  readonly #open: Call[] = [];
  #count = 0;
  #chars = 0;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  get count(): number {
    return this.#count + this.#open.length;
  }

  /** Throws a RangeError if the answer has too many calls, or calls that are too long. */
  push(part: CallPart): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    this.#chars += part.text.length;
    if (this.#chars > maxChars) throw new RangeError(`its tool calls are longer than ${maxChars} characters`);
    let call = this.#find(part);
    if (call === undefined) {
      if (!part.name && part.text.trim() === "") return [];
      if (this.count >= maxCalls) throw new RangeError(`it has more than ${maxCalls} tool calls`);
      // An engine that begins the next call has usually finished the one before.
      if (this.#open.length === 1 && this.#open[0]!.isComplete) pieces.push(...this.#finish());
      call = new Call(part, this.#freshId(part.id));
      this.#open.push(call);
    }
    call.add(part);
    if (call === this.#open[0]) pieces.push(...call.pass(this.#count));
    return pieces;
  }

  /** Completes all calls, because the answer ends or continues with text. */
  end(): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    while (this.#open.length > 0) pieces.push(...this.#finish());
    return pieces;
  }

  #find({ index, id, name }: CallPart): Call | undefined {
    const last = this.#open.at(-1);
    if (id) {
      const same = this.#open.find((call) => call.givenId === id && isSame(call.index, index));
      // Some engines repeat the id in every part, and some give every call the index 0.
      if (same !== undefined || name) return same;
    }
    const found = index === undefined ? last : this.#open.findLast((call) => call.index === index);
    if (!name || found === undefined || found.name === "") return found;
    // The name is repeated in each part, or the next call of the same index begins.
    return found.name === name && !found.isComplete ? found : undefined;
  }

  #finish(): AnswerPiece[] {
    const call = this.#open.shift()!;
    // Parts that come after the end of their call have no name.
    if (call.name === "") return [];
    const pieces = call.finish(this.#count);
    this.#count += 1;
    return pieces;
  }

  #freshId(given: string | undefined): string {
    const id = !given || this.#ids.has(given) ? this.#newId() : given;
    this.#ids.add(id);
    return id;
  }
}

class Call {
  readonly index: number | undefined;
  readonly givenId: string | undefined;
  readonly #id: string;
  name = "";
  #text = "";
  /** The text that was not passed on yet. */
  #waiting = "";
  #isBegun = false;
  readonly #braces = new Braces();

  constructor({ index, id }: CallPart, ownId: string) {
    this.index = index;
    this.givenId = id;
    this.#id = ownId;
  }

  get isComplete(): boolean {
    return this.#braces.areClosed;
  }

  add({ name, text }: CallPart): void {
    if (this.name === "") this.name = name ?? "";
    this.#text += text;
    this.#waiting += text;
    this.#braces.push(text);
  }

  pass(index: number): AnswerPiece[] {
    if (this.name === "") return [];
    const pieces: AnswerPiece[] = [];
    if (!this.#isBegun) pieces.push({ kind: "call", index, id: this.#id, name: this.name });
    if (this.#waiting !== "") pieces.push({ kind: "arguments", index, text: this.#waiting });
    this.#isBegun = true;
    this.#waiting = "";
    return pieces;
  }

  finish(index: number): AnswerPiece[] {
    // Some engines send no text for a function without parameters.
    if (this.#text.trim() === "") this.add({ text: "{}" });
    const pieces = this.pass(index);
    const parsed = asObject(jsonOf(Buffer.from(this.#text)));
    const call = { id: this.#id, name: this.name, arguments: parsed, text: this.#text };
    return [...pieces, { kind: "called", index, call }];
  }
}

/** Follows the nesting of a JSON text, so that its end is known without parsing it again. */
class Braces {
  #depth = 0;
  #hasOpened = false;
  #inString = false;
  #isEscaped = false;

  get areClosed(): boolean {
    return this.#hasOpened && this.#depth === 0;
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (char === backslash) this.#isEscaped = true;
        else if (char === quote) this.#inString = false;
      } else if (char === quote) this.#inString = true;
      else if (char === openBrace) {
        this.#depth++;
        this.#hasOpened = true;
      } else if (char === closeBrace) this.#depth--;
    }
  }
}

function isSame(known: number | undefined, given: number | undefined): boolean {
  return known === undefined || given === undefined || known === given;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
