import { type Conversation, type Message, newConversation, newId, titleOf } from "./conversation.ts";
import { word } from "./words.ts";

/** One conversation, or all, as a file that `fromFile` reads. */
export function asJson(conversations: Conversation | readonly Conversation[]): string {
  return `${JSON.stringify(conversations, null, 2)}\n`;
}

/** The versions that are shown, without pictures. */
export function asMarkdown(conversation: Conversation): string {
  const parts = [`# ${titleOf(conversation)}`, `Model: ${conversation.model}`];
  if (conversation.system.trim() !== "") parts.push("## system", marked(conversation.system.trim()));
  for (const { role, content, thinking, files, tool_calls: calls } of conversation.messages) {
    parts.push(`## ${role}`);
    if (thinking) parts.push(thinking.replaceAll(/^/gm, "> "));
    for (const { name, text } of files ?? []) parts.push(`<!-- ${name} -->\n\n${fenced(text, "")}`);
    if (content) parts.push(marked(content));
    if (calls) parts.push(fenced(JSON.stringify(calls, null, 2), "json"));
  }
  return `${parts.join("\n\n")}\n`;
}

/** A fence that is longer than every one in the text. */
function fenced(text: string, info: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${info}\n${text}\n${fence}`;
}

/** A line of the text that looks like one of the file's own headings gets a backslash. */
function marked(text: string): string {
  return text.replaceAll(/^(?=\\*## (?:system|user|assistant|tool)$)/gm, "\\");
}

/**
 * Reads conversations from a file that the page exported. Each gets a new ID, so that none replaces one that is here.
 * A conversation without a time, or with one that is still to come, gets `nowMs`. Throws with a sentence for the user.
 */
export function fromFile(name: string, text: string, nowMs: number): Conversation[] {
  if (!name.toLowerCase().endsWith(".md")) return fromJson(name, text, nowMs);
  const read = fromMarkdown(text, nowMs);
  if (read === null) throw wrong(name);
  return [read];
}

function wrong(name: string): Error {
  return new Error(word("wrongFile", { name }));
}

function fromJson(name: string, text: string, nowMs: number): Conversation[] {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw wrong(name);
  }
  const all = Array.isArray(read) ? read : [read];
  const found = all.map((one) => asConversation(one, nowMs));
  if (found.includes(null)) throw wrong(name);
  return found as Conversation[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Null if it is not a conversation. */
function asConversation(given: unknown, nowMs: number): Conversation | null {
  if (!isObject(given) || !areMessages(given["messages"])) return null;
  const { model, system, title, options, tools, changedMs } = given;
  const numbers = options === undefined ? {} : options;
  if (!isObject(numbers) || Object.values(numbers).some((value) => typeof value !== "number")) return null;
  return {
    ...newConversation(typeof model === "string" ? model : ""),
    changedMs: typeof changedMs === "number" ? Math.min(changedMs, nowMs) : nowMs,
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    system: typeof system === "string" ? system : "",
    options: numbers as Record<string, number>,
    tools: Array.isArray(tools) ? tools : [],
    messages: given["messages"],
    id: newId(),
  };
}

function areMessages(given: unknown): given is Message[] {
  return Array.isArray(given) && given.every(isMessage);
}

function isMessage(given: unknown): given is Message {
  if (!isObject(given)) return false;
  const { role, content, images, files, tool_calls, fork } = given;
  const isListOf = (list: unknown, test: (one: unknown) => boolean) =>
    list === undefined || (Array.isArray(list) && list.every(test));
  const isText = (one: unknown) => typeof one === "string";
  return (
    ["user", "assistant", "tool"].includes(role as string) &&
    isText(content) &&
    ["thinking", "note", "model", "tool_name"].every(
      (name) => given[name] === undefined || isText(given[name]),
    ) &&
    isListOf(images, isText) &&
    isListOf(files, (one) => isObject(one) && isText(one["name"]) && isText(one["text"])) &&
    isListOf(tool_calls, (one) => isObject(one) && isObject(one["function"])) &&
    (given["figures"] === undefined || areFigures(given["figures"])) &&
    (fork === undefined || (isObject(fork) && areVersions(fork["before"]) && areVersions(fork["after"])))
  );
}

function areVersions(given: unknown): boolean {
  return Array.isArray(given) && given.every((one) => areMessages(one) && one.length > 0);
}

function areFigures(given: unknown): boolean {
  return isObject(given) && Object.values(given).every((value) => typeof value === "number");
}

function isObject(given: unknown): given is Fields {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Null if it has no message. Thinking, files and tool calls stay in the text. */
function fromMarkdown(text: string, nowMs: number): Conversation | null {
  const [head = "", ...parts] = text
    .replaceAll("\r\n", "\n")
    .split(/^(?=## (?:system|user|assistant|tool)$)/m);
  const conversation = newConversation(/^Model: (.*)$/m.exec(head)?.[1] ?? "");
  conversation.changedMs = nowMs;
  const title = /^# (.+)$/m.exec(head)?.[1];
  if (title !== undefined) conversation.title = title;
  for (const part of parts) {
    const end = part.indexOf("\n");
    const role = part.slice(3, end);
    const content = part
      .slice(end)
      .replace(/^\n+/, "")
      .replace(/\n{1,2}$/, "")
      .replaceAll(/^\\(?=\\*## (?:system|user|assistant|tool)$)/gm, "");
    if (role === "system") conversation.system = content;
    else conversation.messages.push({ role: role as Message["role"], content });
  }
  return conversation.messages.length === 0 ? null : conversation;
}
