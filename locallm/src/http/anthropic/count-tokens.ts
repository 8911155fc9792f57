import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { RecentlyUsed } from "../../library/recently-used.ts";
import { countTokensRequest } from "../../wire/anthropic/messages.ts";
import { LocallmError } from "../../wire/errors.ts";
import { readBody } from "../body.ts";
import type { Parts } from "../parts.ts";
import { type LocalRun, localRun, prepareRun, type Run } from "../run.ts";
import { seenPrompt, seenTurn } from "../seen-turn.ts";
import { type AskedTurn, askedTurn } from "./asked-turn.ts";

/** The number of cached results. Agents repeatedly count each part of a conversation separately. */
const keptCounts = 1024;

/** More tokens than any window has. The limit is needed because the runner sends the tokens as a list. */
const mostTokens = 1_048_576;

/**
 * `POST /v1/messages/count_tokens`: returns exactly the number of prompt tokens that `/v1/messages` would
 * compute.
 */
export function countTokensRoute(app: FastifyInstance, parts: Parts): void {
  const counts = new RecentlyUsed<string, number>(keptCounts);
  app.post("/v1/messages/count_tokens", async (request, reply) => {
    const body = readBody(request, reply, countTokensRequest);
    const run = localRun(await prepareRun(parts, request, reply, body), "count_tokens");
    const asked = await askedTurn(parts, run, body);
    const key = countKey(run, asked, parts.now());
    const known = counts.get(key) ?? (await count(parts, run, asked));
    counts.set(key, known);
    return { input_tokens: known };
  });
}

/** The key contains the date, because templates may print it. */
function countKey({ model }: Run, { turn }: AskedTurn, now: Date): string {
  const { messages, tools, toolChoice, think } = turn;
  const parts = [model.digest, now.toDateString(), messages, tools, toolChoice, think];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

async function count(parts: Parts, run: LocalRun, asked: AskedTurn): Promise<number> {
  const dialogue = await parts.dialogues.of(run.model);
  const { turn, pictures } = await seenTurn(run, asked.turn);
  const lease = await run.lease("visit");
  try {
    const prompt = await dialogue.prompt(turn, run.promptVocabulary(lease), run.signal);
    const { length } = await seenPrompt(prompt, pictures, lease, { limit: mostTokens, signal: run.signal });
    if (length > mostTokens) throw new LocallmError("content_too_long", { limit: mostTokens });
    return length;
  } finally {
    lease.release();
  }
}
