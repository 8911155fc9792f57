import { describe, expect, it } from "vitest";
import { LocallmError } from "../wire/errors.ts";
import { errorReply } from "./error-reply.ts";

const context = (path: string) => ({ path, requestId: "r-1", retryAfterSeconds: () => 7 });

describe("errorReply", () => {
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
    [new LocallmError("queue_full", {}), 503, { "retry-after": "7" }, "server_overloaded"],
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
