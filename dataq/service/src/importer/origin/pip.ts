import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { type Ask, findWheel, NoWheel } from "@locallm/package-index";
import { z } from "zod";
import { ImportError } from "../import-error.ts";
import { fetchText } from "./download.ts";

const run = promisify(execFile);

/** The wheel that pip would install. */
export interface Wheel {
  readonly url: string;
  readonly sha256: string;
  readonly version: string;
  /** Null if only the wheel itself says it. */
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

/**
 * Finds the newest wheel of a package. pip is asked if it is here, because it knows the index, mirror and certificates of
 * this machine; without it the index is read with pip's settings.
 */
export async function findPackage(name: string, signal?: AbortSignal): Promise<Wheel> {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/.test(name))
    throw new ImportError("not_a_package", { name });
  const settings = await settingsOfPip(signal);
  return settings === null ? await searchIndex(name, signal) : await askPip(name, settings, signal);
}

async function searchIndex(name: string, signal?: AbortSignal): Promise<Wheel> {
  const ask: Ask = async (address, { certificateFile, ...request }) => {
    const certificates = certificateFile === null ? undefined : await readCertificates(certificateFile);
    return await fetchText(address, { ...request, certificates, ...(signal && { signal }) });
  };
  try {
    const { url, certificateFile, ...wheel } = await findWheel(name, ask, signal);
    const certificates = certificateFile === null ? undefined : await readCertificates(certificateFile);
    return { ...wheel, url: url.href, licence: null, certificates };
  } catch (error) {
    if (!(error instanceof NoWheel)) throw error;
    throw new ImportError("package_not_listed", { name, reason: error.message }, error);
  }
}

async function askPip(name: string, settings: string, signal?: AbortSignal): Promise<Wheel> {
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
    certificates: await certificatesIn(settings),
  };
}

const pipTimeoutMs = 60_000;
const python = process.platform === "win32" ? "python" : "python3";

/**
 * What `pip config list` prints; null without pip. `pip config get` reads only one of pip's files, which is not the one
 * that a machine's owner writes.
 */
export async function settingsOfPip(signal?: AbortSignal): Promise<string | null> {
  const options = { timeout: pipTimeoutMs, ...(signal && { signal }) };
  return await run(python, ["-m", "pip", "config", "list"], options).then(
    ({ stdout }) => stdout,
    () => {
      signal?.throwIfAborted();
      return null;
    },
  );
}

export async function certificatesIn(settings: string): Promise<string | undefined> {
  const values = new Map(
    Array.from(settings.matchAll(/^(\S+?)=["'](.*)["']\s*$/gm), ([, key, value]) => [key, value]),
  );
  const file = values.get(":env:.cert") ?? values.get("install.cert") ?? values.get("global.cert");
  return file === undefined ? undefined : await readCertificates(file);
}

/** The system's certificates may be enough without these; if not, the download reports it. */
async function readCertificates(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
