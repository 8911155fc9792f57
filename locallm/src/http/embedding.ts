import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Embeddings } from "../wire/inference/embed.ts";
import { meteredWhole } from "./metering.ts";
import type { Parts } from "./parts.ts";
import type { LocalRun, RemoteRun, Run } from "./run.ts";

type Inputs = readonly (string | readonly number[])[];

/** The embeddings, and how long they waited for the model. */
export interface WaitedEmbeddings extends Embeddings {
  readonly waitedMs: number;
}

/** Embeds in this machine's or another engine. `truncate` cuts inputs that exceed the window. */
export async function embed(
  parts: Parts,
  run: Run,
  inputs: Inputs,
  truncate: boolean,
): Promise<WaitedEmbeddings> {
  return run.remote === null ? await embedHere(run, inputs, truncate) : await embedThere(parts, run, inputs);
}

async function embedHere(run: LocalRun, inputs: Inputs, truncate: boolean): Promise<WaitedEmbeddings> {
  const growth = { answer: 0, canShorten: true };
  let lease = await run.lease(
    "slot",
    run.window.sizingFor(async () => inputs, growth),
  );
  try {
    if (inputs.length === 0) return { vectors: [], tokens: [], waitedMs: lease.waitedMs };
    checkCount(inputs.length, lease.info.embeddingLength);
    lease = await run.window.growFor(lease, inputs, growth);
    const job = { inputs, truncate, numCtx: lease.numCtx };
    return { ...(await run.embed(lease, job)), waitedMs: lease.waitedMs };
  } finally {
    lease.release();
  }
}

async function embedThere(parts: Parts, run: RemoteRun, inputs: Inputs): Promise<WaitedEmbeddings> {
  const texts = inputs.map((input) => {
    if (typeof input === "string") return input;
    throw new LocallmError("unsupported_parameter", {
      field: "input",
      hint: " with tokens: a remote model takes text only",
    });
  });
  const { caller, signal, remote, model, via } = run;
  if (texts.length === 0) return { vectors: [], tokens: [], waitedMs: 0 };
  checkCount(texts.length, model.config.embedding_length || usualEmbeddingLength);
  const found = await meteredWhole(
    (onPlace) => parts.remotes.embed(remote, texts, { signal, key: caller.id, via, onPlace }),
    texts,
    caller,
    signal,
  );
  return { ...found, waitedMs: 0 };
}

/**
 * The vector length assumed for a remote model whose Modelfile does not state it. Few models have longer
 * vectors.
 */
const usualEmbeddingLength = 4096;

/** Rejects more texts than fit into an answer. V8's strings limit the JSON to half a GB. */
export function checkCount(texts: number, embeddingLength: number): void {
  const most = Math.floor(mostNumbers / Math.max(1, embeddingLength));
  if (texts <= most) return;
  throw new LocallmError("invalid_field", {
    field: "input",
    problem: `must have at most ${counted(most, "text")} for this model; send the rest in further requests`,
  });
}

const mostNumbers = 2 ** 24;

/** The first `dimensions` numbers; all of them if it is missing or larger than the vector. */
export function shorten(vector: Float32Array, dimensions: number | undefined): Float32Array {
  return dimensions === undefined ? vector : vector.subarray(0, dimensions);
}

/** Scales to length 1. Leaves a zero vector unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0;
  return vector.map((value) => value * scale);
}
