import type { Message } from "../dialogue/turn.ts";

/**
 * Gives ids to tool calls and results that have none: clients of Ollama's API send only the function's name,
 * or rely on the order alone. The ids depend on nothing but the messages, so that a conversation keeps its
 * cached prefix.
 */
export function withCallIds(messages: readonly Message[]): Message[] {
  let count = 0;
  let unanswered: { id: string; name: string }[] = [];
  return messages.map((message) => {
    if (message.tool_calls !== undefined && message.tool_calls.length > 0) {
      const calls = message.tool_calls.map((call) => ({ ...call, id: call.id || `call_${++count}` }));
      unanswered = calls.map(({ id, function: { name } }) => ({ id, name }));
      return { ...message, tool_calls: calls };
    }
    if (message.role !== "tool" && message.role !== "function") return message;
    const byId = unanswered.findIndex(({ id }) => id === message.tool_call_id);
    const byName = unanswered.findIndex(({ name }) => name === message.tool_name);
    const at = [byId, byName, 0].find((index) => index >= 0)!;
    const [answered] = message.tool_call_id && byId === -1 ? [] : unanswered.splice(at, 1);
    const id = message.tool_call_id || answered?.id || `call_${++count}`;
    const name = message.tool_name ?? answered?.name;
    return { ...message, tool_call_id: id, ...(name === undefined ? {} : { tool_name: name }) };
  });
}
