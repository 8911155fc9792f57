// Sends a picture with the AI SDK. Call: `ai-sdk-pictures.mjs FOLDER URL MODEL PICTURE`. FOLDER contains the packages, and
// PICTURE is a PNG file. The last line of output is JSON: what the model said by each provider.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, url, model, picture] = process.argv.slice(2);
const { resolve } = createRequire(join(folder, "package.json"));
const load = (name) => import(pathToFileURL(resolve(name)).href);

const { generateText } = await load("ai");
const { createOllama } = await load("ollama-ai-provider-v2");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const providers = {
  ollama: createOllama({ baseURL: `${url}/api` }),
  openai: createOpenAICompatible({ name: "locallm", baseURL: `${url}/v1` }),
};
const content = [
  // As text: the provider for Ollama of this version cannot read bytes from this version of the SDK.
  { type: "file", data: (await readFile(picture)).toString("base64"), mediaType: "image/png" },
  { type: "text", text: "What is this?" },
];
const said = {};
for (const [name, provider] of Object.entries(providers)) {
  const messages = [{ role: "user", content }];
  const limits = { temperature: 0, maxOutputTokens: 12 };
  // The provider for Ollama sends only what its own options say.
  const providerOptions = { ollama: { options: { temperature: 0, num_predict: 12 } } };
  said[name] = (await generateText({ model: provider(model), messages, ...limits, providerOptions })).text;
}
console.log(JSON.stringify(said));
