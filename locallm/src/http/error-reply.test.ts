import { describe, expect, it } from "vitest";
import { LocallmError } from "../wire/errors.ts";
import { errorLanguage, errorReply, errorShape } from "./error-reply.ts";

const context = (url: string, headers = {}) => ({
  shape: errorShape({ url, headers }),
  requestId: "r-1",
  retryAfterSeconds: () => 7,
});

describe("errorReply", () => {
  it("uses Anthropic's shape under /v1/messages, and under /v1 for clients that send their version", () => {
    const error = new LocallmError("model_not_found", { model: "x" });
    const anthropic = {
      type: "error",
      error: { type: "not_found_error", message: "model 'x' not found" },
      request_id: "r-1",
    };
    for (const path of [
      "/v1/messages",
      "/v1/messages?beta=true",
      "/v1/messages/count_tokens",
      "/v1/messages/x",
    ])
      expect(errorReply(error, context(path)).body).toEqual(anthropic);
    expect(errorReply(error, context("/v1/models", { "anthropic-version": "2023-06-01" })).body).toEqual(
      anthropic,
    );
    for (const path of ["/v1/messagesx", "/v1/models", "/v1"])
      expect(errorReply(error, context(path)).body).toMatchObject({ error: { code: "model_not_found" } });
    expect(errorReply(error, context("/api/tags", { "anthropic-version": "x" })).body).toEqual({
      error: "model 'x' not found",
    });
  });

  it("speaks Chinese to the chat page only, whatever language a browser asks for", () => {
    const error = new LocallmError("key_rate_exceeded", { limit: 1, retryAfterSeconds: 9 });
    const said = (path: string, headers: Record<string, string>) =>
      JSON.stringify(errorReply(error, { ...context(path), language: errorLanguage(headers) }).body);
    const chinese = "这个 API 密钥每分钟最多 1 次请求，请 9 秒后再试";
    const english = "this API key may send 1 request per minute; try again in 9 s";
    expect(said("/api/chat", { "x-locallm-language": "zh" })).toBe(`{"error":"${chinese}"}`);
    expect(said("/api/chat", { "accept-language": "zh-CN" })).toBe(`{"error":"${english}"}`);
    expect(said("/v1/models", { "x-locallm-language": "zh" })).toContain(english);
    // A row without Chinese words stays English.
    expect(new LocallmError("service_not_changed", { reason: "x" }).chinese).toBe("x");
  });

  it.each([
    ["invalid_field", 400, "invalid_request_error"],
    ["invalid_api_key", 401, "authentication_error"],
    ["host_refused", 403, "permission_error"],
    ["not_found", 404, "not_found_error"],
    ["method_not_allowed", 405, "invalid_request_error"],
    ["body_too_large", 413, "request_too_large"],
    ["runner_died", 500, "api_error"],
    ["queue_full", 503, "overloaded_error"],
  ] as const)("gives %s Anthropic's type %3$s", (code, status, type) => {
    const { status: given, body } = errorReply(new LocallmError(code, {} as never), context("/v1/messages"));
    expect([given, (body as { error: { type: string } }).error.type]).toEqual([status, type]);
  });

  it("gives errors of remote engines the codes that clients act on", () => {
    const details = { host: "gpu1:8000", reason: "no", retryAfterSeconds: 30 };
    const busy = errorReply(new LocallmError("remote_busy", details), context("/v1/chat/completions"));
    expect(busy).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect(busy.body).toMatchObject({ error: { type: "server_overloaded" } });
    const long = errorReply(new LocallmError("remote_prompt_too_long", details), context("/v1/completions"));
    expect(long.body).toMatchObject({ error: { code: "context_length_exceeded" } });
  });

  it("uses Ollama's shape under /api and OpenAI's under /v1", () => {
    const error = new LocallmError("model_not_found", { model: "x" });
    expect(errorReply(error, context("/api/chat"))).toEqual({
      status: 404,
      body: { error: "model 'x' not found" },
      headers: {},
    });
    expect(errorReply(error, context("/v1/chat/completions"))).toEqual({
      status: 404,
      body: {
        error: {
          message: "model 'x' not found",
          type: "not_found_error",
          param: "model",
          code: "model_not_found",
        },
      },
      headers: {},
    });
  });

  it("hides the details of unexpected errors and gives the request ID", () => {
    const thrown = new TypeError("cannot read /secret/path of undefined");
    for (const path of ["/api/generate", "/v1/completions", "/"]) {
      const { status, body } = errorReply(thrown, context(path));
      expect(status).toBe(500);
      expect(JSON.stringify(body)).toContain("request r-1");
      expect(JSON.stringify(body)).not.toMatch(/secret|TypeError|undefined|at /);
    }
    expect(errorReply(thrown, context("/v1/completions")).body).toMatchObject({
      error: { type: "api_error" },
    });
  });

  it.each([
    [new LocallmError("queue_full", { waiting: 512 }), 503, { "retry-after": "7" }, "server_overloaded"],
    [new LocallmError("shutting_down", {}), 503, { "retry-after": "7" }, "api_error"],
    [new LocallmError("invalid_api_key", {}), 401, { "www-authenticate": "Bearer" }, "authentication_error"],
    [
      new LocallmError("method_not_allowed", { method: "GET", path: "/x", allowed: "POST" }),
      405,
      { allow: "POST" },
      "invalid_request_error",
    ],
    [new LocallmError("model_too_large", { needed: "9 GiB", available: "8 GiB" }), 500, {}, "api_error"],
  ])("sets headers and OpenAI's type for $code", (error, status, headers, type) => {
    const reply = errorReply(error, context("/v1/models"));
    expect([reply.status, reply.headers]).toEqual([status, headers]);
    expect(reply.body).toMatchObject({ error: { type } });
  });

  it("names the invalid field in OpenAI's param", () => {
    const error = new LocallmError("invalid_field", { field: "messages[0].role", problem: "is required" });
    expect(errorReply(error, context("/v1/x")).body).toMatchObject({
      error: { message: "messages[0].role is required", param: "messages[0].role" },
    });
  });
});
