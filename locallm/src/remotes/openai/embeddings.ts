import type { Embeddings } from "../../wire/inference/embed.ts";
import { ask, bearer } from "../asking.ts";
import { inBatches, vectorOf } from "../embedding-batches.ts";
import type { RemoteCall, Upstream } from "../engine.ts";
import { asAmount, asList, asObject, readObject } from "../json-body.ts";

export function embed(upstream: Upstream, inputs: readonly string[], call: RemoteCall): Promise<Embeddings> {
  return inBatches(upstream, inputs, async (batch, limitBytes) => {
    const { response } = await ask(
      upstream,
      {
        path: "/embeddings",
        headers: bearer(upstream),
        body: { model: upstream.model, input: batch, encoding_format: "float" },
        optional: { encoding_format: { ours: "encoding_format" } },
      },
      call,
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
      tokens: asAmount(usage?.["prompt_tokens"]) ?? asAmount(usage?.["total_tokens"]),
    };
  });
}
