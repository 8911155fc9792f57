import { open } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { z } from "zod";
import { writeDurably } from "../library/durable.ts";
import { bareHostname, isLanAddress, isLoopback, isPrivateAddress } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";
import { hostAndPort, isNamedHost, type NamedHosts } from "../wire/remote-address.ts";

export interface RemoteHostSettings {
  /** The file to which `locallm create` and `locallm remote allow` add hosts. HTTP clients cannot write it. */
  readonly file: string;
  /** LOCALLM_REMOTES. `*` stands for all hosts with public addresses. */
  readonly named: NamedHosts;
}

const fileSchema = z.object({ hosts: z.array(z.string().max(400)).max(10_000) });
const limitBytes = 1024 * 1024;

/**
 * The hosts of engines that remote models may name: LOCALLM_REMOTES, and those that the owner of this machine allowed on
 * the command line. Without both, no model can make the server connect anywhere.
 */
export class RemoteHosts {
  readonly #settings: RemoteHostSettings;

  constructor(settings: RemoteHostSettings) {
    this.#settings = settings;
  }

  /** Throws `remote_not_allowed` or `remote_hosts_unusable`. Reads the file at most once for all URLs. */
  async require(...urls: readonly string[]): Promise<void> {
    let hosts: Promise<readonly string[]> | null = null;
    const listed = () => {
      hosts ??= this.#read();
      return hosts;
    };
    for (const url of urls)
      if ((await this.#permission(url, listed)) === null)
        throw new LocallmError("remote_not_allowed", { host: hostAndPort(url) });
  }

  /**
   * Returns a check for the addresses that the URL's host resolves to. Call it for every connection. Throws like
   * `require`.
   */
  async addressCheck(url: string): Promise<(address: string) => boolean> {
    const permission = await this.#permission(url, () => this.#read());
    if (permission === null) throw new LocallmError("remote_not_allowed", { host: hostAndPort(url) });
    return (address) => acceptsAddress(permission, bareHostname(new URL(url)), address);
  }

  /** Adds hosts with their ports to the file. */
  async allow(urls: readonly string[]): Promise<void> {
    const before = await this.#read();
    const hosts = [...new Set([...before, ...urls.map(hostAndPort)])].sort();
    if (hosts.length > before.length) await this.#write(hosts);
  }

  /** Removes a host. Returns false if the file did not contain it. */
  async forbid(host: string): Promise<boolean> {
    const before = await this.#read();
    const hosts = before.filter((each) => each !== host);
    if (hosts.length < before.length) await this.#write(hosts);
    return hosts.length < before.length;
  }

  /** The hosts in the file. */
  async allowed(): Promise<readonly string[]> {
    return await this.#read();
  }

  async #permission(url: string, listed: () => Promise<readonly string[]>): Promise<Permission | null> {
    const permission = permissionOf(this.#settings.named, url);
    if (permission !== "named" && (await listed()).includes(hostAndPort(url))) return "named";
    return permission;
  }

  /** Reads the file each time, so that a change needs no restart. */
  async #read(): Promise<readonly string[]> {
    try {
      const file = await open(this.#settings.file, "r");
      try {
        const { size, mode } = await file.stat();
        // Windows has no permission bits.
        if (process.platform !== "win32" && (mode & 0o077) !== 0)
          throw this.#unusable("other users may access it; run chmod 600 on it");
        if (size > limitBytes) throw this.#unusable(`it is larger than ${limitBytes} bytes`);
        const parsed = fileSchema.safeParse(JSON.parse(await file.readFile("utf8")));
        if (!parsed.success) throw this.#unusable("it must contain a list of hosts");
        return parsed.data.hosts;
      } finally {
        await file.close();
      }
    } catch (error) {
      if (error instanceof LocallmError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return [];
      throw this.#unusable(code === undefined ? "it is not JSON" : `it cannot be read (${code})`, error);
    }
  }

  async #write(hosts: readonly string[]): Promise<void> {
    const { file } = this.#settings;
    try {
      await writeDurably(file, `${JSON.stringify({ hosts }, null, 2)}\n`, dirname(file), 0o600);
    } catch (error) {
      const code = error instanceof LocallmError ? error.details["reason"] : null;
      throw this.#unusable(`it cannot be written (${code ?? (error as Error).message})`, error);
    }
  }

  #unusable(reason: string, cause?: unknown): LocallmError {
    return new LocallmError("remote_hosts_unusable", { file: this.#settings.file, reason }, { cause });
  }
}

/** Whether a list of hosts names a URL's host, or only allows all public ones. */
type Permission = "named" | "public";

/** Returns null if the list does not allow the URL's host. */
export function permissionOf(hosts: NamedHosts, url: string): Permission | null {
  if (hosts.some((host) => host !== "*" && isNamedHost(url, host))) return "named";
  return hosts.includes("*") ? "public" : null;
}

/**
 * A name may lead to a public address or, if it is named itself, into a private network. It may not lead to this machine
 * or to a link-local address, such as the metadata service of a cloud: those must be named as addresses.
 */
export function acceptsAddress(permission: Permission, hostname: string, address: string): boolean {
  if (!isPrivateAddress(address)) return true;
  if (permission === "public") return false;
  return isIP(hostname) > 0 || isLanAddress(address) || isLoopback(hostname);
}
