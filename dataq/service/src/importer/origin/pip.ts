import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { ImportError } from "../import-error.ts";

const run = promisify(execFile);

/** The wheel that pip would install. pip knows the index, mirror and certificates of this machine. */
export interface Wheel {
  readonly url: string;
  readonly sha256: string;
  readonly version: string;
  readonly licence: string | null;
  /** Certificates that pip is configured to trust in addition to the system's. */
  readonly certificates: string | undefined;
}

const report = z.object({
  install: z
    .array(
      z.object({
        download_info: z.object({
          url: z.url(),
          archive_info: z.object({ hashes: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }) }),
        }),
        metadata: z.object({
          version: z.string(),
          license: z.string().nullish(),
          license_expression: z.string().nullish(),
        }),
      }),
    )
    .length(1),
});

/** Asks pip where the newest wheel of a package is, without installing anything. */
export async function askPip(name: string, signal?: AbortSignal): Promise<Wheel> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
    throw new ImportError("not_a_package", { name });
  }
  const base = ["-m", "pip", "--disable-pip-version-check", "--no-input"];
  const wanted = ["install", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:"];
  let answer: string;
  try {
    const options = { timeout: pipTimeoutMs, maxBuffer: 16 << 20, ...(signal && { signal }) };
    answer = (await run(python, [...base, ...wanted, "--quiet", "--report", "-", name], options)).stdout;
  } catch (error) {
    throw new ImportError("package_not_found", { name }, error);
  }
  const parsed = report.safeParse(readJson(answer));
  const found = parsed.data?.install[0];
  if (found === undefined) throw new ImportError("package_unclear", { name }, parsed.error);
  return {
    url: found.download_info.url,
    sha256: found.download_info.archive_info.hashes.sha256,
    version: found.metadata.version,
    licence: found.metadata.license_expression ?? found.metadata.license ?? null,
    certificates: await certificatesOfPip(),
  };
}

const pipTimeoutMs = 60_000;
const python = process.platform === "win32" ? "python" : "python3";

/** `pip config get` reads only one of pip's files, which is not the one that a machine's owner writes. */
export async function certificatesOfPip(): Promise<string | undefined> {
  try {
    const { stdout } = await run(python, ["-m", "pip", "config", "list"], { timeout: pipTimeoutMs });
    const settings = new Map(
      Array.from(stdout.matchAll(/^(\S+?)=["'](.*)["']\s*$/gm), ([, key, value]) => [key, value]),
    );
    const file = settings.get(":env:.cert") ?? settings.get("install.cert") ?? settings.get("global.cert");
    return file === undefined ? undefined : await readFile(file, "utf8");
  } catch {
    // The system's certificates may be enough; if not, the download reports it.
    return undefined;
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
