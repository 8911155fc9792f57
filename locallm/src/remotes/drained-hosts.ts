import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { writeDurably } from "../library/durable.ts";
import { LocallmError } from "../wire/errors.ts";
import { isNamedHost, type NamedHost, namedHostText, parseNamedHost } from "../wire/remote-address.ts";

const fileSchema = z.strictObject({
  drained: z
    .array(z.string())
    .max(10_000)
    .transform((hosts) => hosts.map(parseNamedHost)),
});

/**
 * The hosts that an operator has drained. They are kept in a file, because a host under maintenance must not get
 * requests again only because the server restarts.
 */
export class DrainedHosts {
  readonly #path: string | null;
  /** By their text. */
  #hosts: ReadonlyMap<string, NamedHost>;
  #lastChange: Promise<void> = Promise.resolve();

  private constructor(path: string | null, hosts: readonly NamedHost[]) {
    this.#path = path;
    this.#hosts = byText(hosts);
  }

  /** Without a path, nothing is kept. Throws `file_unusable`. */
  static async open(path: string | null): Promise<DrainedHosts> {
    if (path === null) return new DrainedHosts(null, []);
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw unusable(path, `it cannot be read (${error.code})`, error);
    });
    return new DrainedHosts(path, text === null ? [] : parse(path, text));
  }

  /** Whether the host of an engine's address is drained. */
  has(url: string): boolean {
    for (const host of this.#hosts.values()) if (isNamedHost(url, host)) return true;
    return false;
  }

  /** Whether exactly this host was drained. */
  includes(host: NamedHost): boolean {
    return this.#hosts.has(namedHostText(host));
  }

  async add(host: NamedHost): Promise<void> {
    await this.#change((hosts) => [...hosts, host]);
  }

  /**
   * A host without a port stands for all its ports. Throws `invalid_field` if it is drained on all ports
   * only.
   */
  async remove(host: NamedHost): Promise<void> {
    const { hostname, port } = host;
    if (port !== null && !this.includes(host) && this.includes({ hostname, port: null }))
      throw new LocallmError("invalid_field", {
        field: "host",
        problem: `is drained on all ports; resume ${namedHostText({ hostname, port: null })} instead`,
      });
    const isMeant = (each: NamedHost) => each.hostname === hostname && (port === null || each.port === port);
    await this.#change((hosts) => hosts.filter((each) => !isMeant(each)));
  }

  /** One change at a time. Changes nothing if the file cannot be written. */
  async #change(change: (hosts: readonly NamedHost[]) => readonly NamedHost[]): Promise<void> {
    const changed = this.#lastChange.then(async () => {
      const hosts = byText(change([...this.#hosts.values()]));
      const text = `${JSON.stringify({ drained: [...hosts.keys()].sort() })}\n`;
      if (this.#path !== null) await writeDurably(this.#path, text, dirname(this.#path), 0o600);
      this.#hosts = hosts;
    });
    this.#lastChange = changed.catch(() => {});
    await changed;
  }
}

function byText(hosts: readonly NamedHost[]): ReadonlyMap<string, NamedHost> {
  return new Map(hosts.map((host) => [namedHostText(host), host]));
}

function parse(path: string, text: string): readonly NamedHost[] {
  try {
    const { drained } = fileSchema.parse(JSON.parse(text));
    if (!drained.includes(null)) return drained as readonly NamedHost[];
    throw new Error("not a host");
  } catch (error) {
    throw unusable(path, 'it must be like {"drained": ["gpu1.example:8000"]}; correct or delete it', error);
  }
}

function unusable(path: string, reason: string, cause: unknown): LocallmError {
  return new LocallmError("file_unusable", { path, reason }, { cause });
}
