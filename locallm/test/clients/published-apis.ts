/** A request type that an official client publishes, and what its values must be. */
export interface PublishedApi {
  readonly name: string;
  readonly route: string;
  /** For `publishedTypes`. */
  readonly type: string;
  /** The types of an answer, and of a line or an event of a streamed one. */
  readonly answer: string;
  readonly event?: string;
  /** Faults of our answers that are meant, with the reason beside each. */
  readonly allowed?: readonly RegExp[];
  /** Whether it needs the embedding model. */
  readonly embeds?: true;
  /** Values for fields whose type says too little, by their path. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Optional fields without which most requests mean nothing. */
  readonly needed?: readonly string[];
  readonly refused: readonly Refusal[];
  /** Some fields and alternatives that the type certainly has. */
  readonly known: readonly string[];
  arrange?(body: Record<string, unknown>): Record<string, unknown>;
}

/** What must not be ignored, because the answer would be another one. */
export interface Refusal {
  /** The path of the field or alternative; `*` matches any text. */
  readonly path: string;
  readonly text: RegExp;
  /** If only this value is refused; requests that are accepted have the one of `values`. */
  readonly value?: unknown;
}

/** What the template of a model ends with that can think and insert. */
export const thinkingMarks = "{{ if .Think }}<think>{{ end }}{{ if false }}</think>{{ end }}";

const model = "full:1";
const schema = { type: "object", properties: { city: { type: "string" } } };
const schemas = { "*.parameters": schema, "*.schema": schema, "*.input_schema": schema, "*.arguments": "{}" };
const options = { num_predict: 2, temperature: 0, num_thread: 1, num_ctx: 4096 };
const imageUrl = "data:image/png;base64,iVBORw0KGgo=";
const noVision = /does not support vision/;
const textOnly = /is not supported: .*only texts are supported here/;

/** Anthropic sends it to keep connections open; the types leave it out. */
const ping = /^event: \.type is "ping"/;
/**
 * JSON has no dates; Ollama's lines before the last have no counts either; `bytes` of log probabilities are Ollama's and
 * not in its client's types; the tokens found in the cache are ours.
 */
const ollamaAllowed = [
  /\.created_at is "20\d\d-.*, not an object/,
  /^event: \.(done_reason|context|\w+_duration|\w+_count) is missing/,
  /logprobs\[\]\.bytes is not in the type/,
  /\.prompt_cached_count is not in the type/,
];

