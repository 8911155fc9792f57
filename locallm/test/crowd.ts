import { lines, type TestServer, until } from "./server-process.ts";

export interface Answered {
  readonly index: number;
  readonly model: string;
  readonly done: boolean;
}

/**
 * Sends requests for several models and queues them in the order of their index. An open stream occupies the
 * first model's only slot until all requests have arrived.
 */
export async function crowd(
  server: TestServer,
  models: readonly string[],
  count: number,
  options: Record<string, unknown>,
): Promise<Answered[]> {
  const gone = new AbortController();
  const held = await server.post(
    "/api/generate",
    { model: models[0], prompt: "1 2 3", options: { ...options, num_predict: -1 }, shift: true },
    { signal: gone.signal },
  );
  await lines(held).next();
  const answers: Promise<Answered>[] = [];
  for (let index = 0; index < count; index++) {
    const model = models[index % models.length]!;
    answers.push(
      server
        .post(
          "/api/generate",
          { model, prompt: `${index}`, stream: false, options },
          {
            headers: { "x-request-id": `crowd-${index}` },
          },
        )
        .then(async (response) => {
          const { done } = (await response.json()) as { done?: boolean };
          return { index, model, done: done === true };
        }),
    );
    await until(`${index + 1} requests wait`, async () => {
      const health = (await (await fetch(`${server.url}/health`)).json()) as { queued: number };
      return health.queued === index + 1;
    });
  }
  gone.abort();
  return Promise.all(answers);
}

/** The indices of the requests in the order in which the server finished them. */
export function endedOrder(server: TestServer): number[] {
  return server.log
    .map((line) => /^crowd-(\d+)$/.exec(String(line["requestId"]))?.[1])
    .filter((index) => index !== undefined)
    .map(Number);
}

/** Runs clients that disconnect at a random moment: before the first line, between lines, or never. */
export async function vanishing(
  server: TestServer,
  model: string,
  count: number,
  random: () => number,
): Promise<{ left: number; served: number }> {
  const clients = Array.from({ length: count }, () => ({
    // Half of them disconnect after some lines, a quarter after some time.
    afterLines: random() < 0.5 ? Math.floor(random() * 20) : Number.POSITIVE_INFINITY,
    afterMs: random() < 0.5 ? random() * 500 : null,
  }));
  const outcomes = await Promise.all(clients.map((client) => visit(server, model, client)));
  const served = outcomes.filter(Boolean).length;
  return { left: count - served, served };
}

/** Returns true if the client stayed until the last line. */
async function visit(
  server: TestServer,
  model: string,
  { afterLines, afterMs }: { afterLines: number; afterMs: number | null },
): Promise<boolean> {
  const gone = new AbortController();
  if (afterMs !== null) setTimeout(() => gone.abort(), afterMs);
  try {
    const body = { model, prompt: "1 2 3", options: { num_predict: 30, temperature: 0 } };
    const response = await server.post("/api/generate", body, { signal: gone.signal });
    let seen = 0;
    for await (const line of lines(response)) {
      if (line["done"] === true) return true;
      if (seen++ >= afterLines) {
        gone.abort();
        return false;
      }
    }
    throw new Error("a stream ended without its last line");
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    return false;
  }
}

export interface Explained {
  readonly explain: {
    readonly loaded: readonly {
      model: string;
      active: number;
      slots: number;
      waiting: number;
      pid: number;
      context_length: number;
    }[];
    readonly waiting: readonly { model: string; count: number }[];
    readonly decisions: readonly { model: string; what: string; why: string }[];
  };
}

/** A small random number generator from 0 to 1. The same seed gives the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Kills the model's process after the first piece of a stream. Returns the text of the whole stream. */
export async function brokenStream(server: TestServer, response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  const { explain } = await server.ask<Explained>("/api/ps?explain");
  process.kill(explain.loaded[0]!.pid, "SIGKILL");
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
  return text;
}
