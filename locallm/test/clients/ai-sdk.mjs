// A typical program for the AI SDK. Call: `ai-sdk.mjs FOLDER URL MODEL`. FOLDER contains the packages. The
// last line of output is `all well`.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, url, model] = process.argv.slice(2);
const { resolve } = createRequire(join(folder, "package.json"));
const load = (name) => import(pathToFileURL(resolve(name)).href);

const { generateText, streamText, generateObject, jsonSchema } = await load("ai");
const { createOllama } = await load("ollama-ai-provider-v2");
const ollama = createOllama({ baseURL: `${url}/api` })(model);

const whole = await generateText({ model: ollama, prompt: "hi" });
assert.ok(whole.text.length > 0);
let streamed = "";
for await (const part of streamText({ model: ollama, prompt: "hi" }).textStream) streamed += part;
assert.equal(streamed, whole.text);

const schema = {
  type: "object",
  properties: { city: { enum: ["Rome", "Oslo"] }, days: { type: "integer", minimum: 1, maximum: 9 } },
  required: ["city", "days"],
  additionalProperties: false,
};
const { object } = await generateObject({
  model: ollama,
  prompt: "hi",
  schema: jsonSchema(schema),
  maxOutputTokens: 100,
});
assert.ok(["Rome", "Oslo"].includes(object.city) && object.days >= 1 && object.days <= 9);
console.log("all well");
