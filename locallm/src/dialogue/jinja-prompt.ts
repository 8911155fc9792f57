import { createHash } from "node:crypto";
import type { JinjaTemplate } from "../template/jinja.ts";
import { TemplateError, TemplateRefusal } from "../template/limits.ts";
import type { DialogueSource, Prompter } from "./prompter.ts";
import { type Message, mergeNeighbours, offeredTools, plainTurn, type Turn } from "./turn.ts";

/**
 * Renders prompts with a Jinja template. All templates use `messages`, `tools` and `add_generation_prompt`,
 * but they differ in details, such as whether they allow a system message and how they write tool calls.
 * Rendering small conversations once shows what a template supports.
 */
export function jinjaPrompter(template: JinjaTemplate, source: DialogueSource): Prompter {
  const print = (turn: Turn, habits: Habits) =>
    template.render({
      messages: turn.messages.map((message) => asVariables(message, habits)),
      ...(offeredTools(turn).length > 0 ? { tools: offeredTools(turn) } : {}),
      add_generation_prompt: turn.messages.at(-1)?.role !== "assistant",
      continue_final_message: false,
      bos_token: source.bosText,
      eos_token: source.eosText,
      ...thinkingVariables(turn),
    });
  const habits = findHabits(print);
  return {
    traits: { tools: habits.tools, insert: false },
    render: (turn) => {
      const placed = habits.laterSystem ? turn.messages : laterSystemAsUser(turn.messages);
      const messages = habits.system ? placed : systemIntoUser(placed);
      let refusal: unknown;
      // Some templates require alternating roles, others require ids of nine letters. Clients need not know
      // that.
      for (const attempt of [messages, mergeNeighbours(messages), shortIds(mergeNeighbours(messages))]) {
        try {
          return print({ ...turn, messages: attempt }, habits);
        } catch (error) {
          if (!(error instanceof TemplateRefusal)) throw error;
          refusal ??= error;
        }
      }
      throw refusal;
    },
    insert: () => {
      throw new TemplateError("does not support a suffix");
    },
  };
}

/**
 * The variables that control thinking: `enable_thinking` (Qwen, GLM, SmolLM3), `thinking` (DeepSeek,
 * Granite), `reasoning_effort` (gpt-oss).
 */
function thinkingVariables({ think }: Turn): Record<string, unknown> {
  if (think === null) return {};
  const on = think !== false;
  const effort = typeof think === "string" ? { reasoning_effort: think === "max" ? "high" : think } : {};
  return { enable_thinking: on, thinking: on, ...effort };
}

interface Habits {
  readonly system: boolean;
  /** Whether the template prints a system message after other messages. Some templates reject or drop it. */
  readonly laterSystem: boolean;
  readonly tools: boolean;
  /**
   * The form in which a template expects an assistant's calls. Some templates print the arguments unchanged,
   * some as JSON.
   */
  readonly calls: { readonly emptyContent: "" | null; readonly argumentsAs: "object" | "text" };
  /** Whether the template prints only contents that are lists of parts, as those of some models that see. */
  readonly listContent: boolean;
}

const firstHabits: Habits = {
  system: true,
  laterSystem: true,
  tools: true,
  calls: { emptyContent: "", argumentsAs: "object" },
  listContent: false,
};

