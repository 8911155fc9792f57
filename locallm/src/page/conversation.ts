/** A message in the form of `/api/chat`, with additional fields that only the page uses. */
export interface Message {
  role: "user" | "assistant" | "tool";
  content: string;
  thinking?: string;
  /** Base64 without a prefix. */
  images?: string[];
  tool_calls?: ToolCall[];
  tool_name?: string;
  /** A note shown below an answer, such as counters or why it ended early. It is never sent. */
  note?: string;
}

export interface ToolCall {
  function: { name: string; arguments: unknown };
}

export interface Conversation {
  id: string;
  model: string;
  changedMs: number;
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

/** Returns the start of the first question, or an empty text if there is none. */
export function titleOf({ messages }: Conversation): string {
  const first = messages.find(({ role }) => role === "user")?.content ?? "";
  return first.replaceAll(/\s+/g, " ").trim().slice(0, 60);
}

/** Returns the messages that are sent to the server. */
export function sentMessages({ system, messages }: Conversation): Message[] {
  const sent = messages.map(({ note: _, ...message }) => message);
  return system.trim() === "" ? sent : [{ role: "system" as "user", content: system }, ...sent];
}

export function asMarkdown(conversation: Conversation): string {
  const parts = [`# ${titleOf(conversation)}`, `Model: ${conversation.model}`];
  if (conversation.system !== "") parts.push(`## system\n\n${conversation.system}`);
  for (const { role, content, thinking, tool_calls: calls } of conversation.messages) {
    parts.push(`## ${role}`);
    if (thinking) parts.push(thinking.replaceAll(/^/gm, "> "));
    if (content) parts.push(content);
    if (calls) parts.push(`\`\`\`json\n${JSON.stringify(calls, null, 2)}\n\`\`\``);
  }
  return `${parts.join("\n\n")}\n`;
}
