"""An agent of the OpenAI Agents SDK whose tools are dataq's: agent.py <transport> <question> <tools> [command …]"""

import asyncio
import json
import os
import sys

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, create_static_tool_filter
from openai import AsyncOpenAI

set_tracing_disabled(True)
transport, question, tools, *command = sys.argv[1:]
key, url = os.environ["DATAQ_API_KEY"], os.environ["DATAQ_BASE_URL"]
budget = "20000"


def dataq():
    shown = create_static_tool_filter(allowed_tool_names=tools.split(","))
    if transport == "http":
        headers = {"Authorization": f"Bearer {key}", "X-Tokens-Budget": budget}
        return MCPServerStreamableHttp(
            params={"url": f"{url}/mcp", "headers": headers, "timeout": 60}, tool_filter=shown
        )
    env = {"DATAQ_API_KEY": key, "DATAQ_BASE_URL": url, "PATH": os.environ["PATH"]}
    params = {"command": command[0], "args": [*command[1:], "mcp", "--budget", budget], "env": env}
    return MCPServerStdio(params=params, tool_filter=shown, client_session_timeout_seconds=60)


async def main():
    client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none", timeout=500)
    async with dataq() as server:
        agent = Agent(
            name="clerk",
            instructions="Use the tools to answer.",
            model=OpenAIChatCompletionsModel(model=os.environ["MODEL"], openai_client=client),
            mcp_servers=[server],
            # A model this small rarely starts a call by itself. It chooses the tool and the arguments.
            model_settings=ModelSettings(
                tool_choice="required", parallel_tool_calls=False, max_tokens=600, temperature=0
            ),
        )
        result = await Runner.run(agent, question, max_turns=4)
        calls = [item.raw_item for item in result.new_items if item.type == "tool_call_item"]
        outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
        print(
            json.dumps(
                {
                    "calls": [{"name": call.name, "arguments": call.arguments} for call in calls],
                    "outputs": [str(output) for output in outputs],
                    "answer": str(result.final_output),
                },
                ensure_ascii=False,
            )
        )


asyncio.run(main())
