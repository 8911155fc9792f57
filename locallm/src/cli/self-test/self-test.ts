import { arch, cpus, freemem, release, totalmem, type } from "node:os";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { version } from "../../version.ts";
import { chatLine, psAnswer, versionAnswer } from "../../wire/api/answers.ts";
import { type Client, ServerError } from "../client.ts";
import { humanBytes } from "../text.ts";
import { OwnServer } from "./server.ts";

/** What one check found: `detail` for the report, or why it failed. */
export interface Outcome {
  readonly check: string;
  readonly isRight: boolean;
  readonly detail: string;
  readonly ms: number;
}

/** A model to ask, and the facts about this installation that the report begins with. */
export interface Subject {
  readonly model: string;
  readonly modelsFolder: string;
  readonly engine: string;
  readonly threads: number;
}

const question = "Write one sentence about the sea.";

/**
 * What a person would try by hand on a new machine, against a server of its own: start, load, answer, stream, stop,
 * keep a conversation, give memory back, end. `tell` gets each outcome as it is known.
 */
export async function selfTest(
  { model, modelsFolder }: Subject,
  tell: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const check = async (name: string, work: () => Promise<string>): Promise<boolean> => {
    const begun = performance.now();
    const { isRight, detail } = await work().then(
      (detail) => ({ isRight: true, detail }),
      (error: unknown) => ({
        isRight: false,
        detail: error instanceof Error ? error.message : String(error),
      }),
    );
    const outcome = { check: name, isRight, detail, ms: Math.round(performance.now() - begun) };
    outcomes.push(outcome);
    tell(outcome);
    return isRight;
  };

  let server: OwnServer | undefined;
  await check("starts", async () => {
    server = await OwnServer.start(modelsFolder);
    const { version } = await server.client.json("/api/version", versionAnswer);
    return `a server of its own; speaks Ollama ${version}`;
  });
  if (server === undefined) return outcomes;
  const { client } = server;
  const chat = (messages: readonly Message[]) =>
    client.json("/v1/chat/completions", completion, {
      body: { model, messages, temperature: 0, seed: 1, max_tokens: 24 },
    });
  const first = [{ role: "user", content: question }];
  const freeBefore = freemem();

  const isLoaded = await check("loads", async () => {
    await client.json("/api/generate", chatLine, { body: { model, keep_alive: "10m" } });
    const { models } = await client.json("/api/ps", psAnswer);
    const [loaded] = models;
    if (loaded === undefined) throw new Error("/api/ps lists no model");
    return `${humanBytes(loaded.size)}, ${humanBytes(loaded.size_vram)} of it on GPUs; free memory ${humanBytes(freeBefore)} → ${humanBytes(freemem())}`;
  });
  if (isLoaded) {
    let said = "";
    await check("answers", async () => {
      said = textOf(await chat(first));
      if (said.trim() === "") throw new Error("the answer is empty");
      if (textOf(await chat(first)) !== said) throw new Error("the same question got another answer");
      return `twice the same: ${JSON.stringify(said.slice(0, 60))}`;
    });
    await check("streams", () => streams(client, model, first, said));
    await check("stops", () => stops(client, model));
    await check("keeps", async () => {
      const other = [{ role: "user", content: "Count from one to twenty in words." }];
      const long = [{ role: "user", content: `${question} `.repeat(12) }];
      const answer = textOf(await chat(long));
      await chat(other);
      const next = [
        ...long,
        { role: "assistant", content: answer },
        { role: "user", content: "And another." },
      ];
      const { usage } = await chat(next);
      const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
      if (cached < usage.prompt_tokens / 4)
        throw new Error(
          `only ${cached} of ${usage.prompt_tokens} tokens came back after another conversation took the slot`,
        );
      return `${cached} of ${usage.prompt_tokens} tokens came back after another conversation took the slot`;
    });
    await check("survives", async () => {
      const pid = await killedInAnswer(client, model);
      if (textOf(await chat(first)) !== said) throw new Error("afterwards the question got another answer");
      return `a model whose process (${pid}) was killed in an answer was loaded again`;
    });
    await check("gives back", async () => {
      const during = freemem();
      await client.json("/api/generate", chatLine, { body: { model, keep_alive: 0 } });
      for (let tries = 0; tries < 100; tries++) {
        const { models } = await client.json("/api/ps", psAnswer);
        if (models.length === 0) return `free memory ${humanBytes(during)} → ${humanBytes(freemem())}`;
        await setTimeout(100);
      }
      throw new Error("/api/ps still lists the model after 10 s");
    });
  }
  await check("ends", async () => `in ${Math.round(await server!.stop())} ms`);
  return outcomes;
}

