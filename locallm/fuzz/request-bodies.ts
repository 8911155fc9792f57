import type { z } from "zod";
import type { Target } from "../../fuzz/target.ts";
import { messagesTurn } from "../src/http/anthropic/messages-turn.ts";
import { requestTurn } from "../src/http/openai/request-turn.ts";
import { responsesTurn } from "../src/http/openai/responses-turn.ts";
import { countTokensRequest, messagesRequest } from "../src/wire/anthropic/messages.ts";
import { chatRequest, embedRequest, generateRequest } from "../src/wire/api/inference.ts";
import { createRequest, showRequest, transferRequest } from "../src/wire/api/library.ts";
import { checkBody } from "../src/wire/body.ts";
import { parseKeepAlive } from "../src/wire/duration.ts";
import { LocallmError } from "../src/wire/errors.ts";
import { parseJson } from "../src/wire/json.ts";
import { chatCompletionsRequest } from "../src/wire/openai/chat-completions.ts";
import { completionsRequest, embeddingsRequest } from "../src/wire/openai/completions.ts";
import { responsesRequest } from "../src/wire/openai/responses.ts";
import { parseOptions } from "../src/wire/options.ts";

const readImage = Object.assign((data: string) => ({ mediaType: "image/png" as const, data }), {
  sound: (data: string) => ({ format: "wav" as const, data }),
});

/** Each body is read as a body of every request of the three APIs. */
export const target: Target = {
  covers: [
    "locallm/src/wire",
    "locallm/src/http/anthropic/messages-turn.ts",
    "locallm/src/http/openai/request-turn.ts",
    "locallm/src/http/openai/responses-turn.ts",
    "locallm/src/http/openai/responses-tools.ts",
  ],
  seeds: [
    {
      model: "a",
      messages: [{ role: "user", content: "x", images: ["aGk="] }],
      format: { type: "object" },
      options: { num_ctx: 9, stop: ["x"] },
      keep_alive: "5m",
      think: "high",
      tools: [{ type: "function", function: { name: "f", parameters: {} } }],
    },
    {
      model: "a",
      prompt: "x",
      suffix: "y",
      raw: true,
      context: [1],
      template: "{{ .Prompt }}",
      keep_alive: -1,
      logprobs: true,
      top_logprobs: 3,
    },
    {
      model: "a",
      messages: [
        {
          role: "developer",
          content: [
            { type: "text", text: "x" },
            { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          ],
        },
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{" } }],
        },
        { role: "tool", tool_call_id: "c", content: "y" },
      ],
      tool_choice: { type: "function", function: { name: "f" } },
      response_format: { type: "json_schema", json_schema: { name: "s", schema: {} } },
      logit_bias: { "3": -100 },
      reasoning_effort: "minimal",
    },
    {
      model: "a",
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "x" }] },
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "y" },
        { type: "reasoning", summary: [] },
      ],
      instructions: "i",
      text: { format: { type: "json_schema", name: "s", schema: {} } },
      tools: [
        { type: "function", name: "f", parameters: null },
        { type: "web_search" },
        { type: "custom", name: "g" },
      ],
      tool_choice: "required",
      previous_response_id: "resp_0",
    },
    {
      model: "a",
      max_tokens: 5,
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "x" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
            { type: "document", source: { type: "text", media_type: "text/plain", data: "d" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "s" },
            { type: "tool_use", id: "t1", name: "f", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t1",
              content: [{ type: "text", text: "r" }],
              is_error: true,
            },
          ],
        },
      ],
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1024 },
    },
    { model: "a", input: [[1, 2], [3]], encoding_format: "base64", dimensions: 4, truncate: false },
    {
      model: "a",
      from: "b",
      files: { "a.gguf": "sha256:0" },
      parameters: { temperature: 1 },
      messages: [],
      license: ["x"],
      remotes: [{ url: "http://h", model: "m" }],
      quantize: "q4_K_M",
    },
  ].map((body) => JSON.stringify(body)),
  bounds: { ms: 120 },
  read(input) {
    refused(() => bodiesOf(input));
  },
};

function bodiesOf(input: Buffer): void {
  const value = parseJson(input);
  const as = <Schema extends z.ZodObject>(
    schema: Schema,
    use: (body: z.output<Schema>) => unknown = () => {},
  ) => refused(() => use(checkBody(schema, value).body));
  const running = (body: {
    keep_alive?: unknown;
    options?: Readonly<Record<string, unknown>> | undefined;
  }) => {
    refused(() => parseKeepAlive(body.keep_alive));
    parseOptions(body.options ?? {});
  };
  for (const schema of [chatRequest, generateRequest, embedRequest])
    as(schema as typeof chatRequest, running);
  for (const schema of [createRequest, showRequest, transferRequest, completionsRequest, embeddingsRequest])
    as(schema);
  as(chatCompletionsRequest, (body) => requestTurn(body, readImage));
  as(responsesRequest, (body) => responsesTurn(body, readImage));
  as(countTokensRequest, (body) => messagesTurn(body, readImage));
  as(messagesRequest, (body) => messagesTurn(body, readImage));
}

/** An error of the table says no; all others are faults. */
function refused(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof LocallmError)) throw error;
  }
}
