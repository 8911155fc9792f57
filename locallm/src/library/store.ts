import { constants, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName, type ModelName, parseModelName } from "../wire/model-name.ts";
import { Blobs, isMissing, readFolder } from "./blob.ts";
import { type Digest, digestHex, digestOf } from "./digest.ts";
import { asWriteError } from "./disk-space.ts";
import { removeEmptyFolders, syncFolder, writeDurably } from "./durable.ts";
import { FileStamps } from "./file-stamps.ts";
import { Headers } from "./headers.ts";
import {
  type Manifest,
  manifestLayers,
  manifestLimitBytes,
  parseManifest,
  printManifest,
} from "./manifest.ts";
import { type Model, readModel } from "./model.ts";
import { fileNameOf, partOf } from "./name-part.ts";

/** A model whose manifest or small layers are unreadable. The other models stay listed; `locallm doctor` reports it. */
export interface BrokenModel {
  name: ModelName;
  error: LocallmError;
}

/** All models, newest first, and separately the unreadable ones. */
export interface ModelList {
  readonly models: readonly Model[];
  readonly broken: readonly BrokenModel[];
}

export interface RemovedModel {
  name: ModelName;
  /** Files that no model uses any more; a loaded model may still be reading them. */
  unusedPaths: string[];
  freeBlobs(): Promise<void>;
}

/**
 * The models folder in Ollama's layout: `manifests/<host>/<namespace>/<model>/<tag>` and `blobs/`. Ollama may use the
 * same folder, so cached values are used only while the file's inode, size and modification time are unchanged.
 * `platform` decides how names are spelled on disk.
 */
export class Store {
  readonly root: string;
  readonly blobs: Blobs;
  readonly headers: Headers;
  readonly #platform: NodeJS.Platform;
  readonly #now: () => number;
  #models = new Map<string, { stamp: string; model: Model }>();
  #listed: { readonly list: ModelList; readonly stamps: FileStamps } | null = null;
  #lastChange: Promise<unknown> = Promise.resolve();

  /** `now` is the time in milliseconds since 1970. */
  constructor(root: string, platform: NodeJS.Platform = process.platform, now: () => number = Date.now) {
    this.root = root;
    this.#platform = platform;
    this.#now = now;
    this.blobs = new Blobs(root);
    this.headers = new Headers();
  }

  /** Null if the model does not exist. Throws `invalid_manifest` or `blob_missing` if it is damaged. */
  async find(name: ModelName): Promise<Model | null> {
    const listed = this.#currentList()?.models.find((model) => isSame(model.name, name));
    if (listed !== undefined) return listed;
    const spelled = await this.#spelling(name);
    return spelled === null ? null : await this.#read(spelled);
  }

  /** Like `find`, but throws `model_not_found`. `typed` is the name as the user wrote it. */
  async require(name: ModelName, typed = displayModelName(name)): Promise<Model> {
    const model = await this.find(name);
    if (model === null) throw new LocallmError("model_not_found", { model: typed });
    return model;
  }

  /** Returns the same list until a folder, a manifest or the weights of a model change. */
  async list(): Promise<ModelList> {
    const current = this.#currentList();
    if (current !== null) return current;
    const stamps = new FileStamps(this.#now);
    const models: Model[] = [];
    const broken: BrokenModel[] = [];
    for (const name of await this.names(stamps)) {
      stamps.note(this.#path(name));
      try {
        const model = await this.#read(name);
        if (model === null) continue;
        for (const path of model.modelPaths) stamps.note(path);
        models.push(model);
      } catch (error) {
        if (!(error instanceof LocallmError)) throw error;
        broken.push({ name, error });
      }
    }
    models.sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime());
    const list = { models, broken };
    // What a damaged model lacks is not noted.
    this.#listed = broken.length === 0 ? { list, stamps } : null;
    return list;
  }

  #currentList(): ModelList | null {
    return this.#listed?.stamps.areCurrent === true ? this.#listed.list : null;
  }