/** Plain text to paste into an issue. */
export function selfTestReport(
  { model, engine, threads }: Subject,
  outcomes: readonly Outcome[],
  backend: string,
): string {
  const wrong = outcomes.filter(({ isRight }) => !isRight).length;
  return [
    `locallm ${version}, Node ${process.versions.node}, ${type()} ${release()}, ${arch()}`,
    `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${threads} threads, ${humanBytes(totalmem())} of memory`,
    `engine ${engine}, backend ${backend}, model ${model}`,
    ...outcomes.map(
      ({ check, isRight, detail, ms }) =>
        `${isRight ? "ok    " : "FAILED"} ${check.padEnd(10)} ${String(ms).padStart(6)} ms  ${detail}`,
    ),
    wrong === 0 ? "All checks passed." : `${wrong} of ${outcomes.length} checks failed.`,
  ].join("\n");
}

interface Message {
  readonly role: string;
  readonly content: string;
}

const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })),
  usage: z.object({
    prompt_tokens: z.number(),
    prompt_tokens_details: z.object({ cached_tokens: z.number() }).optional(),
  }),
});

function textOf({ choices }: z.output<typeof completion>): string {
  return choices[0]?.message.content ?? "";
}

/** The lines of an answer that is written while it is made. */
function linesOf(client: Client, path: string, body: object) {
  return client.lines(path, chatLine, ({ done }) => done, { body });
}

async function streams(
  client: Client,
  model: string,
  messages: readonly Message[],
  said: string,
): Promise<string> {
  const begun = performance.now();
  const options = { temperature: 0, seed: 1, num_predict: 24 };
  let text = "";
  let count = 0;
  let firstMs = 0;
  for await (const { message } of linesOf(client, "/api/chat", { model, messages, options })) {
    if (!message?.content) continue;
    if (count++ === 0) firstMs = performance.now() - begun;
    text += message.content;
  }
  if (count < 2) throw new Error("the answer came in one piece");
  if (text !== said) throw new Error("the stream says something else than the whole answer");
  const perSecond = (count - 1) / ((performance.now() - begun - firstMs) / 1000);
  return `${count} pieces, the first after ${Math.round(firstMs)} ms, then ${perSecond.toFixed(1)} a second`;
}

/** A reader that leaves in the middle frees the only slot. */
async function stops(client: Client, model: string): Promise<string> {
  const options = { num_predict: -1, num_ctx: 2048 };
  for await (const _ of linesOf(client, "/api/generate", { model, prompt: question, raw: true, options }))
    break;
  const begun = performance.now();
  const next = { model, prompt: "x", stream: false, options: { num_predict: 1 } };
  await client.json("/api/generate", chatLine, { body: next });
  return `the next request was answered ${Math.round(performance.now() - begun)} ms after a reader left`;
}

/** Kills the process of a model in the middle of a stream, which must end with an error. Returns its id. */
async function killedInAnswer(client: Client, model: string): Promise<number> {
  for (let tries = 0; tries < 5; tries++) {
    await client.json("/api/generate", chatLine, { body: { model, keep_alive: "10m" } });
    const pid = await processOf(client);
    if (pid === null) throw new Error("/api/ps names no process of the model");
    if (await killed(client, model, pid)) return pid;
    // A small model may have ended its answer before its first line was read here.
    for (let waits = 0; waits < 100 && (await processOf(client)) === pid; waits++) await setTimeout(100);
  }
  throw new Error("the stream of a killed process ended without an error");
}

async function processOf(client: Client): Promise<number | null> {
  const { explain } = await client.json("/api/ps?explain", psAnswer);
  return explain?.loaded?.[0]?.pid ?? null;
}

/** Kills a process when it has begun to answer. Returns whether the stream ended with an error. */
async function killed(client: Client, model: string, pid: number): Promise<boolean> {
  const messages = [{ role: "user", content: question }];
  const options = { num_predict: -1, num_ctx: 2048 };
  let isKilled = false;
  try {
    for await (const _ of linesOf(client, "/api/chat", { model, messages, options })) {
      if (!isKilled) process.kill(pid, "SIGKILL");
      isKilled = true;
    }
  } catch (error) {
    if (isKilled && error instanceof ServerError) return true;
    throw error;
  }
  return false;
}
