/** A message in the form of `/api/chat`, with additional fields that only the page uses. */
export interface Message {
  role: "user" | "assistant" | "tool";
  content: string;
  thinking?: string;
  /** Base64 without a prefix. */
  images?: string[];
  /** Text files that belong to a question. */
  files?: TextFile[];
  tool_calls?: ToolCall[];
  tool_name?: string;
  /** The model that answered. */
  model?: string;
  figures?: Figures;
  /** Why an answer ended before the model was finished. Absent for a whole answer. */
  ended?: "stopped" | "failed" | "full" | "limit";
  /** A text below an answer, such as why it failed. */
  note?: string;
  /** The other versions of the conversation from this message on. */
  fork?: Fork;
}

export interface TextFile {
  name: string;
  text: string;
  /** Null if they cannot be counted, as for a model on another machine. */
  tokens: number | null;
}

export interface ToolCall {
  function: { name: string; arguments: unknown };
}

/** What the server counted, and the milliseconds that passed until the first word. */
export interface Figures {
  tokens: number;
  seconds: number;
  firstMs: number;
  promptTokens: number;
  reusedTokens: number;
  /** Missing if nothing was guessed. */
  guessedTokens?: number;
  acceptedTokens?: number;
  droppedMessages: number;
  droppedTokens: number;
}

/** Each version begins with a message without a fork. */
interface Fork {
  before: Message[][];
  after: Message[][];
}

export interface Conversation {
  id: string;
  model: string;
  changedMs: number;
  /** Absent until it is renamed. */
  title?: string;
  system: string;
  options: Record<string, number>;
  tools: unknown[];
  messages: Message[];
}

export function newConversation(model: string): Conversation {
  return { id: newId(), model, changedMs: Date.now(), system: "", options: {}, tools: [], messages: [] };
}

export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** Returns its name, else the start of the first question, or an empty text if there is none. */
export function titleOf({ title, messages }: Conversation): string {
  const first = messages.find(({ role }) => role === "user");
  const text = title || first?.content || first?.files?.[0]?.name || "";
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 60);
}

/** Whether the title or a message contains the text, in any case. */
export function contains(conversation: Conversation, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  const has = (held: string) => held.toLowerCase().includes(wanted);
  return has(titleOf(conversation)) || conversation.messages.some(({ content }) => has(content));
}

/** Returns the messages that are sent to the server: the fields of `/api/chat`, and files as a part of the text. */
export function sentMessages({ system, messages }: Pick<Conversation, "system" | "messages">): object[] {
  const sent = messages.map(({ role, content, thinking, images, files, tool_calls, tool_name }) => ({
    role,
    content: [...(files ?? []).map(asText), content].filter((each) => each !== "").join("\n\n"),
    ...(thinking === undefined ? {} : { thinking }),
    ...(images === undefined ? {} : { images }),
    ...(tool_calls === undefined ? {} : { tool_calls }),
    ...(tool_name === undefined ? {} : { tool_name }),
  }));
  return system.trim() === "" ? sent : [{ role: "system", content: system }, ...sent];
}

/** A file as the model reads it. */
export function asText({ name, text }: Pick<TextFile, "name" | "text">): string {
  return `<file name="${name}">\n${text.replace(/\n?$/, "\n")}</file>`;
}

/** Which version the message at `at` begins, counted from 0, and how many there are. */
export function versionsAt(messages: readonly Message[], at: number): { shown: number; count: number } {
  const { before = [], after = [] } = messages[at]?.fork ?? {};
  return { shown: before.length, count: before.length + 1 + after.length };
}

/** Puts `message` in the place of the message at `at` and all that follow, which stay as another version. */
export function addVersion(messages: readonly Message[], at: number, message: Message): Message[] {
  const kept = messages.slice(0, at);
  if (at >= messages.length) return [...kept, message];
  return [...kept, { ...withoutFork(message), fork: { before: allVersions(messages, at), after: [] } }];
}

/** Shows another version of the conversation from the message at `at` on. */
export function showVersion(messages: readonly Message[], at: number, index: number): Message[] {
  const all = allVersions(messages, at);
  const [first, ...rest] = all[index] ?? [];
  if (first === undefined) return [...messages];
  const fork = { before: all.slice(0, index), after: all.slice(index + 1) };
  return [...messages.slice(0, at), { ...first, fork }, ...rest];
}

/** Replaces the message at `at` and keeps its versions. Removes what follows. */
export function replaceMessage(messages: readonly Message[], at: number, message: Message): Message[] {
  const fork = messages[at]?.fork;
  const own = fork === undefined ? withoutFork(message) : { ...message, fork };
  return [...messages.slice(0, at), own];
}

function allVersions(messages: readonly Message[], at: number): Message[][] {
  const [first, ...rest] = messages.slice(at);
  if (first === undefined) return [];
  const { before = [], after = [] } = first.fork ?? {};
  return [...before, [withoutFork(first), ...rest], ...after];
}

function withoutFork({ fork: _, ...message }: Message): Message {
  return message;
}
