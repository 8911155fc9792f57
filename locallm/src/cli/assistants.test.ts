import { describe, expect, it } from "vitest";
import { assistants, type Wiring } from "./assistants.ts";
import { snippets } from "./snippets.ts";

const model = "host:5000/ns/m:v";
const wired = (name: string, url: string, apiKey: string | null = null) =>
  assistants[name]!.wiring({ url, apiKey, model, contextLength: 40_000 });
const settingsOf = ({ environment, parameters, file }: Wiring) =>
  [JSON.stringify(environment), ...parameters, file?.text].join("\n");

describe.each(Object.keys(assistants))("%s", (name) => {
  it("uses only the server in LOCALLM_HOST", () => {
    const text = settingsOf(wired(name, "http://box.example:8080"));
    const addresses = text.match(/https?:\/\/[^\s"'\\]+/g) ?? [];
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(address).toMatch(/^http:\/\/box\.example:8080(\/v1)?$/);
    expect(text).toContain(model);
  });

  it("passes the key in the environment, never in the parameters", () => {
    const { environment, parameters, file } = wired(name, "http://127.0.0.1:1", "s3cret");
    expect(JSON.stringify(environment)).toContain("s3cret");
    expect(parameters.join(" ") + (file?.text ?? "")).not.toContain("s3cret");
    expect(settingsOf(wired(name, "http://127.0.0.1:1"))).not.toContain("null");
  });
});

it.each([
  ["https://box.example/models", "https://box.example", "models/v1/chat/completions"],
  ["http://127.0.0.1:1", "http://127.0.0.1:1", "v1/chat/completions"],
])("splits %s into host and path for goose", (url, host, path) => {
  expect(wired("goose", url).environment).toMatchObject({ OPENAI_HOST: host, OPENAI_BASE_PATH: path });
});

it("gives opencode valid JSON settings", () => {
  const { environment } = wired("opencode", "http://127.0.0.1:1");
  expect(JSON.parse(environment["OPENCODE_CONFIG_CONTENT"] ?? "")).toMatchObject({
    model: `locallm/${model}`,
    provider: {
      locallm: { models: { [model]: { name: model, limit: { context: 40_000, output: 10_000 } } } },
    },
  });
});

it("gives claude the address, the key, the model for all of its tasks, and the window", () => {
  const { environment } = wired("claude", "http://127.0.0.1:1", "s3cret");
  expect(environment).toMatchObject({
    ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
    ANTHROPIC_AUTH_TOKEN: "s3cret",
    ANTHROPIC_API_KEY: "",
    ANTHROPIC_MODEL: model,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: "40000",
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: "10000",
  });
});

it("gives claude a window to compact in only from the size that it accepts without a complaint", () => {
  const compactsIn = (contextLength: number) =>
    assistants["claude"]!.wiring({ url: "http://127.0.0.1:1", apiKey: null, model, contextLength })
      .environment["CLAUDE_CODE_AUTO_COMPACT_WINDOW"];
  expect([99_999, 100_000].map(compactsIn)).toEqual([undefined, "100000"]);
});

describe.each(Object.keys(assistants).filter((name) => assistants[name]!.needsWindow))("%s", (name) => {
  it("is told the window", () => {
    expect(settingsOf(wired(name, "http://127.0.0.1:1"))).toMatch(/\b40000\b/);
  });
});

describe.each(Object.keys(snippets))("%s", (name) => {
  it("uses only the server in LOCALLM_HOST, and quotes the model's name", () => {
    const odd = 'a"b';
    const text = snippets[name]!.text({ url: "http://box.example:8080", model: odd });
    const addresses = text.match(/https?:\/\/[^\s"'\\]+/g) ?? [];
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(address).toMatch(/^http:\/\/box\.example:8080(\/v1)?$/);
    expect(text).not.toContain(odd);
  });

  it("has a name that no assistant has", () => {
    expect(Object.keys(assistants)).not.toContain(name);
  });
});
