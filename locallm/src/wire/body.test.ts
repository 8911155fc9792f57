import { describe, expect, it } from "vitest";
import { chatRequest, embedRequest, generateRequest, tokenizeRequest } from "./api/inference.ts";
import { checkBody } from "./body.ts";
import { completionsRequest } from "./openai/completions.ts";

describe("checkBody", () => {
  it("returns the body and the unknown fields", () => {
    const { body, unknown } = checkBody(generateRequest, {
      model: "m",
      prompt: null,
      nonsense: 1,
      toString: 2,
    });
    expect(body).toMatchObject({ model: "m", prompt: undefined });
    expect(unknown).toEqual(["nonsense", "toString"]);
  });

  it.each([
    [generateRequest, [], "body must be a JSON object"],
    [generateRequest, "x", "body must be a JSON object"],
    [generateRequest, null, "body must be a JSON object"],
    [generateRequest, {}, "model is required"],
    [generateRequest, { model: null }, "model is required"],
    [generateRequest, { model: 5 }, "model must be a string"],
    [generateRequest, { model: "m", prompt: ["x"] }, "prompt must be a string"],
    [generateRequest, { model: "m", stream: "yes" }, "stream must be a boolean"],
    [generateRequest, { model: "m", options: [] }, "options must be an object"],
    [generateRequest, { model: "m", context: [1, "x"] }, "context[1] must be a number"],
    [generateRequest, { model: "m", context: [1.5] }, "context[0] must be an integer"],
    [generateRequest, { model: "m", context: [-1] }, "context[0] must be at least 0"],
    [
      generateRequest,
      { model: "m", think: "hard" },
      'think must be a boolean or "low" or "medium" or "high" or "max"',
    ],
    [chatRequest, { model: "m", messages: "x" }, "messages must be an array"],
    [chatRequest, { model: "m", messages: [{ role: 5 }] }, "messages[0].role must be a string"],
    [
      chatRequest,
      { model: "m", messages: [{ role: "user", content: {} }] },
      "messages[0].content must be a string",
    ],
    [chatRequest, { model: "m", tools: [{ function: {} }] }, "tools[0].function.name is required"],
    [embedRequest, { model: "m", input: 5 }, "input must be a string or an array"],
    [embedRequest, { model: "m", dimensions: 0 }, "dimensions must be at least 1"],
    [tokenizeRequest, { model: "m" }, "content is required"],
  ])("names the wrong field and what it must be (%#)", (schema, value, message) => {
    expect(() => checkBody(schema, value)).toThrow(message);
  });

  it("treats empty texts other than the prompt as absent, because clients written in Go send them", () => {
    const empty = { prompt: "", suffix: "", system: "", template: "", context: [] };
    const { body } = checkBody(generateRequest, { model: "m", ...empty });
    expect(body).toEqual({ model: "m", prompt: "" });
    expect(checkBody(generateRequest, { model: "m", system: " ", context: [1] }).body).toEqual({
      model: "m",
      system: " ",
      context: [1],
    });
    const completions = checkBody(completionsRequest, { model: "m", prompt: "x", suffix: "" });
    expect(completions.body.suffix).toBeUndefined();
  });

  it("lower-cases roles and fills in absent message fields", () => {
    const { body } = checkBody(chatRequest, { model: "m", messages: [{ role: "User" }] });
    expect(body.messages).toMatchObject([{ role: "user", content: "" }]);
  });
});
