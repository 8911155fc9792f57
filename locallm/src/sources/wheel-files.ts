import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { hashFile } from "../library/blob.ts";
import { requireSpace } from "../library/disk-space.ts";
import { LocallmError } from "../wire/errors.ts";
import type { PullContext } from "./pull-context.ts";
import { findWheel, type Wheel } from "./pypi.ts";
import { findFile } from "./remote-file.ts";
import { withZip, type ZipMember } from "./zip.ts";

/** Files of a package of the Python index, and the folder for them. */
export interface WheelFiles {
  /** As pip takes it, such as `nvidia-cublas>=13,<14`. */
  readonly wanted: string;
  /** Base names, which must all be in the wheel. */
  readonly files: readonly string[];
  readonly folder: string;
}

/**
 * Downloads a wheel from the Python index, checks its sha256, and puts the files into the
 * folder. Each file appears complete or not at all, in the given order. Throws `source_failed`, `download_damaged`
 * and the errors of a pull.
 */
export async function fetchWheelFiles(request: WheelFiles, context: PullContext): Promise<void> {
  const { signal } = context;
  context.onProgress({ status: `searching the Python index for ${request.wanted}` });
  const wheel = await findWheel(request.wanted, context);
  if (wheel.url.protocol === "file:") {
    const path = fileURLToPath(wheel.url);
    await verify(path, wheel, signal);
    await unpack(path, request);
    return;
  }
  try {
    await download(wheel, request, context);
  } catch (error) {
    const { code } = error as LocallmError;
    const { fetchByPip } = wheel;
    if (fetchByPip === null || (code !== "registry_unauthorized" && code !== "source_unreachable"))
      throw error;
    await downloadByPip(fetchByPip, wheel, request, signal);
  }
}

async function download(wheel: Wheel, request: WheelFiles, context: PullContext): Promise<void> {
  const file = await findFile(wheel, context);
  await requireSpace(await context.store.blobs.preparedFolder(), file.sizeBytes);
  const status = `downloading ${request.wanted}`;
  await context.transfers.fetch({
    ...file,
    expected: wheel.digest,
    signal: context.signal,
    onProgress: (completed) =>
      context.onProgress({ status, digest: file.key, total: file.sizeBytes, completed }),
    isDone: async () => (await missingFiles(request.folder, request.files)).length === 0,
    finish: (path) => unpack(path, request),
  });
}

/** pip may know a proxy or a client certificate that we do not. */
async function downloadByPip(
  fetchByPip: (folder: string) => Promise<void>,
  wheel: Wheel,
  request: WheelFiles,
  signal: AbortSignal,
): Promise<void> {
  const temporary = await mkdtemp(join(request.folder, "new-"));
  try {
    await fetchByPip(temporary);
    const [name = ""] = await readdir(temporary);
    await verify(join(temporary, name), wheel, signal);
    await unpack(join(temporary, name), request);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function verify(path: string, { digest }: Wheel, signal: AbortSignal): Promise<void> {
  const found = await hashFile(path, signal);
  if (found !== digest) throw new LocallmError("download_damaged", { expected: digest, found });
}

async function unpack(path: string, { wanted, files, folder }: WheelFiles): Promise<void> {
  const temporary = await mkdtemp(join(folder, "new-"));
  try {
    await withZip(
      path,
      (name) => files.includes(basename(name)),
      async (members) => {
        const chosen = files.map((file) => memberOf(members, file, wanted));
        await requireSpace(
          folder,
          chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        );
        for (const member of chosen)
          await pipeline(
            await member.open(),
            createWriteStream(join(temporary, basename(member.name)), { flush: true }),
          );
      },
    );
    for (const file of files) await rename(join(temporary, file), join(folder, file));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function memberOf(members: readonly ZipMember[], file: string, wanted: string): ZipMember {
  const found = members.find(({ name }) => basename(name) === file);
  if (found === undefined)
    throw new LocallmError("source_failed", {
      host: `pip (${wanted})`,
      reason: `its package has no ${file}`,
    });
  return found;
}

/** Those of the files that the folder lacks. */
export async function missingFiles(folder: string, files: readonly string[]): Promise<string[]> {
  const present = new Set(await readdir(folder));
  return files.filter((file) => !present.has(file));
}
