import type { GenerateJob } from "../wire/inference/generate.ts";
import type { Pointer } from "./libllama/functions.ts";
import type { Model } from "./model.ts";

/** Which of a model's adapters a context computes with. Between two steps it may be others. */
export class Adapters {
  readonly #model: Pick<Model, "adapters" | "applyAdapters">;
  readonly #context: Pointer;
  #scales: readonly number[];

  /** The context computes with the model's own scales. */
  constructor(model: Pick<Model, "adapters" | "applyAdapters">, context: Pointer) {
    this.#model = model;
    this.#context = context;
    this.#scales = this.#own;
  }

  get #own(): readonly number[] {
    return this.#model.adapters.map(({ scale }) => scale);
  }

  /** Without `lora`, the model's own scales apply. Adapters that `lora` does not name are off. */
  use(lora: GenerateJob["lora"]): void {
    const scales =
      lora === undefined
        ? this.#own
        : this.#own.map((_, index) => lora.findLast(({ id }) => id === index)?.scale ?? 0);
    if (scales.every((scale, index) => scale === this.#scales[index])) return;
    this.#model.applyAdapters(this.#context, scales);
    this.#scales = scales;
  }
}
