import type { Embeddings } from "../../wire/inference/embed.ts";
import { ask, bearer } from "../asking.ts";
import { inBatches, vectorOf } from "../embedding-batches.ts";
import type { RemoteCall, Upstream } from "../engine.ts";
import { asAmount, asCount, asList, asObject, readObject } from "../json-body.ts";

export function embed(upstream: Upstream, inputs: readonly string[], call: RemoteCall): Promise<Embeddings> {
  return inBatches(upstream, inputs, call, async (batch, limitBytes, stoppable) => {
    const { response } = await ask(
      upstream,
      {
        path: "/embeddings",
        headers: bearer(upstream),
        body: { model: upstream.model, input: batch, encoding_format: "float" },
        optional: { encoding_format: { ours: "encoding_format" } },
      },
      stoppable,
    );
    const body = await readObject(upstream, response, limitBytes);
    const entries = asList(body["data"]).map((entry) => asObject(entry));
    // The order is by index; engines that leave the index out keep the order of the inputs.
    const sorted = entries
      .map((entry, at) => ({
        index: asAmount(entry?.["index"]) ?? at,
        vector: vectorOf(entry?.["embedding"]),
      }))
      .sort((one, other) => one.index - other.index);
    const usage = asObject(body["usage"]);
    return {
      vectors: sorted.map(({ vector }) => vector),
      tokens: asCount(usage?.["prompt_tokens"]) ?? asCount(usage?.["total_tokens"]),
    };
  });
}