function findHabits(print: (turn: Turn, habits: Habits) => string): Habits {
  const says = (turn: Turn, words: string[], habits: Habits) => {
    try {
      const text = print(turn, habits);
      return words.every((word) => text.includes(word)) && !text.includes("[object");
    } catch (error) {
      if (error instanceof TemplateError) return false;
      throw error;
    }
  };
  const user: Message = { role: "user", content: "probe-question" };
  const system: Message = { role: "system", content: "probe-system" };
  const answer: Message = { role: "assistant", content: "probe-answer" };
  const tool = {
    type: "function",
    function: { name: "probe_tool", description: "", parameters: probeSchema },
  };
  const called: Message = {
    role: "assistant",
    content: "",
    tool_calls: [
      {
        id: "call00001",
        function: { index: 0, name: "probe_tool", arguments: { probe_key: "probe_value" } },
      },
    ],
  };
  const answered: Message = {
    role: "tool",
    content: "probe-result",
    tool_name: "probe_tool",
    tool_call_id: "call00001",
  };

  const asList = { ...firstHabits, listContent: true };
  const isPrinted = says(plainTurn([user]), ["probe-question"], firstHabits);
  const listContent = !isPrinted && says(plainTurn([user]), ["probe-question"], asList);
  const first = listContent ? asList : firstHabits;
  const talk = plainTurn([user, called, answered], { tools: [tool] });
  const ways = (["object", "text"] as const).flatMap((argumentsAs) =>
    (["", null] as const).map((emptyContent) => ({ argumentsAs, emptyContent })),
  );
  return {
    system:
      says(plainTurn([system, user]), ["probe-system", "probe-question"], first) ||
      !says(plainTurn([user]), ["probe-question"], first),
    laterSystem: says(plainTurn([user, answer, system, user]), ["probe-system"], first),
    tools: says(plainTurn([user], { tools: [tool] }), ["probe_tool"], first),
    calls:
      ways.find((calls) => says(talk, ["probe_tool", "probe_key", "probe_value"], { ...first, calls })) ??
      first.calls,
    listContent,
  };
}

const probeSchema = {
  type: "object",
  properties: { probe_key: { type: "string" } },
  required: ["probe_key"],
};

function asVariables(message: Message, { calls, listContent }: Habits): Record<string, unknown> {
  const asked = message.tool_calls ?? [];
  return {
    role: message.role,
    content:
      message.content === "" && asked.length > 0
        ? calls.emptyContent
        : listContent
          ? [{ type: "text", text: message.content }]
          : message.content,
    ...(message.thinking ? { reasoning_content: message.thinking, thinking: message.thinking } : {}),
    ...(message.tool_name ? { name: message.tool_name } : {}),
    ...(message.tool_call_id ? { tool_call_id: message.tool_call_id } : {}),
    ...(asked.length > 0
      ? {
          tool_calls: asked.map((call) => ({
            ...(call.id === undefined ? {} : { id: call.id }),
            type: "function",
            function: {
              name: call.function.name,
              arguments:
                calls.argumentsAs === "object"
                  ? call.function.arguments
                  : JSON.stringify(call.function.arguments),
            },
          })),
        }
      : {}),
  };
}

/**
 * Changes later system messages to user messages in their place. Moving them to the front would change the
 * beginning of the prompt.
 */
function laterSystemAsUser(messages: readonly Message[]): Message[] {
  const head = messages.findIndex(({ role }) => role !== "system");
  return messages.map((message, index) =>
    message.role === "system" && head !== -1 && index > head ? { ...message, role: "user" } : message,
  );
}

/** Moves the system text into the first user message, for templates without a system role. */
function systemIntoUser(messages: readonly Message[]): Message[] {
  const words = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const others = messages.filter(({ role }) => role !== "system");
  const first = others.findIndex(({ role }) => role === "user");
  if (words.length === 0 || first === -1) return others;
  return others.with(first, { ...others[first]!, content: [...words, others[first]!.content].join("\n\n") });
}

/**
 * Shortens ids, because Mistral's templates reject ids that are not nine letters and digits. Equal ids stay
 * equal.
 */
function shortIds(messages: readonly Message[]): Message[] {
  const short = (id: string) => createHash("sha256").update(id).digest("hex").slice(0, 9);
  return messages.map((message) => ({
    ...message,
    ...(message.tool_call_id ? { tool_call_id: short(message.tool_call_id) } : {}),
    ...(message.tool_calls
      ? { tool_calls: message.tool_calls.map((call) => ({ ...call, id: short(call.id ?? "") })) }
      : {}),
  }));
}
