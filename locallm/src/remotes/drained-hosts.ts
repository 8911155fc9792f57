import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { writeDurably } from "../library/durable.ts";
import { LocallmError } from "../wire/errors.ts";

const fileSchema = z.strictObject({ drained: z.array(z.string().min(1).max(300)).max(10_000) });

/**
 * The hosts that an operator has drained. They are kept in a file, because a host under maintenance must not get
 * requests again only because the server restarts.
 */
export class DrainedHosts {
  readonly #path: string | null;
  #hosts: ReadonlySet<string>;
  #lastChange: Promise<void> = Promise.resolve();

  private constructor(path: string | null, hosts: Iterable<string>) {
    this.#path = path;
    this.#hosts = new Set(hosts);
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

  /** Whether the host of an engine's address is drained, with its port or on all ports. */
  has(url: string): boolean {
    if (this.#hosts.size === 0) return false;
    return namesOf(url).some((name) => this.#hosts.has(name));
  }

  /** Whether this very host was drained. */
  includes(host: string): boolean {
    return this.#hosts.has(host);
  }

  async add(host: string): Promise<void> {
    await this.#change((hosts) => new Set([...hosts, host]));
  }

  /** A host without a port is meant on all ports. Throws `invalid_field` if it is drained on all ports only. */
  async remove(host: string): Promise<void> {
    const hostname = host.replace(/:\d+$/, "");
    if (hostname !== host && !this.#hosts.has(host) && this.#hosts.has(hostname))
      throw new LocallmError("invalid_field", {
        field: "host",
        problem: `is drained on all ports; resume ${hostname} instead`,
      });
    const isMeant = (each: string) => each === host || each.replace(/:\d+$/, "") === host;
    await this.#change((hosts) => new Set([...hosts].filter((each) => !isMeant(each))));
  }

  /** One change at a time. Changes nothing if the file cannot be written. */
  async #change(change: (hosts: ReadonlySet<string>) => ReadonlySet<string>): Promise<void> {
    const changed = this.#lastChange.then(async () => {
      const hosts = change(this.#hosts);
      const text = `${JSON.stringify({ drained: [...hosts].sort() })}\n`;
      if (this.#path !== null) await writeDurably(this.#path, text, dirname(this.#path));
      this.#hosts = hosts;
    });
    this.#lastChange = changed.catch(() => {});
    await changed;
  }
}

/** `https://gpu1.example/v1` → `gpu1.example:443`, `gpu1.example` */
export function namesOf(url: string): string[] {
  const { protocol, hostname, port } = new URL(url);
  return [`${hostname}:${port || (protocol === "https:" ? "443" : "80")}`, hostname];
}

/** Reads a host as an operator writes it: a name, a name with a port, or a whole address. Throws `invalid_field`. */
export function parseHost(text: string): string {
  const trimmed = text.trim().toLowerCase();
  const url = URL.parse(trimmed.includes("://") ? trimmed : `http://${trimmed}`);
  if (url === null || url.hostname === "" || url.username !== "")
    throw new LocallmError("invalid_field", {
      field: "host",
      problem: "must be a host, such as gpu1.example:8000",
    });
  if (trimmed.includes("://")) return namesOf(trimmed)[0]!;
  if (url.port !== "") return `${url.hostname}:${url.port}`;
  // The URL omits http's own port.
  return /:0*80\/?$/.test(trimmed) ? `${url.hostname}:80` : url.hostname;
}

function parse(path: string, text: string): readonly string[] {
  try {
    return fileSchema.parse(JSON.parse(text)).drained;
  } catch (error) {
    throw unusable(path, 'it must be like {"drained": ["gpu1.example:8000"]}; correct or delete it', error);
  }
}

function unusable(path: string, reason: string, cause: unknown): LocallmError {
  return new LocallmError("file_unusable", { path, reason }, { cause });
}
