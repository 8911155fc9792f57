import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileCache } from "../../../testing/compile-cache.ts";
import { noise, startSeeing, wave } from "../seeing.ts";
import { installedClients } from "./installed.ts";

const engines = process.env["TEST_ENGINES"];
const clients = engines === undefined ? null : await installedClients();
const run = promisify(execFile);
const aiSdk = join(import.meta.dirname, "ai-sdk-pictures.mjs");
const [model, hearingModel] = ["llava:1", "voxtral:1"];
const question = "What is this?";

// `locallm doctor --install vision` with LOCALLM_ENGINES makes the folder.
describe.skipIf(engines === undefined)("clients send pictures (needs TEST_ENGINES)", () => {
  let seeing: Awaited<ReturnType<typeof startSeeing>>;
  let picture: Buffer;
  let sound: Buffer;
  /** What the models say to each client. */
  let seen: string;
  let heard: string;
  const answer = async (messages: readonly object[], name = model) => {
    const options = { temperature: 0, num_predict: 12 };
    const body = { model: name, stream: false, options, messages };
    return (await seeing.server.ask<{ message: { content: string } }>("/api/chat", body)).message.content;
  };
  beforeAll(async () => {
    seeing = await startSeeing(engines!, 41);
    picture = await noise(90, 70, 100);
    sound = wave(0.3);
    const asked = (file: Buffer) => [{ role: "user", content: question, images: [file.toString("base64")] }];
    seen = await answer(asked(picture));
    heard = await answer(asked(sound), hearingModel);
    const unseen = await answer([{ role: "user", content: question }]);
    expect(new Set([seen, unseen, heard]).size).toBe(3);
  });
  afterAll(() => seeing?.stop());

  it("Python: Ollama, OpenAI, Anthropic, LangChain and LiteLLM, those that are installed", async () => {
    const files = [join(seeing.folder, "picture.png"), join(seeing.folder, "sound.wav")] as const;
    await writeFile(files[0], picture);
    await writeFile(files[1], sound);
    const program = join(import.meta.dirname, "pictures.py");
    const parameters = [program, seeing.server.url, model, files[0], hearingModel, files[1]];
    const { stdout } = await run("python3", parameters, { timeout: 120_000 });
    const said = JSON.parse(stdout.trim().split("\n").at(-1)!) as Record<string, string>;
    // LangChain puts a line break before a text that follows a picture.
    const broken = await answer([
      { role: "user", content: `\n${question}`, images: [picture.toString("base64")] },
    ]);
    const expected: Readonly<Record<string, string>> = { openai_sound: heard, langchain_ollama: broken };
    for (const [name, text] of Object.entries(said)) expect(text, name).toBe(expected[name] ?? seen);
  });

  describe.skipIf(clients === null)("JavaScript (needs npm's registry)", () => {
    const url = () => `data:image/png;base64,${picture.toString("base64")}`;
    const parts = () => [
      { type: "image_url", image_url: { url: url() } },
      { type: "text", text: question },
    ];
    const load = <Module>(name: Parameters<NonNullable<typeof clients>["load"]>[0]) =>
      clients!.load(name) as Promise<Module>;
    // biome-ignore lint/suspicious/noExplicitAny: the packages are not installed where types are checked
    type Any = any;

    it("Ollama", async () => {
      const { Ollama } = await load<Any>("ollama");
      const client = new Ollama({ host: seeing.server.url });
      const options = { temperature: 0, num_predict: 12 };
      const message = (image: Buffer) => ({ role: "user", content: question, images: [image] });
      const { message: answer } = await client.chat({ model, messages: [message(picture)], options });
      expect(answer.content).toBe(seen);
      const other = await client.chat({ model: hearingModel, messages: [message(sound)], options });
      expect(other.message.content).toBe(heard);
    });

    it("OpenAI", async () => {
      const { OpenAI } = await load<Any>("openai");
      const client = new OpenAI({ baseURL: `${seeing.server.url}/v1`, apiKey: "any", maxRetries: 0 });
      const limits = { temperature: 0, max_tokens: 12 };
      const messages = [{ role: "user", content: parts() }];
      const answer = await client.chat.completions.create({ model, messages, ...limits });
      expect(answer.choices[0].message.content).toBe(seen);
      const audio = { type: "input_audio", input_audio: { data: sound.toString("base64"), format: "wav" } };
      const spoken = [{ role: "user", content: [audio, { type: "text", text: question }] }];
      const other = await client.chat.completions.create({
        model: hearingModel,
        messages: spoken,
        ...limits,
      });
      expect(other.choices[0].message.content).toBe(heard);
      const content = [
        { type: "input_image", image_url: url(), detail: "auto" },
        { type: "input_text", text: question },
      ];
      const response = await client.responses.create({
        ...{ model, input: [{ role: "user", content }], temperature: 0, max_output_tokens: 12 },
      });
      expect(response.output_text).toBe(seen);
    });

    it("Anthropic", async () => {
      const { default: Anthropic } = await load<Any>("@anthropic-ai/sdk");
      const client = new Anthropic({ baseURL: seeing.server.url, apiKey: "any", maxRetries: 0 });
      const source = { type: "base64", media_type: "image/png", data: picture.toString("base64") };
      const content = [
        { type: "image", source },
        { type: "text", text: question },
      ];
      const answer = await client.messages.create({
        ...{ model, max_tokens: 12, temperature: 0, messages: [{ role: "user", content }] },
      });
      expect(answer.content[0].text).toBe(seen);
    });

    it("LangChain", async () => {
      const { ChatOllama } = await load<Any>("@langchain/ollama");
      const chat = new ChatOllama({ model, baseUrl: seeing.server.url, temperature: 0, numPredict: 12 });
      // It sends the picture in a message of its own.
      const split = [
        { role: "user", content: "", images: [picture.toString("base64")] },
        { role: "user", content: question },
      ];
      const { content } = await chat.invoke([{ role: "user", content: parts() }]);
      expect([await answer(split), await answer(split.toReversed())]).toContain(content);
    });

    it("AI SDK, with the providers for Ollama and for OpenAI's API", async () => {
      const path = join(seeing.folder, "ai-sdk.png");
      await writeFile(path, picture);
      const parameters = [aiSdk, clients!.folder, seeing.server.url, model, path];
      const { stdout } = await run(process.execPath, parameters, {
        timeout: 60_000,
        // Without the conditions of this test's own process, which would load the packages' TypeScript.
        env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache },
      });
      expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toEqual({ ollama: seen, openai: seen });
    });
  });
});
