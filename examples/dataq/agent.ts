// An agent: a model with an OpenAI API, such as locallm, that uses dataq's operations as tools and spends at most
// 20,000 tokens.
//   OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen3:4b node agent.ts "哪些人被列入失信名单？……"
import { DataQuery, isDataQueryError, type OperationName } from "dataq-client";

type ToolCall = { id: string; function: { name: OperationName; arguments: string } };
type Message = { content: string; tool_calls?: ToolCall[] };
const { OPENAI_BASE_URL, OPENAI_API_KEY = "none", MODEL: model, DATAQ_BASE_URL: dataq } = process.env;
const client = new DataQuery();
const tools = await (await fetch(`${dataq}/v1/catalog?format=openai-tools`)).json();
const messages: object[] = [{ role: "user", content: process.argv[2] }];
let left = 20_000;
let message: Message;
do {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model, messages, tools }),
  });
  ({ message } = ((await response.json()) as { choices: [{ message: Message }] }).choices[0]);
  messages.push(message);
  for (const { id, function: tool } of message.tool_calls ?? []) {
    const call = client.query(tool.name, JSON.parse(tool.arguments), { maxTokens: left });
    const answer = await call.catch((error) => (isDataQueryError(error) ? error : Promise.reject(error)));
    if ("usage" in answer) left -= answer.usage.tokens;
    const content = "usage" in answer ? JSON.stringify(answer.data).slice(0, 8_000) : answer.message;
    messages.push({ role: "tool", tool_call_id: id, content });
  }
} while (message.tool_calls?.length);
console.log(`${message.content}\n${20_000 - left} tokens spent`);
