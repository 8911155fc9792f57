import type { Bilingual } from "@dataq/contract";
import { messages } from "./messages.ts";
import { messagesZh } from "./messages-zh.ts";

/** A message of an import: a code from the table, and values for its placeholders. */
export interface Message {
  readonly code: keyof typeof messages;
  readonly values: Readonly<Record<string, Value>>;
}

/** A list is shown as alternatives. A nested message is shown in the same language. */
type Value = string | number | readonly string[] | Bilingual | Message;

export function say(code: Message["code"], values: Message["values"] = {}): Message {
  return { code, values };
}

/** Reads a message from the database or another process. Null if this version does not know its code. */
export function readMessage(value: unknown): Message | null {
  const { code, values } = (value ?? {}) as { code?: unknown; values?: unknown };
  const isKnown = typeof code === "string" && Object.hasOwn(messages, code);
  return isKnown && typeof values === "object" && values !== null ? (value as Message) : null;
}

export function inEnglish(message: Message): string {
  return told(messages, message, (value) =>
    isMessage(value) ? inEnglish(value) : isList(value) ? among(value, ", ", " or ") : value.en,
  );
}

export function inChinese(message: Message): string {
  return told(messagesZh, message, (value) =>
    isMessage(value) ? inChinese(value) : isList(value) ? among(value, "、", " 或 ") : value.zh,
  );
}

/** `{name}`, or `{name|singular|plural}` for a count with its noun. */
const placeholder = /\{(\w+)(?:\|([\w ]+)\|([\w ]+))?\}/g;

function told(
  table: Record<Message["code"], string>,
  { code, values }: Message,
  tell: (value: Exclude<Value, string | number>) => string,
): string {
  return table[code].replace(placeholder, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (typeof value === "number") {
      const noun = value === 1 ? one : many;
      return value.toLocaleString("en") + (noun === undefined ? "" : ` ${noun}`);
    }
    return typeof value === "object" ? tell(value) : value;
  });
}

function among(list: readonly string[], comma: string, or: string): string {
  return list.length < 2 ? list.join() : `${list.slice(0, -1).join(comma)}${or}${list.at(-1)}`;
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}

function isMessage(value: object): value is Message {
  return "code" in value;
}
