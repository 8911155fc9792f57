import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { Ranks } from "../../wire/inference/rank.ts";
import { ask, bearer } from "../asking.ts";
import type { RemoteCall, RemoteRanking, Upstream } from "../engine.ts";
import { hostOf } from "../failure.ts";
import { asAmount, asCount, asList, asObject, readObject } from "../json-body.ts";

/** An answer has some hundred bytes for each document, also if the engine repeats none of them. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** Jina's and Cohere's route, which llama-server, vLLM, SGLang and locallm have below `/v1`, too. */
export async function rerank(
  upstream: Upstream,
  { query, documents, truncate, documentTokens }: RemoteRanking,
  call: RemoteCall,
): Promise<Ranks> {
  const { response } = await ask(
    upstream,
    {
      path: "/rerank",
      headers: bearer(upstream),
      body: {
        ...{ model: upstream.model, query, documents, return_documents: false },
        ...(truncate ? { truncate } : {}),
        ...(documentTokens === null ? {} : { max_tokens_per_doc: documentTokens }),
      },
      optional: {
        return_documents: { ours: "return_documents" },
        truncate: { ours: "truncate" },
        max_tokens_per_doc: { ours: "max_tokens_per_doc" },
      },
    },
    call,
  );
  const body = await readObject(upstream, response, maxAnswerBytes);
  const scores: number[] = new Array(documents.length).fill(Number.NaN);
  for (const each of asList(body["results"])) {
    const result = asObject(each);
    const score = result?.["relevance_score"];
    const index = asAmount(result?.["index"]);
    if (index !== null && index < scores.length && typeof score === "number") scores[index] = score;
  }
  const found = scores.filter((score) => Number.isFinite(score)).length;
  if (found !== documents.length) {
    const reason = `it sent ${counted(found, "score")} for ${counted(documents.length, "document")}`;
    throw new LocallmError("remote_failed", { host: hostOf(upstream), reason });
  }
  const usage = asObject(body["usage"]);
  const bytes = documents.reduce((sum, text) => sum + Buffer.byteLength(text) + Buffer.byteLength(query), 0);
  return {
    scores,
    // No engine says which of both it sends.
    areProbabilities: scores.every((score) => score >= 0 && score <= 1),
    tokens: [asCount(usage?.["total_tokens"]) ?? asCount(usage?.["prompt_tokens"]) ?? Math.ceil(bytes / 4)],
  };
}
