import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mostSlots } from "../src/wire/inference/load.ts";
import { createModelStore } from "../test/model-store.ts";
import { startServer } from "../test/server-process.ts";
import { smallLlama } from "../test/small-llama.ts";

export const title = "As many streams at once as the engine has sequences, on a tiny model over HTTP";

const tokens = 96;
const window = 512;

interface Stream {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly tokens: number;
}

/**
 * 256 slots of a model with 100,000 weights: first as many streams as slots, then half as many again, each way of
 * holding their caches. A fair server gives all of them the same share: Jain's index of the streams' speeds is 1 if all
 * are the same, and 1/n if one has everything.
 */
export async function run(print: (line: string) => void): Promise<void> {
  print(
    "| cache | streams | answered | tokens/s in all | Jain's index of their speeds | slowest to median | last begins, ms | first ends, ms |",
  );
  print("| --- | --: | --: | --: | --: | --: | --: | --: |");
  const problems: string[] = [];
  const store = await createModelStore();
  await writeFile(join(store.folder, "small.gguf"), smallLlama(7));
  await store.add("small:a", join(store.folder, "small.gguf"), { parameters: { num_thread: 1 } });
  for (const shared of ["off", "on"] as const) {
    const server = await startServer({
      models: store.folder,
      env: {
        LOCALLM_NUM_PARALLEL: String(mostSlots),
        LOCALLM_SHARED_CACHE: shared,
        LOCALLM_MAX_QUEUE: "512",
      },
    });
    try {
      await server.ask("/api/generate", { model: "small:a", prompt: "", options: { num_ctx: window } });
      for (const count of [mostSlots, mostSlots + mostSlots / 2]) {
        const begin = performance.now();
        const streams = await Promise.all(
          Array.from({ length: count }, (_, at) => stream(server.url, count, at, begin)),
        );
        const seconds = (performance.now() - begin) / 1000;
        const whole = streams.filter((one) => one.tokens === tokens);
        if (whole.length < count) problems.push(`${count - whole.length} of ${count} streams are not whole`);
        const speeds = whole
          .map(({ firstMs, lastMs }) => (tokens - 1) / (lastMs - firstMs))
          .sort((a, b) => a - b);
        const sum = speeds.reduce((a, b) => a + b, 0);
        const jain = sum ** 2 / (speeds.length * speeds.reduce((a, b) => a + b * b, 0));
        const slowest = speeds[0]! / speeds[speeds.length >> 1]!;
        const lastBegins = Math.max(...whole.map(({ firstMs }) => firstMs));
        const firstEnds = Math.min(...whole.map(({ lastMs }) => lastMs));
        print(
          `| ${shared === "off" ? "one for each" : "shared"} | ${count} | ${whole.length} | ${((count * tokens) / seconds).toFixed(0)} | ${jain.toFixed(3)} | ${slowest.toFixed(2)} | ${lastBegins.toFixed(0)} | ${firstEnds.toFixed(0)} |`,
        );
      }
    } finally {
      await server.stop();
    }
  }
  await store.remove();
  if (problems.length > 0) throw new Error(problems.join("; "));
}

/** `count` makes the prompts differ from those of another round, whose conversations are still in the slots. */
async function stream(url: string, count: number, at: number, begin: number): Promise<Stream> {
  const prompt = `${count} ${at} ${"abcdefghij".slice(0, 1 + (at % 10))}`;
  const options = { num_predict: tokens, num_ctx: window, temperature: 0 };
  const body = JSON.stringify({ model: "small:a", prompt, raw: true, options });
  const response = await fetch(`${url}/api/generate`, { method: "POST", body });
  let firstMs = 0;
  let lastMs = 0;
  let told = 0;
  let rest = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const { response: text, eval_count = 0, error } = JSON.parse(line);
      if (error) throw new Error(error);
      told = eval_count || told;
      if (!text) continue;
      const nowMs = performance.now() - begin;
      if (firstMs === 0) firstMs = nowMs;
      lastMs = nowMs;
    }
  }
  return { firstMs, lastMs, tokens: told };
}
