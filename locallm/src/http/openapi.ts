import { z } from "zod";
import { countTokensRequest, messagesRequest, modelsQuery } from "../wire/anthropic/messages.ts";
import {
  chatRequest,
  detokenizeRequest,
  embeddingsRequest,
  embedRequest,
  generateRequest,
  rerankRequest,
  tokenizeRequest,
} from "../wire/api/inference.ts";
import {
  copyRequest,
  createRequest,
  deleteRequest,
  remoteHostRequest,
  showRequest,
  transferRequest,
} from "../wire/api/library.ts";
import { itemOf } from "../wire/body.ts";
import { chatCompletionsRequest } from "../wire/openai/chat-completions.ts";
import {
  completionsRequest,
  embeddingsRequest as openAiEmbeddingsRequest,
} from "../wire/openai/completions.ts";
import { inputItemsQuery, responsesRequest } from "../wire/openai/responses.ts";
import { access } from "./access.ts";
import { isV1Path } from "./error-reply.ts";

type Bilingual = readonly [en: string, zh: string];

interface Described {
  readonly summary: Bilingual;
  readonly body?: z.ZodType;
  /** The body is a file, which is stored. */
  readonly takesFile?: true;
  readonly query?: z.ZodObject;
  /** A body that works with the starter model, or shows the form. */
  readonly example?: object;
  /** `stream`: in pieces unless the body says otherwise; `may stream`: only if it says so. */
  readonly answer?: "stream" | "may stream" | "text" | "nothing";
}

const model = "smollm2:135m";
const say = [{ role: "user", content: "What is the capital of France?" }];
const rerank: Described = {
  summary: ["Rank documents by how well they answer a query", "按与查询的相关程度给文档排序"],
  body: rerankRequest,
  example: {
    model: "bge-reranker-v2-m3",
    query: "Where do pandas live?",
    documents: ["hi", "The giant panda lives in China."],
  },
};
const account: Described = {
  summary: [
    "ollama.com's accounts: 404 that says what to do here",
    "ollama.com 的账户：返回 404 并说明替代做法",
  ],
};

