import { arch, cpus, freemem, release, totalmem, type } from "node:os";
import { setTimeout } from "node:timers/promises";
import { version } from "../../version.ts";
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
    const { version } = await json<{ version: string }>(server.url, "/api/version");
    return `a server of its own; speaks Ollama ${version}`;
  });
  if (server === undefined) return outcomes;
  const { url } = server;
  const chat = (messages: readonly Message[], more: object = {}) =>
    json<Answer>(url, "/v1/chat/completions", {
      model,
      messages,
      temperature: 0,
      seed: 1,
      max_tokens: 24,
      ...more,
    });
  const first = [{ role: "user", content: question }];
  const freeBefore = freemem();

  const isLoaded = await check("loads", async () => {
    await json(url, "/api/generate", { model, keep_alive: "10m" });
    const { models } = await json<{ models: { size: number; size_vram: number }[] }>(url, "/api/ps");
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
    await check("streams", () => streams(url, model, first, said));
    await check("stops", () => stops(url, model));
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
      const { explain } = await json<{ explain: { loaded: { pid: number | null }[] } }>(
        url,
        "/api/ps?explain",
      );
      const pid = explain.loaded[0]?.pid;
      if (typeof pid !== "number") throw new Error("/api/ps names no process of the model");
      await killed(url, model, pid);
      if (textOf(await chat(first)) !== said) throw new Error("afterwards the question got another answer");
      return `a model whose process (${pid}) was killed in an answer was loaded again`;
    });
    await check("gives back", async () => {
      const during = freemem();
      await json(url, "/api/generate", { model, keep_alive: 0 });
      for (let tries = 0; tries < 100; tries++) {
        const { models } = await json<{ models: unknown[] }>(url, "/api/ps");
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

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens: number };
  };
}

function textOf({ choices }: Answer): string {
  return choices[0]?.message.content ?? "";
}

async function json<Body>(url: string, path: string, body?: object): Promise<Body> {
  const answer = await send(url, path, body);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Body;
}

function send(url: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
  if (body === undefined) return fetch(`${url}${path}`);
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
}

async function* pieces(answer: Response): AsyncGenerator<{ message: { content: string }; done: boolean }> {
  let rest = "";
  for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line);
  }
}

async function streams(
  url: string,
  model: string,
  messages: readonly Message[],
  said: string,
): Promise<string> {
  const begun = performance.now();
  const options = { temperature: 0, seed: 1, num_predict: 24 };
  const answer = await send(url, "/api/chat", { model, messages, options });
  if (!answer.ok) throw new Error(`/api/chat answered ${answer.status}`);
  let text = "";
  let count = 0;
  let firstMs = 0;
  for await (const { message } of pieces(answer)) {
    if (message.content === "") continue;
    if (count++ === 0) firstMs = performance.now() - begun;
    text += message.content;
  }
  if (count < 2) throw new Error("the answer came in one piece");
  if (text !== said) throw new Error("the stream says something else than the whole answer");
  const perSecond = (count - 1) / ((performance.now() - begun - firstMs) / 1000);
  return `${count} pieces, the first after ${Math.round(firstMs)} ms, then ${perSecond.toFixed(1)} a second`;
}

/** A reader that leaves in the middle frees the only slot. */
async function stops(url: string, model: string): Promise<string> {
  const leaving = new AbortController();
  const body = { model, prompt: question, raw: true, options: { num_predict: -1, num_ctx: 2048 } };
  const answer = await send(url, "/api/generate", body, leaving.signal);
  if (!answer.ok) throw new Error(`/api/generate answered ${answer.status}`);
  const reader = answer.body!.getReader();
  await reader.read();
  leaving.abort();
  await reader.cancel().catch(() => {});
  const begun = performance.now();
  await json(url, "/api/generate", { model, prompt: "x", stream: false, options: { num_predict: 1 } });
  return `the next request was answered ${Math.round(performance.now() - begun)} ms after a reader left`;
}

/** Kills the process of a model in the middle of a stream, which must end with an error. */
async function killed(url: string, model: string, pid: number): Promise<void> {
  const options = { num_predict: -1, num_ctx: 2048 };
  const answer = await send(url, "/api/chat", {
    model,
    messages: [{ role: "user", content: question }],
    options,
  });
  let last = "";
  let isKilled = false;
  for await (const piece of pieces(answer)) {
    if (!isKilled) process.kill(pid, "SIGKILL");
    isKilled = true;
    last = JSON.stringify(piece);
  }
  if (!last.includes('"error"'))
    throw new Error(`the stream of a killed process ended with ${last.slice(0, 200)}`);
}
