import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { writeDurably } from "../library/durable.ts";
import { bareHostname, isLoopback } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";
import { hostAndPort } from "../wire/remote-address.ts";

/** Credentials for a registry or another source. */
export type Credentials = { username: string; password: string } | { token: string };

const printable = z.string().regex(/^[\x21-\x7e]{1,8192}$/, "must be printable ASCII without spaces");
const entrySchema = z.union([
  z.strictObject({ token: printable, insecure: z.boolean().optional() }),
  z.strictObject({
    username: z.string().min(1).max(1024),
    password: z.string().max(8192),
    insecure: z.boolean().optional(),
  }),
]);
/** A key of a remote model, which is sent only to these hosts: anybody may create a model that names the key. */
const keySchema = z.strictObject({
  token: printable,
  hosts: z.array(z.string().max(400)).min(1).max(1000),
  insecure: z.boolean().optional(),
});
const fileSchema = z.record(z.string().max(400), z.union([entrySchema, keySchema]));

type Entries = z.output<typeof fileSchema>;
export type RemoteKey = z.output<typeof keySchema>;

const limitBytes = 1024 * 1024;

/**
 * `{"registry.example": {"username": "…", "password": "…"}, "models.example:5000": {"token": "…"}}`, by host as
 * written in references. Read again for each pull, so that a change needs no restart. Rejects a file that other users
 * may read. Sends credentials only over HTTPS or loopback; `"insecure": true` also allows unencrypted HTTP.
 *
 * Keys of remote models are entries `"remote/NAME": {"token": "…", "hosts": ["gpu1.example:8000"]}`.
 */
export class CredentialsFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Null if the file or the host's entry is missing. Throws `credentials_unusable`. */
  async of(host: string, { encrypted }: { encrypted: boolean }): Promise<Credentials | null> {
    const entries = await this.#read();
    const key = Object.keys(entries).find((name) => name.toLowerCase() === host.toLowerCase());
    const entry = key === undefined ? undefined : entries[key];
    if (entry === undefined || "hosts" in entry || (!encrypted && entry.insecure !== true)) return null;
    return "token" in entry ? { token: entry.token } : { username: entry.username, password: entry.password };
  }

  /**
   * The keys of engines, by the names that their model gives them; null where it names none. Throws
   * `remote_key_missing` if there is none for an engine's host, and `remote_key_unencrypted`.
   */
  async remoteKeys(
    engines: readonly { readonly key: string | null; readonly url: string }[],
  ): Promise<(string | null)[]> {
    if (engines.every(({ key }) => key === null)) return engines.map(() => null);
    const entries = await this.#read();
    return engines.map(({ key, url }) => (key === null ? null : this.#remoteKey(entries, key, url)));
  }

  #remoteKey(entries: Entries, name: string, url: string): string {
    const host = hostAndPort(url);
    const entry = entries[keyEntry(name)];
    if (entry === undefined || !("hosts" in entry) || !entry.hosts.includes(host))
      throw new LocallmError("remote_key_missing", { key: name, host });
    const { protocol } = new URL(url);
    if (protocol !== "https:" && entry.insecure !== true && !isLoopback(bareHostname(new URL(url))))
      throw new LocallmError("remote_key_unencrypted", { key: name, host });
    return entry.token;
  }

  /** Adds or replaces the key of that name; null removes it. Returns whether it existed. */
  async setRemoteKey(name: string, key: RemoteKey | null): Promise<boolean> {
    const { [keyEntry(name)]: before, ...others } = await this.#read();
    if (key === null && before === undefined) return false;
    const entries = key === null ? others : { ...others, [keyEntry(name)]: parseKey(key) };
    try {
      await writeDurably(this.#path, `${JSON.stringify(entries, null, 2)}\n`, dirname(this.#path), 0o600);
    } catch (error) {
      const code = error instanceof LocallmError ? error.details["reason"] : null;
      throw unusable(`it cannot be written (${code ?? (error as Error).message})`, error);
    }
    return before !== undefined;
  }

  async #read(): Promise<Entries> {
    let text: string;
    try {
      const file = await open(this.#path, "r");
      try {
        const { size, mode } = await file.stat();
        // Windows has no permission bits.
        if (process.platform !== "win32" && (mode & 0o077) !== 0)
          throw unusable("other users may read it; run chmod 600 on it");
        if (size > limitBytes) throw unusable(`it is larger than ${limitBytes} bytes`);
        text = await file.readFile("utf8");
      } finally {
        await file.close();
      }
    } catch (error) {
      if (error instanceof LocallmError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return {};
      throw unusable(`it cannot be read (${code})`, error);
    }
    return parse(text);
  }
}

/** The value of an Authorization header. */
export function authorizationOf(credentials: Credentials): string {
  if ("token" in credentials) return `Bearer ${credentials.token}`;
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
}

/** No host name contains a slash. */
function keyEntry(name: string): string {
  return `remote/${name}`;
}

function parseKey(key: RemoteKey): RemoteKey {
  const parsed = keySchema.safeParse(key);
  if (parsed.success) return parsed.data;
  const field = String(parsed.error.issues[0]?.path[0] ?? "key");
  throw new LocallmError("invalid_field", {
    field: field === "token" ? "the key" : field,
    problem: field === "token" ? "must be printable ASCII without spaces" : "must name at least one host",
  });
}

/** Errors name the host and the field, never the value. */
function parse(text: string): Entries {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw unusable("it is not JSON");
  }
  const parsed = fileSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  throw unusable(
    `${where === "" ? "it" : `the entry ${where}`} must hold username and password, or token (with hosts for the key of a remote model), by host`,
  );
}

function unusable(reason: string, cause?: unknown): LocallmError {
  return new LocallmError("credentials_unusable", { reason }, { cause });
}
