import { Failure, type Params } from "@dataq/contract";
import type { Answer, Page, Source, SourceContext } from "./source.ts";

/** A source whose data may be missing. */
export interface OptionalSource extends Source {
  /** False when nothing was imported. */
  exists(): Promise<boolean>;
}

export interface Layers {
  /** The operator's contract with a vendor. */
  readonly connector?: Source | undefined;
  readonly imported: OptionalSource;
  /** Undefined when samples are switched off. */
  readonly sample: Source | undefined;
}

/** Connector before import before samples. `dq_test_` keys get samples only; live keys none once there is better. */
export class LayeredSource implements Source {
  readonly #operation: string;
  readonly #layers: Layers;

  constructor(operation: string, layers: Layers) {
    this.#operation = operation;
    this.#layers = layers;
  }

  async version(sandbox: boolean): Promise<string> {
    const { name, source } = await this.#choose(sandbox);
    return `${name} ${await source.version(sandbox)}`;
  }

  async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
    const { source } = await this.#choose(context.sandbox);
    return source.run(params, page, context);
  }

  async check(params: Params, sandbox: boolean): Promise<void> {
    const { imported, sample } = this.#layers;
    if (imported.check === undefined && sample?.check === undefined) return;
    const { source } = await this.#choose(sandbox);
    await source.check?.(params, sandbox);
  }

  async #choose(sandbox: boolean): Promise<{ name: string; source: Source }> {
    const { connector, imported, sample } = this.#layers;
    if (!sandbox && connector !== undefined) return { name: "connector", source: connector };
    if (!sandbox && (await imported.exists())) return { name: "imported", source: imported };
    if (sample !== undefined) return { name: "sample", source: sample };
    throw new Failure("not_configured", { operation: this.#operation });
  }
}