/** The routes of programs, with the names of the table of access. */
export const described: Readonly<Record<string, Described>> = {
  "POST /api/chat": {
    summary: ["Chat, through the model's template", "对话，经过模型的模板"],
    body: chatRequest,
    example: { model, messages: say, stream: false },
    answer: "stream",
  },
  "POST /api/generate": {
    summary: ["One prompt, one answer", "一个提示词，一个回答"],
    body: generateRequest,
    example: { model, prompt: "The capital of France is", options: { num_predict: 8 }, stream: false },
    answer: "stream",
  },
  "POST /api/embed": {
    summary: ["Vectors of texts", "文本的向量"],
    body: embedRequest,
    example: { model: "all-minilm", input: ["The sky is blue."] },
  },
  "POST /api/embeddings": {
    summary: ["The vector of one text, the older form", "一段文本的向量（旧形式）"],
    body: embeddingsRequest,
    example: { model: "all-minilm", prompt: "The sky is blue." },
  },
  "POST /api/rerank": rerank,
  "POST /rerank": rerank,
  "POST /api/tokenize": {
    summary: ["Text to tokens", "文本转为 token"],
    body: tokenizeRequest,
    example: { model, content: "The sky is blue." },
  },
  "POST /api/detokenize": {
    summary: ["Tokens to text", "token 转为文本"],
    body: detokenizeRequest,
    example: { model, tokens: [504, 6376, 314, 4461] },
  },
  "GET /api/catalogue": {
    summary: [
      "Models to begin with, and which of them fit this machine",
      "适合起步的模型，以及本机内存能运行哪些",
    ],
  },
  "GET /api/tags": { summary: ["The models on disk", "磁盘上的模型"] },
  "POST /api/show": {
    summary: ["What a model is and can do", "一个模型是什么、能做什么"],
    body: showRequest,
    example: { model },
  },
  "GET /api/ps": { summary: ["The models in memory; ?explain says why", "内存中的模型；?explain 说明原因"] },
  "POST /api/pull": {
    summary: ["Fetch a model", "拉取模型"],
    body: transferRequest,
    example: { model },
    answer: "stream",
  },
  "POST /api/push": {
    summary: ["Send a model to a registry", "把模型推送到仓库"],
    body: transferRequest,
    example: { model: "registry.example/team/model:tag" },
    answer: "stream",
  },
  "POST /api/create": {
    summary: ["Create a model", "创建模型"],
    body: createRequest,
    example: { model: "pirate", from: model, system: "You are a pirate." },
    answer: "stream",
  },
  "POST /api/copy": {
    summary: ["Give a model a second name", "给模型取第二个名称"],
    body: copyRequest,
    example: { source: model, destination: "mine" },
    answer: "nothing",
  },
  "DELETE /api/delete": {
    summary: ["Remove a model", "删除模型"],
    body: deleteRequest,
    example: { model: "mine" },
    answer: "nothing",
  },
  "HEAD /api/blobs/:digest": {
    summary: ["Whether a file is in the store", "文件是否在模型库中"],
    answer: "nothing",
  },
  "POST /api/blobs/:digest": { summary: ["Upload a file", "上传文件"], takesFile: true, answer: "nothing" },
  "GET /api/version": { summary: ["The versions", "版本"] },
  "GET /api/usage": { summary: ["What keys have used", "各密钥的用量"] },
  "GET /api/remotes": { summary: ["Engines on other machines", "其他机器上的引擎"] },
  "POST /api/remotes/drain": {
    summary: ["Send an engine no new requests", "不再向某个引擎分配请求"],
    body: remoteHostRequest,
    example: { host: "gpu1.example:8000" },
  },
  "POST /api/remotes/resume": {
    summary: ["Use an engine again", "重新启用某个引擎"],
    body: remoteHostRequest,
    example: { host: "gpu1.example:8000" },
  },
  "GET /api/me": account,
  "POST /api/me": account,
  "GET /api/signin": account,
  "POST /api/signin": account,
  "GET /api/signout": account,
  "POST /api/signout": account,
  "DELETE /api/user/keys/:key": account,
  "POST /api/experimental/web_search": account,
  "POST /api/experimental/web_fetch": account,

  "POST /v1/chat/completions": {
    summary: ["Chat", "对话"],
    body: chatCompletionsRequest,
    example: { model, messages: say },
    answer: "may stream",
  },
  "POST /v1/completions": {
    summary: ["Complete a text without a template", "不经模板续写文本"],
    body: completionsRequest,
    example: { model, prompt: "The capital of France is", max_tokens: 8 },
    answer: "may stream",
  },
  "POST /v1/embeddings": {
    summary: ["Vectors of texts", "文本的向量"],
    body: openAiEmbeddingsRequest,
    example: { model: "all-minilm", input: ["The sky is blue."] },
  },
  "POST /v1/rerank": rerank,
  "POST /v2/rerank": rerank,
  "POST /v1/responses": {
    summary: ["Answer an input, with stored earlier answers", "回答输入，可接续已保存的响应"],
    body: responsesRequest,
    example: { model, input: "What is the capital of France?" },
    answer: "may stream",
  },
  "GET /v1/responses/:id": { summary: ["A stored response", "已保存的响应"] },
  "DELETE /v1/responses/:id": { summary: ["Delete a stored response", "删除已保存的响应"] },
  "GET /v1/responses/:id/input_items": {
    summary: ["What the model was given", "给过模型的内容"],
    query: inputItemsQuery,
  },
  "GET /v1/models": { summary: ["The models", "模型列表"], query: modelsQuery },
  "GET /v1/models/*": { summary: ["One model", "一个模型"] },
  "POST /v1/messages": {
    summary: ["Anthropic's messages", "Anthropic 的 messages"],
    body: messagesRequest,
    example: { model, max_tokens: 50, messages: say },
    answer: "may stream",
  },
  "POST /v1/messages/count_tokens": {
    summary: ["Count the tokens of a prompt", "计算提示词的 token 数"],
    body: countTokensRequest,
    example: { model, messages: say },
  },

  "GET /health": { summary: ["Live and ready", "存活与就绪"] },
  "GET /metrics": { summary: ["Figures for Prometheus", "Prometheus 指标"], answer: "text" },
  "GET /openapi.json": { summary: ["This description", "本描述"] },
};