  /** Names of all manifests, readable or not, spelled as on disk. Notes the folders in `stamps`. */
  async names(stamps?: FileStamps): Promise<ModelName[]> {
    const names: ModelName[] = [];
    const parts = async (...above: string[]) => {
      stamps?.note(this.#pathOf(above));
      return await this.#parts(...above);
    };
    for (const host of await parts()) {
      for (const namespace of await parts(host)) {
        for (const model of await parts(host, namespace)) {
          for (const tag of await parts(host, namespace, model)) {
            const name = parseModelName(`${host}/${namespace}/${model}:${tag}`);
            if (name !== null) names.push(name);
          }
        }
      }
    }
    return names;
  }

  /**
   * Stores a manifest under a name, atomically and durably. Throws `blob_missing` if the store lacks one of its blobs.
   * Removes blobs that only the replaced manifest used.
   */
  async write(name: ModelName, manifest: Manifest): Promise<void> {
    await this.writeBytes(name, printManifest(manifest));
  }

  /** Like `write`, for a manifest whose exact bytes must be kept because a registry knows them by their digest. */
  async writeBytes(name: ModelName, bytes: Uint8Array): Promise<void> {
    await this.#change(async () => {
      await this.requireBlobs(parseManifest(bytes));
      const path = this.#path(await this.#spellingForWrite(name));
      const replaced = await this.#digestsNamedBy(path);
      await writeDurably(path, bytes, this.blobs.partialFolder);
      await this.#removeUnused(replaced);
    });
  }

  /** Copies the manifest, byte for byte, to a second name. Throws `model_not_found` and `blob_missing`. */
  async copy(source: ModelName, destination: ModelName, typed?: string): Promise<void> {
    await this.#change(async () => {
      const from = await this.#spelling(source);
      if (from === null)
        throw new LocallmError("model_not_found", { model: typed ?? displayModelName(source) });
      const to = await this.#spellingForWrite(destination);
      if (this.#path(from) === this.#path(to)) return;
      const replaced = await this.#digestsNamedBy(this.#path(to));
      const bytes = await readFile(this.#path(from));
      await this.requireBlobs(parseManifest(bytes));
      await writeDurably(this.#path(to), bytes, this.blobs.partialFolder);
      await this.#removeUnused(replaced);
    });
  }

  /**
   * Removes the name, so that new requests do not find it. Call `freeBlobs` to remove the blobs that only it used, once
   * no loaded model reads them. Null if the model did not exist.
   */
  async remove(name: ModelName): Promise<RemovedModel | null> {
    return await this.#change(async () => {
      const spelled = await this.#spelling(name);
      if (spelled === null) return null;
      const path = this.#path(spelled);
      const digests = await this.#digestsNamedBy(path);
      await rm(path, { force: true });
      await syncFolder(dirname(path));
      await removeEmptyFolders(dirname(path), this.#manifestFolder);
      const used = await this.usedDigests();
      const unused = [...new Set(digests)].filter((digest) => !used.has(digest));
      return {
        name: spelled,
        unusedPaths: unused.map((digest) => this.blobs.path(digest)),
        freeBlobs: () => this.#change(() => this.#removeUnused(unused)),
      };
    });
  }

  /** All blobs named in manifests. For an unreadable manifest: everything in it that looks like a digest. */
  async usedDigests(): Promise<Set<Digest>> {
    const used = new Set<Digest>();
    for (const name of await this.names()) {
      for (const digest of await this.#digestsNamedBy(this.#path(name))) used.add(digest);
    }
    return used;
  }

  /** Path of the manifest, in the spelling on disk. */
  async manifestPath(name: ModelName): Promise<string> {
    return this.#path(await this.#spellingForWrite(name));
  }

  /** The manifest's bytes as stored on disk; null if it does not exist. */
  async manifestBytes(name: ModelName): Promise<Buffer | null> {
    const spelled = await this.#spelling(name);
    return spelled === null ? null : await readIfFile(this.#path(spelled));
  }

  get #manifestFolder(): string {
    return join(this.root, "manifests");
  }

  #path({ host, namespace, model, tag }: ModelName): string {
    return this.#pathOf([host, namespace, model, tag]);
  }

  #pathOf(parts: readonly string[]): string {
    return join(this.#manifestFolder, ...parts.map((part) => fileNameOf(part, this.#platform)));
  }

  /** The next parts of the names that begin with these. */
  async #parts(...above: readonly string[]): Promise<string[]> {
    return (await readFolder(this.#pathOf(above))).map((fileName) => partOf(fileName, this.#platform));
  }

  async #read(name: ModelName): Promise<Model | null> {
    const path = this.#path(name);
    const found = await stat(path).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (found === null || !found.isFile()) return null;
    const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
    const cached = this.#models.get(path);
    if (cached?.stamp === stamp) return cached.model;
    if (found.size > manifestLimitBytes) {
      throw new LocallmError("invalid_manifest", { reason: `it is larger than ${manifestLimitBytes} bytes` });
    }
    const bytes = await readIfFile(path);
    if (bytes === null) return null;
    const model = await readModel(this.blobs, {
      name,
      digest: digestHex(digestOf(bytes)),
      modifiedAt: found.mtime,
      manifest: parseManifest(bytes),
    });
    this.#models.set(path, { stamp, model });
    return model;
  }

  /** The spelling of the existing manifest (names are compared ignoring case), or null. */
  async #spelling(name: ModelName): Promise<ModelName | null> {
    const exact = await stat(this.#path(name)).catch(() => null);
    if (exact?.isFile()) return name;
    const spelled = await this.#spellingForWrite(name);
    return (await stat(this.#path(spelled)).catch(() => null))?.isFile() ? spelled : null;
  }

  /** Uses the existing spelling of each part that exists. */
  async #spellingForWrite(name: ModelName): Promise<ModelName> {
    const above: string[] = [];
    const spelled: Record<"host" | "namespace" | "model" | "tag", string> = { ...name };
    for (const part of ["host", "namespace", "model", "tag"] as const) {
      const entries = await this.#parts(...above);
      const wanted = name[part];
      const lowered = wanted.toLowerCase();
      spelled[part] = entries.includes(wanted)
        ? wanted
        : (entries.sort().find((entry) => entry.toLowerCase() === lowered) ?? wanted);
      above.push(spelled[part]);
    }
    return { ...name, ...spelled };
  }

  /** Throws `blob_missing`, or `invalid_manifest` for a blob of another size. */
  async requireBlobs(manifest: Manifest): Promise<void> {
    for (const layer of manifestLayers(manifest)) {
      const size = await this.blobs.size(layer.digest);
      if (size === null) throw new LocallmError("blob_missing", { digest: layer.digest });
      if (size !== layer.sizeBytes) {
        throw new LocallmError("invalid_manifest", {
          reason: `blob ${layer.digest} has ${counted(size, "byte")} instead of ${layer.sizeBytes}`,
        });
      }
    }
  }

  async #digestsNamedBy(manifestPath: string): Promise<Digest[]> {
    const bytes = await readIfFile(manifestPath);
    if (bytes === null) return [];
    try {
      return manifestLayers(parseManifest(bytes)).map((layer) => layer.digest);
    } catch {
      const found = bytes.toString("latin1").match(/sha256[:-][0-9a-f]{64}/g) ?? [];
      return found.map((text) => `sha256:${text.slice(7)}` as Digest);
    }
  }

  async #removeUnused(candidates: Digest[]): Promise<void> {
    if (candidates.length === 0) return;
    const used = await this.usedDigests();
    for (const digest of new Set(candidates)) {
      if (!used.has(digest)) await this.blobs.remove(digest);
    }
  }

  /** Runs one change at a time, so that a delete cannot remove a blob that a create is about to use. */
  async #change<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => {});
    try {
      return await result;
    } catch (error) {
      throw await asWriteError(error, this.root, 0);
    }
  }
}

function isSame(a: ModelName, b: ModelName): boolean {
  return a.tag === b.tag && a.model === b.model && a.namespace === b.namespace && a.host === b.host;
}

/** Null if the path is not a regular file. Opens without blocking, because opening a pipe would wait for its writer. */
async function readIfFile(path: string): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      // ENXIO: the path is a socket.
      if (isMissing(error) || error.code === "ENXIO") return null;
      throw error;
    },
  );
  if (file === null) return null;
  try {
    return (await file.stat()).isFile() ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}
