import { open } from "node:fs/promises";
import { z } from "zod";
import { LocallmError } from "../wire/errors.ts";

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
const fileSchema = z.record(z.string().max(400), entrySchema);

const limitBytes = 1024 * 1024;

/**
 * `{"registry.example": {"username": "…", "password": "…"}, "models.example:5000": {"token": "…"}}`, by host as
 * written in references. Read again for each pull, so that a change needs no restart. Rejects a file that other users
 * may read. Sends credentials only over HTTPS or loopback; `"insecure": true` also allows unencrypted HTTP.
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
    if (entry === undefined || (!encrypted && entry.insecure !== true)) return null;
    return "token" in entry ? { token: entry.token } : { username: entry.username, password: entry.password };
  }

  async #read(): Promise<z.output<typeof fileSchema>> {
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

/** Errors name the host and the field, never the value. */
function parse(text: string): z.output<typeof fileSchema> {
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
    `${where === "" ? "it" : `the entry ${where}`} must hold username and password, or token, by host`,
  );
}

function unusable(reason: string, cause?: unknown): LocallmError {
  return new LocallmError("credentials_unusable", { reason }, { cause });
}