/** What the fields of bodies mean that several routes share. */
const fields: Readonly<Record<string, Bilingual>> = {
  model: ["The model's name, as `locallm list` prints it", "模型名称，与 `locallm list` 打印的相同"],
  messages: ["The whole conversation, oldest first", "完整的对话，最早的在前"],
  prompt: ["The text that the model goes on with", "模型接着往下写的文本"],
  stream: ["Whether the answer comes in pieces", "是否分段返回"],
  keep_alive: [
    "How long the model stays loaded: seconds or a duration such as 10m; negative is forever",
    "模型的驻留时间：秒数或时长（如 10m），负数表示永久",
  ],
  options: [
    "Sampling and loading: temperature, num_ctx, seed …",
    "采样与加载选项：temperature、num_ctx、seed 等",
  ],
  format: ["json, or a JSON schema that the answer satisfies", "json，或回答要符合的 JSON schema"],
  response_format: ["The form of the answer, enforced by a grammar", "回答的格式，由语法约束保证"],
  think: ["Whether, or how much, the model thinks first", "是否先思考，或思考的档位"],
  tools: ["Tools that the model may call", "模型可以调用的工具"],
  tool_choice: ["Whether a tool must be called, and which", "是否必须调用工具，调用哪个"],
  truncate: ["Whether what does not fit the window is cut", "超出窗口时是否截断"],
  temperature: ["0 is the likeliest token each time", "0 表示每次都取最可能的 token"],
  top_p: ["Only the likeliest tokens with this share together", "只取累计概率达到此值的最可能的 token"],
  seed: ["The same seed draws the same random numbers", "相同的种子得到相同的随机数"],
  stop: ["Texts at which the answer ends", "遇到这些文本即停止"],
  max_tokens: ["The most tokens of the answer", "回答的 token 上限"],
  logprobs: ["Log probabilities of the tokens", "各 token 的对数概率"],
  dimensions: ["Keep this many numbers of each vector", "每个向量只保留这么多个数"],
  input: ["A text or a list of texts", "一段文本或一个列表"],
  query: ["What the documents should answer", "文档要回答的查询"],
  documents: ["Texts, or objects with a text", "文本，或带 text 的对象"],
  top_n: ["Return only so many", "只返回前若干个"],
  insecure: ["Allow HTTP without encryption", "允许不加密的 HTTP"],
  system: ["The system message", "system 消息"],
};

/** OpenAPI 3.1 of the routes that programs call. `x-zh` has a text in Chinese beside the English one. */
export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, route] of Object.entries(described)) {
    const [method, url] = name.split(" ") as [string, string];
    const path = url.replace(/:(\w+)/g, "{$1}").replace("*", "{model}");
    paths[path] ??= {};
    paths[path]![method.toLowerCase()] = operation(name, path, route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "locallm",
      version,
      description:
        "Large language models on your own machine, over the APIs of Ollama, OpenAI and Anthropic.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The server that this document comes from" }],
    tags: Object.entries(tags).map(([tag, [description, zh]]) => ({ name: tag, description, "x-zh": zh })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        header: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  };
}

const tags = {
  "/api": ["Ollama's API", "Ollama 的 API"],
  "/v1": ["OpenAI's and Anthropic's APIs", "OpenAI 与 Anthropic 的 API"],
  library: ["Models: fetch, create, remove", "模型：拉取、创建、删除"],
  service: ["For monitoring", "监控"],
} as const;

