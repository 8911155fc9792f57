import type { AnswerPiece, FinishedCall, Reading } from "./answer-piece.ts";
import { type Cursor, more } from "./cursor.ts";
import { asObject, parseJson, peek, takeJson, takeSpace, takeWholeJson } from "./json-text.ts";
import type { Tool } from "./turn.ts";

/**
 * The calls of one answer. This class numbers them, gives them ids, and knows which functions the model may
 * call.
 */
export class Calls {
  readonly tools: readonly Tool[];
  readonly #newId: () => string;
  #count = 0;

  constructor(tools: readonly Tool[], newId: () => string) {
    this.tools = tools;
    this.#newId = newId;
  }

  get count(): number {
    return this.#count;
  }

  offers(name: string): boolean {
    return this.tools.some((tool) => tool.function.name === name);
  }

  /** A call whose arguments arrive in one piece. */
  *whole(name: string, text: string, id?: string): Generator<AnswerPiece, void> {
    const call = this.start(name, id);
    yield call.begin;
    if (text !== "") yield call.part(text);
    yield call.end();
  }

  start(name: string, id = this.#newId()): StartedCall {
    const index = this.#count;
    this.#count += 1;
    return new StartedCall(index, id, name);
  }
}

class StartedCall {
  readonly begin: AnswerPiece;
  readonly #call: { index: number; id: string; name: string };
  #text = "";

  constructor(index: number, id: string, name: string) {
    this.#call = { index, id, name };
    this.begin = { kind: "call", ...this.#call };
  }

  part(text: string): AnswerPiece {
    this.#text += text;
    return { kind: "arguments", index: this.#call.index, text };
  }

  end(): AnswerPiece {
    const { index, id, name } = this.#call;
    const call: FinishedCall = { id, name, arguments: asObject(parseJson(this.#text)), text: this.#text };
    return { kind: "called", index, call };
  }
}

const nameKeys = ["name", "tool_name", "function", "tool"];
const argumentKeys = ["arguments", "parameters", "args", "input"];
const idKeys = ["id", "tool_call_id"];

/**
 * Reads `{"name": …, "arguments": {…}}` with its keys in any order and under any of their usual names, and
 * passes the arguments on as they arrive. Returns the text if it is not a call, and "" if it is one.
 */
export function* readCallObject(cursor: Cursor, calls: Calls, onlyOffered = false): Reading<string> {
  if ((yield* peek(cursor)) !== "{") return "";
  let raw = cursor.take(1);
  let name: string | null = null;
  let id: string | undefined;
  let early: string | null = null;
  let started: StartedCall | null = null;
  while (true) {
    raw += yield* takeSpace(cursor);
    const char = yield* peek(cursor);
    if (char === "}" || char === ",") {
      raw += cursor.take(1);
      if (char === ",") continue;
      break;
    }
    if (char !== '"') return started === null ? raw : yield* broken(started);
    const key = yield* takeWholeJson(cursor);
    raw += key.text + (yield* takeSpace(cursor));
    if ((yield* peek(cursor)) !== ":") return started === null ? raw : yield* broken(started);
    raw += cursor.take(1) + (yield* takeSpace(cursor));
    const field = String(parseJson(key.text));
    if (argumentKeys.includes(field) && name !== null && started === null && (yield* peek(cursor)) === "{") {
      if (onlyOffered && !calls.offers(name)) return raw;
      started = calls.start(name, id);
      yield started.begin;
      const end = yield* streamArguments(cursor, started);
      if (!end) return yield* broken(started);
      continue;
    }
    const value = yield* takeWholeJson(cursor);
    raw += value.text;
    if (!value.whole) return started === null ? raw : yield* broken(started);
    const parsed = parseJson(value.text);
    if (argumentKeys.includes(field)) early = typeof parsed === "string" ? parsed : value.text;
    else if (nameKeys.includes(field) && typeof parsed === "string") name = parsed;
    else if (idKeys.includes(field) && typeof parsed === "string") id = parsed;
    else if (field === "function" && asObject(parsed) !== null) {
      const inner = asObject(parsed)!;
      if (typeof inner["name"] === "string") name = inner["name"];
      const given = inner["arguments"] ?? inner["parameters"];
      early = typeof given === "string" ? given : JSON.stringify(given ?? {});
    }
  }
  if (started !== null) {
    yield started.end();
    return "";
  }
  if (name === null || (onlyOffered && !calls.offers(name))) return raw;
  yield* calls.whole(name, early ?? "{}", id);
  return "";
}

/** Ends a call whose text was cut off, with the part that arrived. */
function* broken(call: StartedCall): Reading<string> {
  yield call.end();
  return "";
}

/** Reads one JSON value as the arguments of a call. Returns false if the answer ends first. */
export function* streamArguments(cursor: Cursor, call: StartedCall): Reading<boolean> {
  const taking = takeJson(cursor);
  while (true) {
    const { value, done } = taking.next();
    if (done) return value.whole;
    yield value === undefined ? undefined : call.part(value.json);
  }
}

/** Reads the JSON arguments of a call whose name is known. Returns false if no JSON object follows. */
export function* readNamedCall(cursor: Cursor, calls: Calls, name: string, id?: string): Reading<boolean> {
  yield* takeSpace(cursor);
  if ((yield* peek(cursor)) !== "{") return false;
  const call = calls.start(name, id);
  yield call.begin;
  yield* streamArguments(cursor, call);
  yield call.end();
  return true;
}

/** Reads `[{…}, {…}]`, or one object without brackets. Returns the text if it is not a call. */
export function* readCallList(cursor: Cursor, calls: Calls): Reading<string> {
  const space = yield* takeSpace(cursor);
  if ((yield* peek(cursor)) === "{") {
    const rest = yield* readCallObject(cursor, calls);
    return rest === "" ? "" : space + rest;
  }
  if ((yield* peek(cursor)) !== "[") return space;
  let raw = space + cursor.take(1);
  while (yield* more(cursor)) {
    raw += yield* takeSpace(cursor);
    const char = yield* peek(cursor);
    if (char === "]") {
      raw += cursor.take(1);
      return calls.count > 0 ? "" : raw;
    }
    if (char === ",") raw += cursor.take(1);
    else if (char === "{") {
      const rest = yield* readCallObject(cursor, calls);
      if (rest !== "") return raw + rest;
      raw = "";
    } else return raw.trim() === "" || raw.trim() === "," ? "" : raw;
  }
  return calls.count > 0 ? "" : raw;
}

/** Takes the text up to and including a marker. Returns null and takes nothing if the answer ends first. */
export function* takeUpTo(
  cursor: Cursor,
  marker: string | readonly string[],
): Generator<undefined, { text: string; marker: string } | null> {
  const markers = [marker].flat();
  while (true) {
    const found = markers
      .map((each) => ({ each, at: cursor.text.indexOf(each) }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at || b.each.length - a.each.length)[0];
    if (found !== undefined) {
      const text = cursor.take(found.at);
      cursor.take(found.each.length);
      return { text, marker: found.each };
    }
    if (cursor.ended) return null;
    yield undefined;
  }
}
