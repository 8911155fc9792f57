/**
 * A library or a program that `locallm launch` does not start: its settings are printed. The programs are whole,
 * and run as they are printed.
 */
export interface Snippet {
  readonly title: string;
  readonly install: string;
  /** The key is not in the text; it names the variable `LOCALLM_API_KEY`. */
  text(server: { readonly url: string; readonly model: string }): string;
}

/** By the names that `locallm launch` accepts. */
export const snippets: Readonly<Record<string, Snippet>> = {
  "ai-sdk": {
    title: "AI SDK",
    install: "npm install ai @ai-sdk/openai-compatible zod",
    text: ({ url, model }) => `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const locallm = createOpenAICompatible({
  name: "locallm",
  baseURL: ${quoted(`${url}/v1`)},
  apiKey: process.env.LOCALLM_API_KEY ?? "locallm",
});
const weather = tool({
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => \`It is 21 degrees in \${city}.\`,
});
const { textStream } = streamText({
  model: locallm(${quoted(model)}),
  tools: { weather },
  stopWhen: stepCountIs(5),
  prompt: "How warm is it in Oslo?",
});
for await (const text of textStream) process.stdout.write(text);
`,
  },
  langgraph: {
    title: "LangChain, LangGraph",
    install: "python3 -m pip install langchain langchain-ollama",
    text: ({ url, model }) => `import os

from langchain.agents import create_agent
from langchain_ollama import ChatOllama

key = os.environ.get("LOCALLM_API_KEY", "locallm")
model = ChatOllama(
    model=${quoted(model)},
    base_url=${quoted(url)},
    client_kwargs={"headers": {"Authorization": f"Bearer {key}"}},
)


def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is 21 degrees in {city}."


agent = create_agent(model, tools=[weather])
question = {"messages": [{"role": "user", "content": "How warm is it in Oslo?"}]}
for message, _ in agent.stream(question, stream_mode="messages"):
    if message.type == "AIMessageChunk":
        print(message.text, end="", flush=True)
`,
  },
  "open-webui": {
    title: "Open WebUI",
    install: "python3 -m pip install open-webui",
    text: ({ url }) => `# Read at the first start only; later: Admin Panel, Settings, Connections.
export ENABLE_OLLAMA_API=false
export OPENAI_API_BASE_URL=${url}/v1
export OPENAI_API_KEY="\${LOCALLM_API_KEY:-locallm}"
open-webui serve
`,
  },
  "openai-agents": {
    title: "OpenAI Agents SDK",
    install: "python3 -m pip install openai-agents",
    text: ({ url, model }) => `import asyncio
import os

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

key = os.environ.get("LOCALLM_API_KEY", "locallm")
set_default_openai_client(AsyncOpenAI(base_url=${quoted(`${url}/v1`)}, api_key=key))
set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is 21 degrees in {city}."


agent = Agent(name="Assistant", model=${quoted(model)}, tools=[weather])


async def main() -> None:
    answer = Runner.run_streamed(agent, "How warm is it in Oslo?")
    async for event in answer.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            print(event.data.delta, end="", flush=True)


asyncio.run(main())
`,
  },
  "pydantic-ai": {
    title: "Pydantic AI",
    install: 'python3 -m pip install "pydantic-ai-slim[openai]"',
    text: ({ url, model }) => `import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.ollama import OllamaProvider

key = os.environ.get("LOCALLM_API_KEY", "locallm")
provider = OllamaProvider(base_url=${quoted(`${url}/v1`)}, api_key=key)
agent = Agent(OpenAIChatModel(${quoted(model)}, provider=provider))


@agent.tool_plain
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is 21 degrees in {city}."


async def main() -> None:
    async with agent.run_stream("How warm is it in Oslo?") as answer:
        async for text in answer.stream_text(delta=True):
            print(text, end="", flush=True)


asyncio.run(main())
`,
  },
  smolagents: {
    title: "smolagents",
    install: 'python3 -m pip install "smolagents[openai]"',
    text: ({ url, model }) => `import os

from smolagents import OpenAIModel, ToolCallingAgent, tool

key = os.environ.get("LOCALLM_API_KEY", "locallm")
model = OpenAIModel(${quoted(model)}, api_base=${quoted(`${url}/v1`)}, api_key=key)


@tool
def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city's name.
    """
    return f"It is 21 degrees in {city}."


agent = ToolCallingAgent(tools=[weather], model=model, stream_outputs=True)
print(agent.run("How warm is it in Oslo?"))
`,
  },
  vscode: {
    title: "VS Code, Copilot Chat",
    install: "Copilot Chat is part of VS Code",
    text: ({ url }) => `{
  "github.copilot.chat.byok.ollamaEndpoint": ${quoted(url)}
}
`,
  },
};

/** A string in JavaScript, Python and JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
