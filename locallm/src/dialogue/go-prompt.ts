import { type GoChat, goChatData } from "../template/go/data.ts";
import type { GoTemplate } from "../template/go/template.ts";
import type { Prompter } from "./prompter.ts";
import { type Message, mergeNeighbours, offeredTools, type Turn } from "./turn.ts";

/**
 * A template that reads `.Messages` gets the whole conversation. An older one formats a single turn (`.System`,
 * `.Prompt`, `.Response`) and is rendered once per turn; if it has no `.Response`, the answer comes last.
 */
export function goPrompter(template: GoTemplate): Prompter {
  const placed = template.fields.has("Response") ? template : template.withResponse();
  const render = (chat: GoChat) => template.render(goChatData(chat));
  return {
    traits: { tools: template.fields.has("Tools"), insert: template.fields.has("Suffix") },
    render: (turn) => {
      const messages = mergeNeighbours(turn.messages);
      if (!template.fields.has("Messages")) return renderTurns(placed, messages);
      return render({ ...thinkingOf(turn), system: systemOf(messages), messages, tools: offeredTools(turn) });
    },
    insert: (prompt, suffix) => render({ prompt, suffix }),
  };
}

function thinkingOf({ think }: Turn): GoChat {
  if (think === null) return {};
  return { think: think !== false, thinkLevel: typeof think === "string" ? think : "" };
}

function systemOf(messages: readonly Message[]): string {
  const words = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  return words.join("\n\n");
}

/**
 * Renders turn by turn. The last turn ends where the model's answer starts, or after the beginning of an
 * answer that the client sent.
 */
function renderTurns(template: GoTemplate, messages: readonly Message[]): string {
  let text = "";
  let turn = { system: "", prompt: "", response: "" };
  const flush = () => {
    text += template.render(goChatData(turn));
    turn = { system: "", prompt: "", response: "" };
  };
  for (const { role, content } of messages) {
    if (role === "system") {
      if (turn.prompt !== "" || turn.response !== "") flush();
      turn.system = content;
    } else if (role === "assistant") turn.response = content;
    else {
      if (turn.response !== "") flush();
      turn.prompt = content;
    }
  }
  return text + template.upToResponse().render(goChatData(turn));
}
