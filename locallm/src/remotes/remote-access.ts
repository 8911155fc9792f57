import type { Model } from "../library/model.ts";
import { RecentlyUsed } from "../library/recently-used.ts";
import type { CredentialsFile } from "../sources/credentials.ts";
import type { RemoteHosts } from "../sources/remote-hosts.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName } from "../wire/model-name.ts";
import type { Upstream } from "./engine.ts";
import type { RemoteModel } from "./remotes.ts";

const knownModels = 256;

/** Makes a stored remote model usable: checks that it may use its hosts, and reads its keys. */
export class RemoteAccess {
  readonly #hosts: Pick<RemoteHosts, "require">;
  readonly #credentials: Pick<CredentialsFile, "remoteKeys">;
  /** Equal models are the same object, so that `Remotes` need not compare them. */
  readonly #known = new RecentlyUsed<string, RemoteModel>(knownModels);

  constructor(hosts: Pick<RemoteHosts, "require">, credentials: Pick<CredentialsFile, "remoteKeys">) {
    this.#hosts = hosts;
    this.#credentials = credentials;
  }

  /** Throws `remote_not_allowed` and the errors of its keys. */
  async modelOf({ name: parsed, digest, remotes }: Model): Promise<RemoteModel> {
    const name = displayModelName(parsed);
    if (remotes === null) throw new LocallmError("model_load_failed", { reason: "it has no weights" });
    await this.#hosts.require(...remotes.map(({ url }) => url));
    const keys = await this.#credentials.remoteKeys(remotes);
    const id = `${name} ${digest}`;
    const known = this.#known.get(id);
    if (known?.upstreams.every(({ key }, index) => key === keys[index])) return known;
    const upstreams = remotes.map(
      ({ url, model, protocol, weight, requests }, index): Upstream => ({
        ...{ url, model, protocol, weight },
        key: keys[index] ?? null,
        maxRequests: requests,
      }),
    );
    const model = { name, digest, upstreams };
    this.#known.set(id, model);
    return model;
  }
}
