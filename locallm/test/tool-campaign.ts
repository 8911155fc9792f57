import type { TestServer } from "./server-process.ts";

/**
 * The offered tool and the cities that it accepts. A small model writes them only if a grammar enforces them.
 */
const cities = ["Rome", "Paris", "Oslo"];
const tools = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather of a city",
      parameters: {
        type: "object",
        properties: { city: { enum: cities } },
        required: ["city"],
        additionalProperties: false,
      },
    },
  },
];
export const toolChoices = {
  required: "required",
  named: { type: "function", function: { name: "get_weather" } },
  auto: "auto",
} as const;

export interface ToolAnswer {
  readonly calls: number;
  /** Null if every call is valid and a required call was made. */
  readonly problem: string | null;
}

interface Answer {
  choices: {
    finish_reason: string;
    message: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] };
  }[];
}

/**
 * Asks for the weather. With `auto`, earlier turns show the model a call, because such a small model imitates
 * what it sees.
 */
export async function askForCall(
  server: TestServer,
  model: string,
  kind: keyof typeof toolChoices,
  seed: number,
): Promise<ToolAnswer> {
  const question = { role: "user", content: "Weather in Rome?" };
  const answer = await server.ask<Answer>("/v1/chat/completions", {
    model,
    messages: kind === "auto" ? [...shownTurns(), question] : [question],
    tools,
    tool_choice: toolChoices[kind],
    parallel_tool_calls: false,
    seed,
    temperature: 0.5,
    max_tokens: 120,
  });
  const [{ finish_reason: reason, message }] = answer.choices as [Answer["choices"][0]];
  const calls = message.tool_calls ?? [];
  const problems = calls.flatMap((call) => problemOf(call.function) ?? []);
  if (kind !== "auto" && calls.length !== 1) problems.push(`${calls.length} calls`);
  if (calls.length > 0 && reason !== "tool_calls") problems.push(`a call, and it ended by ${reason}`);
  if (message.content?.includes("<tool_call>")) problems.push(`a call stayed text: ${message.content}`);
  return { calls: calls.length, problem: problems[0] ?? null };
}

function shownTurns() {
  return ["Paris", "Oslo", "Paris"].flatMap((city, index) => {
    const id = `call_${index}`;
    const call = { id, type: "function", function: { name: "get_weather", arguments: `{"city":"${city}"}` } };
    return [
      { role: "user", content: `Weather in ${city}?` },
      { role: "assistant", content: null, tool_calls: [call] },
    ];
  });
}

function problemOf({ name, arguments: text }: { name: string; arguments: string }): string | null {
  try {
    const given = JSON.parse(text) as Record<string, unknown>;
    const valid = Object.keys(given).join() === "city" && cities.includes(String(given["city"]));
    return valid && name === "get_weather" ? null : `${name}(${text})`;
  } catch {
    return `${name}(${text})`;
  }
}
