import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSound } from "../src/runner/sound-file.ts";
import { hasLlamaServer } from "./llama-server.ts";
import { startSeeing, wave } from "./seeing.ts";
import { hearingFamilies } from "./small-projector.ts";

const engines = process.env["TEST_ENGINES"];

// `locallm doctor --install vision` with LOCALLM_ENGINES makes the folder.
describe.skipIf(engines === undefined)("a model that hears (needs TEST_ENGINES)", () => {
  let all: Awaited<ReturnType<typeof startSeeing>>;
  beforeAll(async () => {
    all = await startSeeing(engines!, 31);
  });
  afterAll(() => all?.stop());
  const sound = (bytes: Buffer, format: "wav" | "mp3" = "wav") =>
    ({ type: "input_audio", input_audio: { data: bytes.toString("base64"), format } }) as const;
  const text = (words: string) => ({ type: "text", text: words }) as const;

  it.skipIf(!hasLlamaServer).each(hearingFamilies)(
    "says what llama.cpp's server says of the same sounds: %s (needs xllamacpp)",
    async (family) => {
      const peer = await all.peer(family);
      try {
        for (const seconds of [0.4, 31]) {
          const talk = [
            { role: "user", content: [text("What is"), sound(wave(seconds)), text("here?")] },
            { role: "assistant", content: "a tone" },
            { role: "user", content: [sound(wave(1.3, 16_000, 1, 900))] },
          ];
          const [here, there] = [await all.ask(family, talk), await peer.ask(talk)];
          expect(here.promptTokens).toBe(there.promptTokens);
          expect(here.text).toBe(there.text);
        }
      } finally {
        await peer.stop();
      }
    },
  );

  const answer = async (path: string, body: object, model = "voxtral:1") =>
    await all.server.ask<{
      message: { content: string };
      response: string;
      prompt_eval_count: number;
      choices: { message: { content: string } }[];
      usage: { prompt_tokens: number };
    }>(path, {
      ...{ model, stream: false, temperature: 0, max_tokens: 12 },
      ...{ options: { temperature: 0, num_predict: 12 }, ...body },
    });
  const asked = (content: object) => ({ messages: [{ role: "user", content }] });

  it("hears the same through every API, and something else in another sound", async () => {
    const file = wave(0.7, 44_100, 2);
    const images = [file.toString("base64")];
    const before = await all.counts();
    const part = await answer("/v1/chat/completions", asked([sound(file), text("What?")]));
    const chat = await answer("/api/chat", { messages: [{ role: "user", content: "What?", images }] });
    expect(chat.message.content).toBe(part.choices[0]!.message.content);
    expect(chat.prompt_eval_count).toBe(part.usage.prompt_tokens);
    expect(chat.prompt_eval_count).toBeGreaterThan(75);
    expect(await answer("/api/generate", { prompt: "x", images })).toMatchObject({
      response: expect.any(String),
      prompt_eval_count: expect.any(Number),
    });
    expect((await all.counts()).encoded - before.encoded).toBe(1);
    const other = await answer("/v1/chat/completions", asked([sound(wave(2, 8000, 1, 900)), text("What?")]));
    expect(other.choices[0]!.message.content).not.toBe(chat.message.content);
  });

  it("hears an MP3 file as the WAV file of the same samples", async () => {
    const tone = await readFile(join(import.meta.dirname, "tone.mp3"));
    const heard = await answer("/v1/chat/completions", asked([sound(tone, "mp3")]));
    const { rate, samples } = await readSound(tone, 10);
    const copy = wave(samples.length / rate, rate);
    for (const [index, sample] of samples.entries())
      copy.writeInt16LE(Math.round(Math.max(-1, Math.min(0.9999, sample)) * 32_768), 44 + 2 * index);
    const same = await answer("/v1/chat/completions", asked([sound(copy)]));
    expect(same.choices).toEqual(heard.choices);
  });

  it.each([
    ["a model that sees only", "llava:1", wave(0.1), '"llava:1" does not support audio'],
    [
      "a WAV file that is cut off",
      "voxtral:1",
      wave(0.1).subarray(0, 30),
      "is a sound that cannot be read: ",
    ],
    ["a sound of hours", "voxtral:1", wave(3601, 1000), "it is longer than 600 seconds"],
  ])("refuses %s, by its field", async (_, model, bytes, expected) => {
    const response = await all.server.post("/v1/chat/completions", { model, ...asked([sound(bytes)]) });
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, error.message]).toEqual([400, expect.stringContaining(expected)]);
  });

  it("refuses pictures for a model that hears only, and a sound that is not of the format that is said", async () => {
    for (const [model, part, expected] of [
      ["voxtral:1", { type: "image_url", image_url: { url: png } }, "does not support vision"],
      ["voxtral:1", { ...sound(wave(0.1), "mp3") }, "input_audio.format says mp3, but the sound is wav"],
    ] as const) {
      const response = await all.server.post("/v1/chat/completions", { model, ...asked([part]) });
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(expected)]);
    }
  });
});

const png = `data:image/png;base64,${Buffer.from("\x89PNG\r\n\x1a\n....", "latin1").toString("base64")}`;
