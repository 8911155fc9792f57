import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type RerankRequest, rerankRequest } from "../wire/api/inference.ts";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Ranks } from "../wire/inference/rank.ts";
import { readBody } from "./body.ts";
import { meteredWhole } from "./metering.ts";
import { nanoseconds } from "./native/counters.ts";
import type { Parts } from "./parts.ts";
import { type LocalRun, prepareRun, type RemoteRun } from "./run.ts";

/** Cohere allows 1,000. An answer with more documents than this would block the server while it is printed. */
const mostDocuments = 16_384;
/** How many tokens a template may add to a query and its document. */
const templateTokens = 128;

/**
 * `POST /v1/rerank`, `/v2/rerank`, `/rerank` and `/api/rerank`: how well documents answer a query, best first. The
 * shape is Jina's and Cohere's; with `texts` instead of `documents` it is that of text-embeddings-inference.
 */
export function rerankRoutes(app: FastifyInstance, parts: Parts): void {
  for (const path of ["/v1/rerank", "/v2/rerank", "/rerank", "/api/rerank"])
    app.post(path, (request, reply) => rerank(parts, request, reply));
}

async function rerank(parts: Parts, request: FastifyRequest, reply: FastifyReply) {
  const body = readBody(request, reply, rerankRequest);
  const documents = documentsOf(body);
  const run = await prepareRun(parts, request, reply, body);
  const { ranks, waitedMs } =
    run.remote === null
      ? await rankedHere(run, body, documents)
      : { ranks: await rankedThere(parts, run, body, documents), waitedMs: 0 };
  const tokens = run.countEmbedded(ranks.tokens);
  if (body.texts !== undefined) return textScores(body, documents, ranks);
  const numbers = body.normalize === true ? probabilities(ranks) : ranks.scores;
  const best = bestFirst(numbers).slice(0, body.top_n);
  return {
    model: run.typedName,
    object: "list",
    results: best.map((index) => ({
      index,
      relevance_score: numbers[index],
      ...(body.return_documents === true ? { document: { text: documents[index] } } : {}),
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    total_duration: nanoseconds(performance.now() - run.startedMs),
    load_duration: nanoseconds(waitedMs),
    prompt_eval_count: tokens,
  };
}

function documentsOf({ documents, texts }: RerankRequest): string[] {
  const all = documents ?? texts;
  if (all === undefined)
    throw new LocallmError("invalid_field", { field: "documents", problem: "must be a list of texts" });
  if (all.length > mostDocuments) {
    throw new LocallmError("invalid_field", {
      field: documents === undefined ? "texts" : "documents",
      problem: `must have at most ${counted(mostDocuments, "text")}; send the rest in further requests`,
    });
  }
  return all.map((document) => (typeof document === "string" ? document : document.text));
}

async function rankedHere(run: LocalRun, body: RerankRequest, documents: readonly string[]) {
  const { query, truncate = false, max_tokens_per_doc: documentTokens = null } = body;
  const growth = { answer: templateTokens, canShorten: truncate };
  const longest = documents.reduce((most, each) => (each.length > most.length ? each : most), "");
  const pair = [`${query}\n${longest}`];
  let lease = await run.lease(
    "slot",
    run.window.sizingFor(async () => pair, growth),
  );
  try {
    if (documents.length === 0) return { ranks: noRanks, waitedMs: lease.waitedMs };
    lease = await run.window.growFor(lease, pair, growth);
    const job = { query, documents, truncate, documentTokens, numCtx: lease.numCtx };
    return { ranks: await run.rank(lease, job), waitedMs: lease.waitedMs };
  } finally {
    lease.release();
  }
}

async function rankedThere(
  parts: Parts,
  run: RemoteRun,
  body: RerankRequest,
  documents: readonly string[],
): Promise<Ranks> {
  const { query, truncate = false, max_tokens_per_doc: documentTokens = null } = body;
  if (documents.length === 0) return noRanks;
  const { caller, signal, remote, via } = run;
  const ask = { query, documents, truncate, documentTokens };
  return await meteredWhole(
    (onPlace) => parts.remotes.rerank(remote, ask, { signal, key: caller.id, via, onPlace }),
    documents,
    caller,
    signal,
  );
}

const noRanks: Ranks = { scores: [], areProbabilities: true, tokens: [] };

/** The indices of the numbers, largest first; of equal ones the earlier first. */
function bestFirst(numbers: readonly number[]): number[] {
  return numbers.map((_, index) => index).sort((a, b) => numbers[b]! - numbers[a]! || a - b);
}

/** text-embeddings-inference answers probabilities unless the request says `raw_scores`. */
function textScores(body: RerankRequest, documents: readonly string[], ranks: Ranks) {
  const numbers = body.raw_scores === true ? ranks.scores : probabilities(ranks);
  return bestFirst(numbers).map((index) => ({
    index,
    score: numbers[index],
    ...(body.return_text === true ? { text: documents[index] } : {}),
  }));
}

function probabilities({ scores, areProbabilities }: Ranks): readonly number[] {
  return areProbabilities ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)));
}
