import type { Digest } from "../../library/digest.ts";
import { manifestLimitBytes, mediaTypes } from "../../library/manifest.ts";
import { isLoopback } from "../../wire/address.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ModelName } from "../../wire/model-name.ts";
import { authorizationOf, type Credentials } from "../credentials.ts";
import type { Network, NetworkRequest, NetworkResponse } from "../network.ts";
import { readBody, readRefusal } from "../network-answer.ts";
import { withRetries } from "../retry.ts";
import type { ByteRange } from "../transfer-request.ts";
import { type Challenge, parseChallenge } from "./challenge.ts";

export interface RegistryOptions {
  network: Network;
  /** Allow unencrypted HTTP, and redirects from HTTPS to it. */
  insecure: boolean;
  /** Called when the registry requests authentication. */
  credentialsOf(url: URL): Promise<Credentials | null>;
}

export type RegistryRequest = Omit<NetworkRequest, "insecure" | "body"> & {
  body?: () => NetworkRequest["body"];
};

/**
 * A repository in a registry with Docker's version 2 protocol (Ollama's, OCI's, the model hub's). Sends credentials
 * only to the registry's own host, and requests tokens only there.
 */
export class Registry {
  readonly #base: URL;
  readonly #repository: string;
  readonly #options: RegistryOptions;
  #authorization: string | null = null;
  /** URLs from a public registry must be public too, no matter when they are used. */
  #isPublic = false;
  /** The redirect targets of blobs. */
  readonly #direct = new Map<Digest, URL>();

  constructor(name: ModelName, options: RegistryOptions) {
    this.#base = baseOf(name, options.insecure);
    this.#repository = `${name.namespace}/${name.model}`;
    this.#options = options;
  }

  get repository(): string {
    return this.#repository;
  }

  get host(): string {
    return this.#base.host;
  }

  /** Null if the registry has no such manifest. */
  async manifest(
    tag: string,
    signal: AbortSignal,
  ): Promise<{ bytes: Buffer; announcedDigest: string | null } | null> {
    const accept = `${mediaTypes.manifest}, ${mediaTypes.ociManifest}`;
    const request = { headers: { accept }, signal };
    const response = await withRetries(() => this.send(`manifests/${tag}`, request, "pull"), signal);
    if (response.status === 404) {
      response.body.destroy();
      return null;
    }
    await this.#requireStatus(response, [200]);
    if (
      response.headers["content-encoding"] !== undefined &&
      response.headers["content-encoding"] !== "identity"
    ) {
      response.body.destroy();
      throw this.#failed("it sent a compressed manifest, which was not requested");
    }
    const bytes = await readBody(response, manifestLimitBytes);
    const announced = response.headers["docker-content-digest"];
    return { bytes, announcedDigest: typeof announced === "string" ? announced : null };
  }

