import { unitVector } from "./vector.ts";

/** A model of a locallm server that makes vectors. */
export interface EmbeddingModel {
  /** Such as http://127.0.0.1:11434. */
  readonly address: string;
  readonly name: string;
}

/** The server rejected a text itself, so that sending it again is of no use. */
export class RejectedText extends Error {}

/** Asks a locallm server for vectors. */
export class Embedder {
  readonly model: EmbeddingModel;

  constructor(model: EmbeddingModel) {
    this.model = model;
  }

  /** The model's name and digest: vectors of another digest cannot be compared with its vectors. */
  async identity(signal: AbortSignal): Promise<string> {
    const { models } = (await this.#ask("/api/tags", undefined, signal)) as { models?: unknown };
    const wanted = [this.model.name, `${this.model.name}:latest`];
    for (const each of Array.isArray(models) ? (models as Record<string, unknown>[]) : []) {
      if (!wanted.includes(String(each["name"])) || typeof each["digest"] !== "string") continue;
      return `${String(each["name"])}@${each["digest"]}`;
    }
    throw new Error(`The server at ${this.model.address} does not have the model ${this.model.name}.`);
  }

  /** A vector of length 1 for each text. The server cuts long texts. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const body = { model: this.model.name, input: texts, truncate: true };
    const { embeddings } = (await this.#ask("/api/embed", body, signal)) as { embeddings?: unknown };
    if (!isVectors(embeddings, texts.length))
      throw new Error(`The server at ${this.model.address} answered something other than vectors.`);
    return embeddings.map(unitVector);
  }

  async #ask(path: string, body: object | undefined, signal: AbortSignal): Promise<unknown> {
    let response: Response;
    try {
      response = await fetch(new URL(path, this.model.address), {
        // An operator names one host. A redirect could lead to another.
        redirect: "error",
        signal,
        ...(body && {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      });
    } catch (error) {
      const why = signal.aborted ? "did not answer in time" : "cannot be reached";
      throw new Error(`The server at ${this.model.address} ${why}.`, { cause: error });
    }
    if (response.ok) return response.json();
    await response.body?.cancel();
    const message = `The server at ${this.model.address} answered ${path} with ${response.status}.`;
    throw response.status === 400 || response.status === 413 ? new RejectedText(message) : new Error(message);
  }
}

function isVectors(value: unknown, count: number): value is number[][] {
  if (!Array.isArray(value) || value.length !== count) return false;
  const dimension = Array.isArray(value[0]) ? value[0].length : 0;
  return (
    dimension > 0 &&
    dimension <= mostDimensions &&
    value.every((each) => Array.isArray(each) && each.length === dimension && each.every(Number.isFinite))
  );
}

const mostDimensions = 8_192;
