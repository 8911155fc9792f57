import { randomBytes } from "node:crypto";
import { link, mkdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ProgressLine } from "../wire/api/library.ts";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import {
  type QuantizeJob,
  type QuantizeReport,
  type Quantizer,
  quantizeBufferBytes,
} from "../wire/inference/quantize.ts";
import { hashFile, readFolder } from "./blob.ts";
import { type Digest, digestFromHex, digestHex } from "./digest.ts";
import { freeBytes, requireSpace } from "./disk-space.ts";
import { syncFile } from "./durable.ts";
import type { GgufHeader } from "./gguf/header.ts";
import { tensorBytes, writableType, writableTypes } from "./gguf/quantisation.ts";
import { type Layer, mediaTypes } from "./manifest.ts";
import { detailsFromHeader } from "./model-details.ts";
import { isOwnerAlive, ownerName } from "./owner.ts";
import type { Store } from "./store.ts";

/** What `quantize` asks for. */
export interface Quantization {
  /** `llama_ftype` and its name. */
  readonly type: { readonly id: number; readonly name: string };
  readonly allowRequantize: boolean;
}

export interface QuantizeContext {
  readonly store: Store;
  readonly quantizer: Quantizer;
  readonly availableBytes: () => number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: ProgressLine) => void;
}

/** Weights in another type. They are not in the store until `adopt`. */
export interface QuantizedWeights {
  readonly layers: Layer[];
  readonly digest: Digest;
  /** False if the store already has this file. */
  readonly isNew: boolean;
  /** The name of the type for the configuration. */
  readonly fileType: string;
  /** Moves the file into the store. Call it right before the manifest is written. */
  adopt(): Promise<void>;
}

/** Null if the request asks for nothing. Throws `invalid_field` with the list of types. */
export function requestedQuantization({
  quantize,
  requantize,
}: {
  quantize?: string | undefined;
  requantize?: boolean | undefined;
}): Quantization | null {
  if (quantize === undefined || quantize === "") {
    if (requantize !== true) return null;
    throw new LocallmError("invalid_field", { field: "requantize", problem: "needs quantize, with a type" });
  }
  const type = writableType(quantize);
  if (type !== null) return { type, allowRequantize: requantize === true };
  const problem = `must be one of ${writableTypes.join(", ")}`;
  throw new LocallmError("invalid_field", { field: "quantize", problem });
}

/**
 * Writes the weights among `layers` in another type, and passes them to `use`. Whatever happens, the folder that it
 * works in is gone afterwards; `removeAbandonedQuantizations` removes those of killed servers. Throws `invalid_field`,
 * `disk_full`, `model_too_large`, `quantize_failed` and the signal's reason.
 */
