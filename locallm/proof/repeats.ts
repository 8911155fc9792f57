import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type { Runner } from "../src/runner/handle.ts";
import type { GenerateJob } from "../src/wire/inference/generate.ts";
import { defaultSampling } from "../src/wire/inference/generate.ts";
import { collect, newJob, startModel } from "../test/runner/jobs.ts";
import { smallLlama, smallModel } from "../test/small-llama.ts";
import { starterModelPath } from "../test/starter-model.ts";

export const title = "How often an answer repeats, from a cold cache and from a warm one";

const prompts = 1_000;
const answerTokens = 16;

const ways = ["the same request again", "as the next turn of a conversation"] as const;
const samplings = ["temperature 0", "temperature 0.8 with a seed"] as const;

/**
 * The result for one prompt: the number of tokens of the cold answer, and how many of them each repetition
 * reproduced.
 */
interface Row {
  readonly prompt: number;
  readonly tokens: number;
  readonly repeated: readonly number[];
}

/**
 * Each prompt is the second turn of a conversation. The model answers it three times: after the generated
 * answer to the first turn, with a cold cache, and again with its own cache. The cold answer is
 * `deterministic`. For every ninth prompt a second cold answer must be equal to it.
 */
export async function run(print: (line: string) => void, folder: string): Promise<void> {
  const starter = await starterModelPath();
  if (starter === null) throw new Error("the starter model cannot be fetched");
  const small = `${folder}/small.gguf`;
  writeFileSync(small, smallLlama(7));
  print(`${prompts} prompts, ${answerTokens} tokens an answer, one thread.\n`);
  print("| model | sampling | way | answers repeated whole | tokens that repeated |");
  print("|---|---|---|---:|---:|");
  await prove("llama, random weights", small, `${folder}/small.jsonl`, print);
  for (const architecture of ["gemma3", "jamba"] as const) {
    const path = `${folder}/${architecture}.gguf`;
    writeFileSync(path, smallModel(architecture, 7));
    await prove(`${architecture}, random weights`, path, `${folder}/${architecture}.jsonl`, print);
  }
  await prove("SmolLM2 135M Q4_1", starter, `${folder}/rows.jsonl`, print);
}

async function prove(
  model: string,
  path: string,
  file: string,
  print: (line: string) => void,
): Promise<void> {
  const rows = readRows(file);
  const runner = await startModel(path, { numCtx: 2_048 });
  try {
    for (let prompt = rows.length; prompt < prompts; prompt++) {
      const row = await measure(runner, prompt);
      rows.push(row);
      appendFileSync(file, `${JSON.stringify(row)}\n`);
    }
  } finally {
    await runner.kill();
  }
  for (const [index, sampling] of samplings.entries()) {
    const these = rows.filter(({ prompt }) => prompt % 2 === index);
    for (const [way, name] of ways.entries()) {
      const whole = these.filter(({ repeated, tokens }) => repeated[way] === tokens).length;
      const tokens = these.reduce((sum, row) => sum + row.tokens, 0);
      const same = these.reduce((sum, { repeated }) => sum + repeated[way]!, 0);
      print(
        `| ${model} | ${sampling} | ${name} | ${whole} of ${these.length} | ${((same / tokens) * 100).toFixed(2)} % |`,
      );
    }
  }
}

async function measure(runner: Runner, prompt: number): Promise<Row> {
  const sampling =
    prompt % 2 === 0 ? { ...defaultSampling, temperature: 0 } : { ...defaultSampling, seed: prompt };
  const answer = async (job: GenerateJob) => {
    const { done } = await collect(runner.generate({ ...job, wantContext: true }));
    return { ids: done.context!.slice(done.promptTokens), context: done.context! };
  };
  const first = newJob(question(prompt), { numCtx: 2_048, numPredict: 6, sampling });
  const said = (await answer(first)).context;
  const next = "<|im_end|>\n<|im_start|>user\nAnd why?<|im_end|>\n<|im_start|>assistant\n";
  const second = newJob([said, next], { numCtx: 2_048, numPredict: answerTokens, sampling });
  const asNextTurn = await answer(second);
  const cold = await answer({ ...second, deterministic: true });
  const again = await answer(second);
  if (prompt % 9 === 0) {
    const repeat = await answer({ ...second, deterministic: true });
    if (sameTokens(cold.ids, repeat.ids) < cold.ids.length)
      throw new Error(`prompt ${prompt} did not repeat with deterministic`);
  }
  return {
    prompt,
    tokens: cold.ids.length,
    repeated: [again, asNextTurn].map(({ ids }) => sameTokens(cold.ids, ids)),
  };
}

function sameTokens(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((token, index) => token !== b[index]);
  return at < 0 ? a.length : at;
}

const askers = [
  "a teacher",
  "a sailor",
  "a nurse",
  "a farmer",
  "a student",
  "a cook",
  "a judge",
  "a painter",
  "a child",
  "a pilot",
];
const topics = [
  "rain",
  "bread",
  "the moon",
  "old bridges",
  "bees",
  "money",
  "winter",
  "ships",
  "music",
  "glass",
];
const places = [
  "in Norway",
  "at home",
  "in the mountains",
  "by the sea",
  "in a big city",
  "at school",
  "in a garden",
  "on a train",
  "in the desert",
  "at night",
];

/**
 * Lengths range from 30 to 210 tokens, because batches of 64 rows or more are computed differently from
 * smaller ones.
 */
function question(prompt: number): string {
  const pick = (words: readonly string[], by: number) => words[Math.floor(prompt / by) % words.length];
  const background = Array.from(
    { length: (prompt * 7) % 10 },
    (_, index) =>
      `Note ${index + 1}: ${pick(askers, index + 1)} once lived ${pick(places, index + 2)} and wrote about ${pick(topics, index + 3)}. `,
  ).join("");
  return `<|im_start|>user\n${background}${pick(askers, 1)} asks about ${pick(topics, 10)} ${pick(places, 100)}. What should one know?<|im_end|>\n<|im_start|>assistant\n`;
}

function readRows(file: string): Row[] {
  try {
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
  } catch {
    return [];
  }
}
