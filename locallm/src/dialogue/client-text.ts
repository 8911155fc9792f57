import type { PromptText } from "../wire/inference/generate.ts";
import { type PicturePlace, promptText, type TurnPrompt } from "./prompt-text.ts";
import type { Message, Tool, Turn } from "./turn.ts";

// Noncharacters of Unicode, which no text needs; the first one is escaped in texts that contain it.
const mark = "\ufdd0";
const itself = "\ufdd1";
const border = "\ufdd2";
const end = "\ufdd3";
const place = "\ufdd4";
const placeEnd = "\ufdd5";

/** Marks the end of a text that must be found again in the prompt. */
export const endMark = mark + end;

/** The texts that a vocabulary reads as control tokens, prepared for searching. */
export interface Markers {
  readonly texts: readonly string[];
  readonly pattern: RegExp | null;
  readonly firstChars: ReadonlySet<string>;
  readonly lastChars: ReadonlySet<string>;
  readonly longest: number;
}

export function markersOf(texts: readonly string[]): Markers {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  const source = longestFirst.map((text) => RegExp.escape(text)).join("|");
  return {
    texts,
    pattern: texts.length === 0 ? null : new RegExp(source, "g"),
    firstChars: new Set(texts.map((text) => text[0]!)),
    lastChars: new Set(texts.map((text) => text.at(-1)!)),
    longest: longestFirst[0]?.length ?? 0,
  };
}

/**
 * Returns the same turn with a border inside each control token that its texts contain. The template prints
 * borders like other characters, so they mark in the prompt where such texts are. Texts without control
 * tokens are unchanged. A template does not recognise its own control tokens in these texts, because the
 * client sent them.
 */
export function withBorders(turn: Turn, markers: Markers): Turn {
  const text = (value: string) => borderedText(value, markers);
  return {
    ...turn,
    messages: turn.messages.map((message) => borderedMessage(message, text)),
    tools: turn.tools.map((tool) => deep(tool, text) as Tool),
  };
}

export function borderedText(value: string, markers: Markers): string {
  const cuts = cutsIn(value, markers);
  if (cuts.length === 0) return escaped(value);
  return [0, ...cuts].map((from, index) => escaped(value.slice(from, cuts[index]))).join(mark + border);
}

/** Splits a template's output at the borders and removes the end marks. */
export function piecesOf(printed: string): string[] {
  if (!printed.includes(mark)) return [printed];
  const pieces = [""];
  for (const [index, part] of printed.split(mark).entries()) {
    if (index === 0) pieces[0] = part;
    else if (part.startsWith(border)) pieces.push(part.slice(1));
    else if (part.startsWith(end)) pieces[pieces.length - 1] += part.slice(1);
    else pieces[pieces.length - 1] += mark + (part.startsWith(itself) ? part.slice(1) : part);
  }
  return pieces;
}

/** Splits a template's output at the borders and at the places of pictures. */
export function promptOf(printed: string): TurnPrompt {
  const [first = "", ...rest] = printed.split(mark + place);
  if (rest.length === 0) return promptText(piecesOf(first));
  const parts: (PromptText | PicturePlace)[] = first === "" ? [] : [promptText(piecesOf(first))];
  for (const each of rest) {
    const digits = each.indexOf(placeEnd);
    parts.push({ picture: Number(each.slice(0, digits)) });
    const text = each.slice(digits + 1);
    if (text !== "") parts.push(promptText(piecesOf(text)));
  }
  return { parts };
}

/**
 * The text of a message with places, as llama.cpp's server writes it: texts are divided by line breaks, but not from
 * pictures.
 */
function placedContent(placed: readonly (string | number)[]): string {
  return placed
    .map((part, index) => {
      if (typeof part === "number") return `${mark}${place}${part}${placeEnd}`;
      return typeof placed[index - 1] === "string" ? `\n${part}` : part;
    })
    .join("");
}

function escaped(text: string): string {
  return text.includes(mark) ? text.replaceAll(mark, mark + itself) : text;
}

function borderedMessage(message: Message, text: (value: string) => string): Message {
  const { role, ...rest } = message;
  const { placed, ...bordered } = deep(rest, text) as Omit<Message, "role">;
  return { role, ...bordered, ...(placed === undefined ? {} : { content: placedContent(placed) }) };
}

/** Applies `text` to every string of a JSON value, including keys. */
function deep(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return value.map((item) => deep(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), deep(item, text)]));
}

/**
 * Returns a position inside each marker, and inside partial markers at both ends, which a neighbouring text
 * could complete.
 */
function cutsIn(text: string, markers: Markers): number[] {
  const cuts: number[] = [];
  const add = (cut: number) => {
    if (cut > 0 && cut < text.length && cut !== cuts.at(-1)) cuts.push(cut);
  };
  const head = headCut(text, markers);
  if (head !== null) add(head);
  const { pattern } = markers;
  if (pattern !== null) {
    pattern.lastIndex = 0;
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      pattern.lastIndex = found.index + 1;
      add(found.index + 1);
    }
  }
  const tail = tailCut(text, markers);
  for (const cut of tail) add(cut);
  return cuts.length < 2 ? cuts : [...new Set(cuts)].sort((a, b) => a - b);
}

/** A text that starts with the end of a marker could complete one that begins before it. */
function headCut(text: string, { texts, lastChars, longest }: Markers): number | null {
  for (let length = Math.min(longest - 1, text.length); length > 1; length--) {
    if (!lastChars.has(text[length - 1]!)) continue;
    const head = text.slice(0, length);
    if (texts.some((marker) => marker.length > length && marker.endsWith(head))) return length - 1;
  }
  return null;
}

/** A text that ends with the beginning of a marker could be completed by the text after it. */
function tailCut(text: string, { texts, firstChars, longest }: Markers): number[] {
  const cuts: number[] = [];
  for (let from = Math.max(0, text.length - longest + 1); from < text.length - 1; from++) {
    if (!firstChars.has(text[from]!)) continue;
    const tail = text.slice(from);
    if (texts.some((marker) => marker.length > tail.length && marker.startsWith(tail))) cuts.push(from + 1);
  }
  return cuts;
}