const anthropic = {
  values: {
    model,
    ...schemas,
    max_tokens: 2,
    // If all tools are deferred, none can be chosen.
    "tools[*].defer_loading": false,
    "*[image].source": { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
    "*[document].source": { type: "text", media_type: "text/plain", data: "x" },
  },
  refused: [
    { path: "messages[*].content[list][image]", text: noVision },
    ...["container_upload", "browser_state"].map(unknownBlock),
    { path: "container", text: /container is not supported/ },
  ],
  known: [
    "system[list][text].cache_control",
    "thinking[adaptive]",
    "tool_choice[tool].name",
    "tools[custom].strict",
  ],
  arrange: inTurns,
};

export const apis: readonly PublishedApi[] = [
  {
    name: "POST /v1/chat/completions",
    needed: ["*.json_schema.schema"],
    route: "/v1/chat/completions",
    type: 'import("openai").OpenAI.Chat.ChatCompletionCreateParamsNonStreaming',
    answer: 'import("openai").OpenAI.Chat.ChatCompletion',
    event: 'import("openai").OpenAI.Chat.ChatCompletionChunk',
    // What a model thought, as Ollama and vLLM name it.
    allowed: [/\.reasoning is not in the type/],
    values: {
      ...{ model, ...schemas, n: 1, logit_bias: { "3": 1 }, logprobs: true },
      "*.image_url.url": imageUrl,
      "tool_choice[allowed_tools].allowed_tools.tools": [{ type: "function", function: { name: "x" } }],
    },
    refused: [
      { path: "n", value: 2, text: /n is not supported: only one choice per answer/ },
      { path: "messages[user].content[list][image_url]", text: noVision },
      // The model of this test does not hear, and the value is no sound.
      { path: "messages[user].content[list][input_audio]", text: /does not support audio|must be in base64/ },
      { path: "messages[user].content[list][file]", text: textOnly },
    ],
    known: [
      "messages[assistant].tool_calls[custom].custom.input",
      "prompt_cache_key",
      "reasoning_effort[max]",
      "tool_choice[custom]",
      "verbosity",
      "web_search_options",
    ],
  },
  {
    name: "POST /v1/responses",
    needed: ["model", "input"],
    route: "/v1/responses",
    type: 'import("openai").OpenAI.Responses.ResponseCreateParamsNonStreaming',
    answer: 'Omit<import("openai").OpenAI.Responses.Response, "output_text">',
    event: 'import("openai").OpenAI.Responses.ResponseStreamEvent',
    // OpenAI sends `store`, and no usage yet while it answers; the client itself makes `output_text`.
    allowed: [
      /\.store is not in the type/,
      /\.response\.usage is null/,
      /^event: \.response\.output_text is missing/,
    ],
    values: {
      ...{ model, ...schemas, background: false, top_logprobs: 0, max_output_tokens: 2 },
      previous_response_id: null,
      "tool_choice[allowed_tools].tools": [{ type: "function", name: "x" }],
      "*.image_url": imageUrl,
    },
    refused: [
      { path: "input[list]*[input_file]", text: textOnly },
      { path: "input[list]*[input_image]", text: /does not support vision|only texts are supported here/ },
      {
        path: "input[list][item_reference]",
        text: /send the item itself, or continue with previous_response_id/,
      },
      { path: "conversation", text: /use previous_response_id, or send the whole conversation as input/ },
      { path: "prompt", text: /it is stored at OpenAI; send its text as instructions/ },
      { path: "previous_response_id", value: "resp_absent", text: /send the whole conversation as input/ },
      { path: "background", value: true, text: /stream it instead/ },
      { path: "top_logprobs", value: 1, text: /use \/v1\/chat\/completions for log probabilities/ },
    ],
    known: ["input[list][custom_tool_call].input", "reasoning[1].effort[max]", "include[list]", "tools"],
  },
  {
    name: "POST /v1/embeddings",
    route: "/v1/embeddings",
    type: 'import("openai").OpenAI.EmbeddingCreateParams',
    answer: 'import("openai").OpenAI.CreateEmbeddingResponse',
    // The client decodes base64.
    allowed: [/\.embedding is "[A-Za-z0-9+/=]*"?, not an array/],
    embeds: true,
    values: { model: "all-minilm:22m" },
    refused: [],
    known: ["dimensions", "encoding_format[base64]", "user"],
  },
  {
    ...anthropic,
    name: "POST /v1/messages",
    route: "/v1/messages",
    type: 'import("@anthropic-ai/sdk").Anthropic.MessageCreateParamsNonStreaming',
    answer: 'import("@anthropic-ai/sdk").Anthropic.Message',
    event: 'import("@anthropic-ai/sdk").Anthropic.RawMessageStreamEvent',
    allowed: [ping],
  },
  {
    ...anthropic,
    name: "POST /v1/messages (beta)",
    route: "/v1/messages?beta=true",
    type: 'import("@anthropic-ai/sdk").Anthropic.Beta.Messages.MessageCreateParamsNonStreaming',
    answer: 'import("@anthropic-ai/sdk").Anthropic.Beta.Messages.BetaMessage',
    event: 'import("@anthropic-ai/sdk").Anthropic.Beta.Messages.BetaRawMessageStreamEvent',
    // One answer serves both types, and the other one does not have these.
    allowed: [ping, /\.(context_management|estimated_tokens|fallback_credit|iterations) is missing/],
    refused: [
      ...anthropic.refused,
      ...["tool_addition", "tool_removal"].map(unknownBlock),
      { path: "mcp_servers", text: /mcp_servers is not supported/ },
      ...["clear_tool_uses_20250919", "compact_20260112"].map((edit) => ({
        path: `context_management*[${edit}]`,
        text: new RegExp(`is not supported: .*${edit}`),
      })),
    ],
  },
  {
    name: "POST /api/chat",
    needed: ["messages", "tools*.function.name"],
    route: "/api/chat",
    type: 'import("ollama").ChatRequest',
    answer: 'import("ollama").ChatResponse',
    event: 'import("ollama").ChatResponse',
    allowed: ollamaAllowed,
    values: {
      ...{ model, options, stream: false, keep_alive: "5m", format: schema },
      ...{ "*.parameters": schema, "messages[*].role": "user", "messages[*].images": [imageUrl.slice(22)] },
    },
    refused: [{ path: "messages[*].images", text: noVision }],
    known: ["messages[0].tool_calls", "think[high]", "tools[0].function.name", "top_logprobs"],
  },
  {
    name: "POST /api/generate",
    route: "/api/generate",
    type: 'import("ollama").GenerateRequest',
    answer: 'import("ollama").GenerateResponse',
    event: 'import("ollama").GenerateResponse',
    allowed: ollamaAllowed,
    values: {
      ...{ model, options, stream: false, keep_alive: "5m", format: schema, raw: false },
      ...{ template: `{{ .Prompt }}{{ .Suffix }}${thinkingMarks}`, images: [imageUrl.slice(22)] },
    },
    refused: [
      { path: "images", text: noVision },
      { path: "raw", value: true, text: /raw mode does not support template, system, or context/ },
    ],
    known: ["context", "suffix", "think[true]", "steps"],
  },
  {
    name: "POST /api/embed",
    route: "/api/embed",
    type: 'import("ollama").EmbedRequest',
    answer: 'import("ollama").EmbedResponse',
    embeds: true,
    values: { model: "all-minilm:22m", options: { num_ctx: 64 }, keep_alive: "5m" },
    refused: [],
    known: ["dimensions", "truncate[false]"],
  },
];

function unknownBlock(type: string): Refusal {
  return { path: `messages[*][${type}]`, text: new RegExp(`is not supported: .*${type}`) };
}

interface Block {
  readonly type: string;
}

/** The blocks of Anthropic's answers. All others come from users. */
const answered =
  /^(text|(redacted_)?thinking|compaction|fallback|tool_use|(server|mcp)_tool_use)$|._tool_(result|listing)$/;

/** The type of a message allows every block in each role. The API does not, and a result needs its call before it. */
function inTurns(body: Record<string, unknown>): Record<string, unknown> {
  const all = (body["messages"] as { content?: string | Block[] }[]).flatMap(({ content = [] }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
  const text = { type: "text", text: "x" };
  const isAnswer = ({ type }: Block) => answered.test(type);
  return {
    ...body,
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", content: [text, ...all.filter(isAnswer)] },
      { role: "user", content: [text, ...all.filter((block) => !isAnswer(block))] },
    ],
  };
}
