import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../fuzz/random.ts";
import type { Bookkeeping } from "./bookkeeping.ts";

export interface Traffic {
  stopping: boolean;
  readonly faults: string[];
}

/** Nothing takes that long, also beside a start on a busy machine. */
export const longestMs = 600_000;

/**
 * Asks dataq until it is told to stop, each question with its Idempotency-Key until it is answered. An answer says what was
 * paid, unless it is the replay of one that was lost.
 */
export async function payForAnswers(traffic: Traffic, books: Bookkeeping, random: Random): Promise<void> {
  while (!traffic.stopping) {
    const key = random.pick(books.keys);
    const body = {
      operation: "enterprise_shixin_check",
      params: { company_name: `第${random.below(1_000_000)}公司` },
      cache: random.pick(["default", "bypass"]),
    };
    const asked = { key, body: JSON.stringify(body), idempotencyKey: randomUUID() };
    const usage = await untilAnswered(traffic, books, asked);
    if (usage !== null)
      books.answered(asked.idempotencyKey, {
        key,
        tokens: usage.reason === "replayed" ? null : usage.tokens,
      });
    await sleep(20 + random.below(200));
  }
}

interface Asked {
  readonly key: string;
  readonly body: string;
  readonly idempotencyKey: string;
}

interface Usage {
  readonly tokens: number;
  readonly reason?: string;
}

/** Returns what the answer says that it cost, or null if the call was refused for good. */
async function untilAnswered(traffic: Traffic, books: Bookkeeping, asked: Asked): Promise<Usage | null> {
  let isLate = false;
  for (const end = Date.now() + longestMs; ; await sleep(200)) {
    const answer = await fetch(`${books.url}/v1/data/query`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${asked.key}`,
        "content-type": "application/json",
        "idempotency-key": asked.idempotencyKey,
      },
      body: asked.body,
      signal: AbortSignal.timeout(longestMs),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: Error) => ({ status: 0, text: String(error) }));
    if (answer.status === 200) {
      books.count("answers of dataq");
      return (JSON.parse(answer.text) as { usage: Usage }).usage;
    }
    books.count(
      answer.status === 0 ? "calls of dataq whose connection broke" : `status ${answer.status} of dataq`,
    );
    if (![0, 409, 429, 500, 502, 503, 504].includes(answer.status)) {
      traffic.faults.push(`dataq answered ${answer.status}: ${answer.text.slice(0, 300)}`);
      return null;
    }
    // It may be paid already, so it is asked on, until its answer says so.
    if (Date.now() > end && !isLate) {
      isLate = true;
      traffic.faults.push(
        `dataq did not answer a call in time: ${answer.status} ${answer.text.slice(0, 300)}`,
      );
    }
  }
}

interface Models {
  readonly url: string | undefined;
  readonly counts: Record<string, number>;
}

/** Asks locallm until it is told to stop: answers, many of which are left, vectors and lists. */
export async function askModels(traffic: Traffic, models: Models, random: Random): Promise<void> {
  const count = (what: string) => {
    models.counts[what] = (models.counts[what] ?? 0) + 1;
  };
  while (!traffic.stopping) {
    const { url } = models;
    if (url === undefined) {
      await sleep(100);
      continue;
    }
    const leaving = new AbortController();
    const isLeft = random.below(3) === 0;
    const leave = isLeft ? setTimeout(() => leaving.abort(), random.below(400)) : undefined;
    const late = AbortSignal.timeout(longestMs);
    try {
      const { route, body } = requestOf(random);
      const response = await fetch(url + route, {
        method: "POST",
        body: JSON.stringify(body),
        signal: AbortSignal.any([leaving.signal, late]),
      });
      const text = await response.text();
      if (response.status === 200 && /"done":true|"embeddings"|"error"/.test(text))
        count(
          text.includes('"error"') ? "answers of locallm that broke with their model" : "answers of locallm",
        );
      else if (response.status === 200)
        traffic.faults.push(`an answer of locallm without an end: ${text.slice(-200)}`);
      else if ([400, 500, 502, 503, 504].includes(response.status))
        count(`status ${response.status} of locallm`);
      else traffic.faults.push(`locallm answered ${response.status}: ${text.slice(0, 300)}`);
    } catch (error) {
      if (leaving.signal.aborted) count("answers of locallm that were left");
      else if (late.aborted) traffic.faults.push("locallm did not end a call");
      else if (error instanceof TypeError) count("calls of locallm whose connection broke");
      else throw error;
    } finally {
      clearTimeout(leave);
    }
    await sleep(random.below(100));
  }
}

function requestOf(random: Random): { readonly route: string; readonly body: object } {
  const words = Array.from({ length: 1 + random.below(60) }, () => String(random.below(1_000))).join(" ");
  if (random.below(4) === 0)
    return { route: "/api/embed", body: { model: "vectors", input: [words, words.slice(0, 20)] } };
  const options = { num_predict: 5 + random.below(40), seed: random.below(100) };
  return {
    route: "/api/generate",
    body: { model: random.pick(["small", "small", "other"]), prompt: words, options },
  };
}