export async function withQuantized(
  layers: readonly Layer[],
  wanted: Quantization,
  context: QuantizeContext,
  use: (weights: QuantizedWeights) => Promise<void>,
): Promise<void> {
  const { store, onProgress } = context;
  const weights = layers.filter(({ mediaType }) => mediaType === mediaTypes.model);
  const paths = weights.map(({ digest }) => store.blobs.path(digest));
  const header = await store.headers.ofWhole(paths);
  const source = detailsFromHeader(header).file_type;
  checkSource(header, source, wanted);
  tellWhatStays(layers, wanted, source, header, onProgress);
  const folder = await newFolder(store);
  try {
    const job = {
      from: await linkWeights(paths, folder),
      to: join(folder, "result.gguf"),
      fileType: wanted.type.id,
      allowRequantize: wanted.allowRequantize,
    };
    const sizeBytes = await planned(job, header, wanted, context);
    await requireSpace(folder, sizeBytes);
    requireMemory(header, context.availableBytes());
    await write(job, header, `quantizing ${source} model to ${wanted.type.name}`, sizeBytes, context);
    await syncFile(job.to);
    const digest = await hashFile(job.to, context.signal);
    const result = await store.headers.of(job.to);
    const layer = { mediaType: mediaTypes.model, digest, sizeBytes: result.sizeBytes };
    const others = layers.filter(({ mediaType }) => mediaType !== mediaTypes.model);
    const isNew = (await store.blobs.size(digest)) === null;
    await use({
      layers: [layer, ...others],
      digest,
      isNew,
      fileType: detailsFromHeader(result).file_type,
      adopt: async () => {
        // A killed server leaves this note, which says that no manifest may name the blob yet.
        if (isNew) await writeFile(join(folder, digestHex(digest)), "");
        await store.blobs.adopt(job.to, digest);
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Writes one file of weights in another type, and passes the finished file to `use`, which moves it. The folder that it
 * works in is gone afterwards. Throws as `withQuantized` does.
 */
export async function writeQuantized(
  from: string,
  wanted: Quantization,
  context: QuantizeContext,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const { store } = context;
  const header = await store.headers.of(from);
  const folder = await newFolder(store);
  try {
    const { type, allowRequantize } = wanted;
    const job = { from, to: join(folder, "result.gguf"), fileType: type.id, allowRequantize };
    const sizeBytes = await planned(job, header, wanted, context);
    await requireSpace(folder, sizeBytes);
    requireMemory(header, context.availableBytes());
    await write(job, header, `converting to ${type.name}`, sizeBytes, context);
    await syncFile(job.to);
    await store.headers.of(job.to);
    await use(job.to);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what servers left that were killed while they quantised. */
export async function removeAbandonedQuantizations(store: Store): Promise<void> {
  for (const name of await readFolder(store.blobs.partialFolder)) {
    const owner = folderName.exec(name)?.[1];
    if (owner === undefined || (await isOwnerAlive(owner)) !== false) continue;
    const folder = join(store.blobs.partialFolder, name);
    const notes = (await readFolder(folder)).filter((file) => /^[0-9a-f]{64}$/.test(file));
    const used = notes.length === 0 ? new Set<Digest>() : await store.usedDigests();
    for (const digest of notes.map(digestFromHex)) if (!used.has(digest)) await store.blobs.remove(digest);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Begins like the folder of a download, so that `prune` and `df` know whose it is. */
const folderName = /^[0-9a-f]{64}\.(.+)\.quantize$/;

async function newFolder(store: Store): Promise<string> {
  const name = `${randomBytes(32).toString("hex")}.${await ownerName()}.quantize`;
  const folder = join(await store.blobs.preparedFolder(), name);
  await mkdir(folder);
  return folder;
}

const plainTypes: ReadonlySet<string> = new Set(["F64", "F32", "F16", "BF16", "I8", "I16", "I32", "I64"]);

function checkSource(header: GgufHeader, source: string, { allowRequantize }: Quantization): void {
  if (allowRequantize || header.tensors.every(({ type }) => plainTypes.has(type))) return;
  const problem = `needs weights in F32, F16 or BF16, but these are ${source}. To round them a second time costs more quality than to quantise the original: use its F16 file, or accept that with requantize: true (--requantize on the command line)`;
  throw new LocallmError("invalid_field", { field: "quantize", problem });
}

function tellWhatStays(
  layers: readonly Layer[],
  { type }: Quantization,
  source: string,
  header: GgufHeader,
  onProgress: (line: ProgressLine) => void,
): void {
  if (header.tensors.some((tensor) => !plainTypes.has(tensor.type)))
    onProgress({
      status: `the weights are ${source} and are rounded a second time: ${type.name} of the original file would be closer to it`,
    });
  for (const kind of ["projector", "adapter"] as const)
    if (layers.some(({ mediaType }) => mediaType === mediaTypes[kind]))
      onProgress({ status: `the ${kind} stays as it is` });
}

/** Returns the first file. The engine finds the others of a split model by their names. */
async function linkWeights(paths: readonly string[], folder: string): Promise<string> {
  const [first = ""] = paths;
  if (paths.length === 1) return first;
  const five = (count: number) => String(count).padStart(5, "0");
  const names = paths.map((_, index) =>
    join(folder, `part-${five(index + 1)}-of-${five(paths.length)}.gguf`),
  );
  for (const [index, path] of paths.entries()) {
    const name = names[index] ?? "";
    // Windows allows symbolic links only to some users.
    await symlink(path, name).catch(() => link(path, name));
  }
  return names[0] ?? first;
}

/** Asks the engine which type each tensor gets, reports those whose rows do not fit, and returns the size of the file. */
async function planned(
  job: Omit<QuantizeJob, "isDry">,
  header: GgufHeader,
  { type }: Quantization,
  { quantizer, signal, onProgress }: QuantizeContext,
): Promise<number> {
  const shapes = new Map(header.tensors.map(({ name, shape }) => [name, shape]));
  const fallbacks: (QuantizeReport & { kind: "fallback" })[] = [];
  let sizeBytes = header.dataOffset;
  let needsMatrix = false;
  await quantizer(
    { ...job, isDry: true },
    (report) => {
      if (report.kind === "tensor")
        sizeBytes += tensorBytes(report.type, shapes.get(report.name) ?? []) + alignmentBytes;
      else if (report.kind === "fallback") fallbacks.push(report);
      else needsMatrix = true;
    },
    signal,
  );
  if (needsMatrix) {
    const problem = `${type.name.toLowerCase()} needs an importance matrix of this model, which locallm cannot compute; iq4_nl, q4_0 and q2_k need none`;
    throw new LocallmError("invalid_field", { field: "quantize", problem });
  }
  for (const [what, names] of grouped(fallbacks)) {
    const shown = names.slice(0, shownNames).join(", ");
    const rest = names.length - shownNames;
    onProgress({ status: `${what}: ${shown}${rest > 0 ? ` and ${counted(rest, "other")}` : ""}` });
  }
  return sizeBytes;
}

const shownNames = 6;
const alignmentBytes = 32;

/** The names of the tensors that share a fallback, by its sentence. */
function grouped(fallbacks: readonly (QuantizeReport & { kind: "fallback" })[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, rowLength, wanted, type } of fallbacks) {
    const what = `rows of ${rowLength} do not fit ${wanted}, so these tensors become ${type}`;
    groups.set(what, [...(groups.get(what) ?? []), name]);
  }
  return groups;
}

/** The process itself, the header and the vocabulary. */
const processBytes = 128 * 2 ** 20;

function requireMemory(header: GgufHeader, availableBytes: number): void {
  // A row may be larger than the buffer. Its floats, the source and the result are in memory at once.
  const largest = header.tensors.reduce(
    (most, { shape, sizeBytes }) => Math.max(most, 2 * sizeBytes + tensorBytes("F32", shape)),
    0,
  );
  const neededBytes = processBytes + Math.min(largest, quantizeBufferBytes);
  if (neededBytes <= availableBytes) return;
  throw new LocallmError("model_too_large", {
    needed: mebibytes(neededBytes),
    available: mebibytes(availableBytes),
  });
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/** Ollama reports its progress under this digest, because the new one is not known yet. */
const progressDigest = "0000000000000000000";

async function write(
  job: Omit<QuantizeJob, "isDry">,
  header: GgufHeader,
  status: string,
  needBytes: number,
  { quantizer, signal, onProgress }: QuantizeContext,
): Promise<void> {
  const sizes = new Map(header.tensors.map(({ name, sizeBytes }) => [name, sizeBytes]));
  const total = header.tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let completed = 0;
  const tell = () => onProgress({ status, digest: progressDigest, total, completed });
  tell();
  try {
    await quantizer(
      { ...job, isDry: false },
      (report) => {
        if (report.kind !== "tensor") return;
        completed += sizes.get(report.name) ?? 0;
        tell();
      },
      signal,
    );
  } catch (error) {
    // The engine does not tell why it could not write.
    const written = await stat(job.to).then(
      ({ size }) => size,
      () => 0,
    );
    const haveBytes = written + (await freeBytes(join(job.to, "..")).catch(() => needBytes));
    if (signal.aborted || haveBytes >= needBytes) throw error;
    throw new LocallmError("disk_full", { needBytes, haveBytes }, { cause: error });
  }
}