function operation(
  name: string,
  path: string,
  { summary: [en, zh], body, takesFile, query, example, answer }: Described,
) {
  const { needs } = access[name]!;
  return {
    operationId: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_"),
    summary: en,
    "x-zh": zh,
    tags: [tagOf(path, needs)],
    // A server without keys asks for none.
    security: needs === "nothing" ? [] : [{}, { bearer: [] }, { header: [] }],
    parameters: [...pathParameters(path), ...(query === undefined ? [] : queryParameters(query))],
    ...(body && { requestBody: { required: true, content: json({ schema: bodyOf(body), example }) } }),
    ...(takesFile && { requestBody: { required: true, content: bytes } }),
    responses: {
      ...(takesFile && { 201: { description: "Stored" } }),
      200: { description: en, ...(answer === "nothing" ? {} : { content: answerOf(path, answer) }) },
      default: {
        description: "An error, which names what is wrong",
        ...(name.startsWith("HEAD ") ? {} : { content: json({ schema: errorOf(path) }) }),
      },
    },
  };
}

const bytes = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };

function tagOf(path: string, needs: string): keyof typeof tags {
  if (needs === "manage") return "library";
  return path.startsWith("/api/")
    ? "/api"
    : /^\/v[12]\//.test(path) || path === "/rerank"
      ? "/v1"
      : "service";
}

function answerOf(path: string, answer: Described["answer"]) {
  if (answer === "text") return { "text/plain": {} };
  if (answer === "stream") return { "application/x-ndjson": {}, ...json({}) };
  if (answer === "may stream" && isV1Path(path)) return { ...json({}), "text/event-stream": {} };
  return json({});
}

function errorOf(path: string) {
  const text = { type: "string" };
  if (!isV1Path(path)) return { type: "object", properties: { error: text }, required: ["error"] };
  // What OpenAI's clients read; Anthropic's get no `param` and `code`, but a `request_id`.
  const maybe = { type: ["string", "null"] };
  const inside = { message: text, type: text, param: maybe, code: maybe };
  return {
    type: "object",
    properties: {
      error: { type: "object", properties: inside, required: ["message", "type"] },
      request_id: text,
    },
    required: ["error"],
  };
}

function json(content: object) {
  return { "application/json": content };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: name === "digest" ? { type: "string", pattern: "^sha256[:-][0-9a-f]{64}$" } : { type: "string" },
  }));
}

function queryParameters(query: z.ZodObject): object[] {
  const { properties = {} } = schemaOf(query) as { properties?: Record<string, object> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", schema }));
}

/** Names of which a body must have one. All of them are optional where the body is read, for a better message. */
const eitherOf = [
  ["model", "name"],
  ["documents", "texts"],
] as const;

function bodyOf(body: z.ZodType): object {
  const schema = schemaOf(body) as { properties?: Record<string, object>; required?: string[] };
  const groups = eitherOf.flatMap((names) => {
    const known = names.filter((name) => schema.properties?.[name] !== undefined);
    if (known.length === 0 || known.some((name) => schema.required?.includes(name))) return [];
    return [{ anyOf: known.map((name) => ({ required: [name], properties: { [name]: present[name] } })) }];
  });
  return groups.length === 0 ? schema : { ...schema, allOf: groups };
}

const aName = { type: "string", minLength: 1 };
const someTexts = { type: "array", minItems: 1 };
const present = { model: aName, name: aName, documents: someTexts, texts: someTexts };

/** What a client sends. A list is read item by item, so its schema alone does not say what an item is. */
function schemaOf(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema, path }) {
      const item = itemOf(zodSchema as unknown as z.ZodType);
      if (item !== undefined) {
        const { $schema: _, ...items } = schemaOf(item) as { $schema?: string };
        jsonSchema.items = items;
      }
      const field = path.length === 2 && path[0] === "properties" ? fields[String(path[1])] : undefined;
      if (field !== undefined) Object.assign(jsonSchema, { description: field[0], "x-zh": field[1] });
    },
  });
}
