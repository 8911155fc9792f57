import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { startLlamaServer } from "./llama-server.ts";
import { createModelStore } from "./model-store.ts";
import { startServerHere } from "./server-process.ts";
import {
  type Family,
  families,
  type HearingFamily,
  hearingFamilies,
  smallHearer,
  smallProjector,
  smallSeer,
} from "./small-projector.ts";

type Content =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } };
type AnyFamily = Family | HearingFamily;
export interface ChatMessage {
  readonly role: string;
  readonly content: string | readonly Content[];
}

export interface Said {
  readonly text: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Each token, and by how much it was more likely than the next best, as a difference of log probabilities. */
  readonly steps: readonly { readonly token: string; readonly lead: number }[];
}

/** A server with a model of each family that sees or hears, and llama.cpp's server with the same files. */
export async function startSeeing(engines: string, seed: number, env: Record<string, string> = {}) {
  const store = await createModelStore();
  const files = new Map<AnyFamily, { readonly model: string; readonly projector: string }>();
  for (const [index, family] of [...families, ...hearingFamilies].entries()) {
    const paths = {
      model: join(store.folder, `${family}.gguf`),
      projector: join(store.folder, `${family}.mmproj`),
    };
    await writeFile(paths.model, smallSeer(family, seed + index));
    await writeFile(paths.projector, projector(family, seed + 10 + index));
    files.set(family, paths);
  }
  const add = async (name: string, model: AnyFamily, projector: AnyFamily) => {
    const weights = await store.put(files.get(model)!.model);
    const mmproj = await store.put(files.get(projector)!.projector);
    await store.derive(name, {
      files: { "model.gguf": weights, "mmproj.gguf": mmproj },
      parameters: { num_thread: 1, num_ctx: 512 },
    });
  };
  for (const family of [...families, ...hearingFamilies]) await add(`${family}:1`, family, family);
  const server = await startServerHere({ models: store.folder, env: { LOCALLM_ENGINES: engines, ...env } });
  return {
    server,
    /** For a test's own files. */
    folder: store.folder,
    /** Creates a model from the weights of one family and the projector of another. */
    add,
    async ask(family: AnyFamily, messages: readonly ChatMessage[]): Promise<Said> {
      return said(await server.ask("/v1/chat/completions", request(family, messages)));
    },
    /** Asks llama.cpp's server. */
    async peer(family: AnyFamily) {
      const { model, projector } = files.get(family)!;
      const peer = await startLlamaServer(model, 1, "generate", projector);
      return {
        async ask(messages: readonly ChatMessage[]): Promise<Said> {
          const body = JSON.stringify(request(family, messages));
          const response = await fetch(`${peer.url}/chat/completions`, { method: "POST", body });
          return said(await response.json());
        },
        stop: peer.stop,
      };
    },
    /** How many pictures were encoded, and how many were found encoded. */
    async counts(): Promise<{ encoded: number; found: number; failed: number }> {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const count = (outcome: string) =>
        Number(
          new RegExp(`^locallm_pictures_total\\{outcome="${outcome}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0,
        );
      return { encoded: count("encoded"), found: count("found"), failed: count("failed") };
    },
    async stop() {
      await server.stop();
      await store.remove();
    },
  };
}

function projector(family: AnyFamily, seed: number): Buffer {
  return family === "ultravox" || family === "voxtral"
    ? smallHearer(family, seed)
    : smallProjector(family, seed);
}

function request(family: AnyFamily, messages: readonly ChatMessage[]) {
  return { model: `${family}:1`, messages, temperature: 0, max_tokens: 24, ...best };
}

const best = { logprobs: true, top_logprobs: 2 };

interface Step {
  readonly token: string;
  readonly top_logprobs: readonly { readonly logprob: number }[];
}

function said(answer: unknown): Said {
  const { choices, usage } = answer as {
    choices?: { message: { content: string }; logprobs: { content: readonly Step[] } | null }[];
    usage: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens?: number } };
  };
  if (choices?.[0] === undefined) throw new Error(JSON.stringify(answer).slice(0, 500));
  return {
    text: choices[0].message.content,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    steps: (choices[0].logprobs?.content ?? []).map(({ token, top_logprobs: [first, second] }) => ({
      token,
      lead: (first?.logprob ?? 0) - (second?.logprob ?? Number.NEGATIVE_INFINITY),
    })),
  };
}

export async function noise(width: number, height: number, mean: number): Promise<Buffer> {
  const made = { type: "gaussian", mean, sigma: 60 } as const;
  return await sharp({ create: { width, height, channels: 3, background: "red", noise: made } })
    .png()
    .toBuffer();
}

/** A WAV file of 16 bits: a tone that rises, under noise. */
export function wave(seconds: number, rate = 16_000, channels = 1, low = 200): Buffer {
  const count = Math.round(seconds * rate) * channels;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + count * 2, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * channels * 2, 28);
  head.writeUInt16LE(channels * 2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(count * 2, 40);
  const numbers = Int16Array.from({ length: count }, (_, index) => {
    const at = Math.floor(index / channels) / rate;
    const loud = Math.sin(2 * Math.PI * (low + 300 * at) * at) + 0.3 * Math.sin(index * index);
    return Math.round(8000 * loud);
  });
  return Buffer.concat([head, Buffer.from(numbers.buffer)]);
}

/** Conversations with texts and pictures in any order, which fit a window of 512 tokens. */
export async function randomTalk(
  random: (below: number) => number,
  pictures: number,
): Promise<ChatMessage[]> {
  const words = ["What is", "here?", "and", "compare", "图里有什么", "the next", "one:\n", " "];
  const messages: ChatMessage[] = [];
  for (let picture = 0; picture < pictures; picture++) {
    const [width, height] = [8 + random(220), 8 + random(220)];
    const url = `data:image/png;base64,${(await noise(width, height, 40 + random(180))).toString("base64")}`;
    const content: Content[] = [{ type: "image_url", image_url: { url } }];
    if (random(4) > 0) content.unshift({ type: "text", text: words[random(words.length)]! });
    if (random(4) > 0) content.push({ type: "text", text: words[random(words.length)]! });
    messages.push({ role: "user", content });
    if (picture < pictures - 1) messages.push({ role: "assistant", content: words[random(words.length)]! });
  }
  return messages;
}