  /** A blob or a range of it, following redirects. Returns any status. */
  async blob(digest: Digest, range: ByteRange | null, signal: AbortSignal): Promise<NetworkResponse> {
    const headers: Record<string, string> =
      range === null ? {} : { range: `bytes=${range.start}-${range.end - 1}` };
    const direct = this.#direct.get(digest);
    if (direct !== undefined) {
      const response = await this.#options.network.request(direct, {
        headers,
        signal,
        insecure: this.#options.insecure,
        fromPublic: this.#isPublic,
      });
      if (response.status < 400) return response;
      // The redirect target has expired; the registry gives a new one.
      response.body.destroy();
      this.#direct.delete(digest);
    }
    const response = await this.send(`blobs/${digest}`, { headers, signal }, "pull");
    if (response.status < 300 && response.url.host !== this.#base.host)
      this.#direct.set(digest, response.url);
    return response;
  }

  /**
   * Sends a request to this repository, and authenticates once if required. Creates the body again for each
   * try.
   */
  async send(
    path: string | URL,
    request: RegistryRequest,
    action: "pull" | "push",
  ): Promise<NetworkResponse> {
    const url = path instanceof URL ? path : new URL(`/v2/${this.#repository}/${path}`, this.#base);
    const isOwnHost = url.origin === this.#base.origin;
    for (let attempt = 1; ; attempt++) {
      const headers = { ...request.headers };
      if (isOwnHost && this.#authorization !== null) headers["authorization"] = this.#authorization;
      const { body, ...rest } = request;
      const response = await this.#options.network.request(url, {
        ...rest,
        ...(body === undefined ? {} : { body: body() }),
        headers,
        insecure: this.#options.insecure || isLoopback(url.hostname.replace(/^\[|\]$/g, "")),
        fromPublic: !isOwnHost && this.#isPublic,
      });
      if (isOwnHost) this.#isPublic ||= response.fromPublic;
      if (response.status !== 401 || !isOwnHost || attempt === 2) return response;
      response.body.destroy();
      const challenge = parseChallenge(response.headers["www-authenticate"]);
      this.#authorization = await this.#signIn(challenge, action, request.signal);
    }
  }

  async #signIn(challenge: Challenge | null, action: string, signal: AbortSignal): Promise<string> {
    const { insecure, network } = this.#options;
    const credentials = await this.#options.credentialsOf(this.#base);
    const own = credentials === null ? null : authorizationOf(credentials);
    // A configured token is sent as is. Some registries, such as the model hub's, have no sign-in URL.
    if (own !== null && credentials !== null && "token" in credentials) return own;
    if (challenge === null || (challenge.scheme === "basic" && own === null)) {
      throw this.#unauthorized(action);
    }
    if (challenge.scheme === "basic") return own ?? "";
    const url = this.#realm(challenge.realm);
    if (challenge.service !== null) url.searchParams.set("service", challenge.service);
    url.searchParams.set("scope", challenge.scope ?? `repository:${this.#repository}:${action}`);
    const response = await network.request(url, {
      headers: own === null ? {} : { authorization: own },
      signal,
      insecure,
      redirects: "return",
    });
    if (response.status !== 200) {
      response.body.destroy();
      throw this.#unauthorized(action);
    }
    return `Bearer ${readToken(await readBody(response, 64 * 1024)) ?? this.#noToken()}`;
  }

  /** Rejects a realm on another host, which would receive our credentials. */
  #realm(realm: string): URL {
    let url: URL;
    try {
      url = new URL(realm);
    } catch {
      throw this.#failed("its sign-in URL is invalid");
    }
    if (url.host !== this.#base.host || url.protocol !== this.#base.protocol) {
      throw this.#failed(`its sign-in URL is on another host (${url.host.slice(0, 200)})`);
    }
    return url;
  }

  async #requireStatus(response: NetworkResponse, allowed: readonly number[]): Promise<void> {
    const { status } = response;
    if (allowed.includes(status)) return;
    if (status === 401 || status === 403) {
      response.body.destroy();
      throw new LocallmError("registry_unauthorized", { host: this.host });
    }
    throw this.#failed(await readRefusal(response));
  }

  #unauthorized(action: string): LocallmError {
    const { host } = this;
    return action === "push"
      ? new LocallmError("push_unauthorized", { host, detail: "" })
      : new LocallmError("registry_unauthorized", { host });
  }

  #noToken(): never {
    throw this.#failed("its sign-in returned no token");
  }

  #failed(reason: string): LocallmError {
    return new LocallmError("source_failed", { host: this.host, reason });
  }
}

function readToken(bytes: Buffer): string | null {
  try {
    const { token, access_token: accessToken } = JSON.parse(bytes.toString()) as Record<string, unknown>;
    const found = token ?? accessToken;
    return typeof found === "string" && /^[\x21-\x7e]+$/.test(found) ? found : null;
  } catch {
    return null;
  }
}

/** Throws for hosts that are valid in a model name but not in a URL: `a:b`, `1.2.3.4.5`, `host:99999`. */
function baseOf(name: ModelName, insecure: boolean): URL {
  const base = URL.parse(`${schemeOf(name, insecure)}://${name.host}`);
  if (base === null) throw new LocallmError("invalid_model_name", {});
  return base;
}

function schemeOf(name: ModelName, insecure: boolean): string {
  if (name.scheme === "http" && !insecure && !isLoopback(hostnameOf(name.host))) {
    throw new LocallmError("insecure_protocol", {});
  }
  if (name.scheme !== null) return name.scheme;
  return insecure || isLoopback(hostnameOf(name.host)) ? "http" : "https";
}

function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}
