import { constants, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName, type ModelName, parseModelName } from "../wire/model-name.ts";
import { Blobs, isMissing, readFolder } from "./blob.ts";
import { type Digest, digestHex, digestOf } from "./digest.ts";
import { asWriteError } from "./disk-space.ts";
import { removeEmptyFolders, syncFolder, writeDurably } from "./durable.ts";
import { Headers } from "./headers.ts";
import {
  type Manifest,
  manifestLayers,
  manifestLimitBytes,
  parseManifest,
  printManifest,
} from "./manifest.ts";
import { type Model, readModel } from "./model.ts";

/** A manifest that cannot be used. It never hides the other models; `locallm doctor` deals with it. */
export interface BrokenModel {
  name: ModelName;
  error: LocallmError;
}

export interface RemovedModel {
  name: ModelName;
  /** Files that no model names any more; a loaded one may still be read. */
  unusedPaths: string[];
  freeBlobs(): Promise<void>;
}

/**
 * The models folder, in Ollama's layout: `manifests/<host>/<namespace>/<model>/<tag>` and `blobs/`. Ollama may
 * work on the same folder. Nothing is cached but what a file's identity, size and time vouch for.
 */
export class Store {
  readonly root: string;
  readonly blobs: Blobs;
  readonly headers: Headers;
  #models = new Map<string, { stamp: string; model: Model }>();
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(root: string) {
    this.root = root;
    this.blobs = new Blobs(root);
    this.headers = new Headers();
  }

  /** Null where there is no such model. Throws `invalid_manifest` or `blob_missing` where it is damaged. */
  async find(name: ModelName): Promise<Model | null> {
    const spelled = await this.#spelling(name);
    return spelled === null ? null : await this.#read(spelled);
  }

  /** As `find`, but throws `model_not_found`; `typed` is how the user wrote the name. */
  async require(name: ModelName, typed = displayModelName(name)): Promise<Model> {
    const model = await this.find(name);
    if (model === null) throw new LocallmError("model_not_found", { model: typed });
    return model;
  }

  /** Every model, newest first, and apart from them what cannot be read. */
  async list(): Promise<{ models: Model[]; broken: BrokenModel[] }> {
    const models: Model[] = [];
    const broken: BrokenModel[] = [];
    for (const name of await this.names()) {
      try {
        const model = await this.#read(name);
        if (model !== null) models.push(model);
      } catch (error) {
        if (!(error instanceof LocallmError)) throw error;
        broken.push({ name, error });
      }
    }
    models.sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime());
    return { models, broken };
  }

  /** The names of all manifests, readable or not, spelled as on disk. */
  async names(): Promise<ModelName[]> {
    const names: ModelName[] = [];
    for (const host of await readFolder(this.#manifestFolder)) {
      for (const namespace of await readFolder(join(this.#manifestFolder, host))) {
        for (const model of await readFolder(join(this.#manifestFolder, host, namespace))) {
          for (const tag of await readFolder(join(this.#manifestFolder, host, namespace, model))) {
            const name = parseModelName(`${host}/${namespace}/${model}:${tag}`);
            if (name !== null) names.push(name);
          }
        }
      }
    }
    return names;
  }

  /**
   * Makes `name` mean `manifest`, at once and lastingly. Every blob of it must be there (`blob_missing`).
   * Blobs that only the replaced manifest used are removed.
   */
  async write(name: ModelName, manifest: Manifest): Promise<void> {
    await this.writeBytes(name, printManifest(manifest));
  }

  /** As `write`, for a manifest whose own bytes must stay: they have a digest elsewhere. */
  async writeBytes(name: ModelName, bytes: Uint8Array): Promise<void> {
    await this.#change(async () => {
      await this.requireBlobs(parseManifest(bytes));
      const path = this.#path(await this.#spellingForWrite(name));
      const replaced = await this.#digestsNamedBy(path);
      await writeDurably(path, bytes, this.blobs.partialFolder);
      await this.#removeUnused(replaced);
    });
  }

  /** A second name for the same manifest, byte for byte. Throws `model_not_found` and `blob_missing`. */
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
   * Removes the name at once, so that no new request finds it. The blobs that only it named are removed by
   * `freeBlobs`, when nobody reads them any more. Null where there was no such model.
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

  /** Every blob that some manifest names. From an unreadable manifest, whatever looks like a digest in it. */
  async usedDigests(): Promise<Set<Digest>> {
    const used = new Set<Digest>();
    for (const name of await this.names()) {
      for (const digest of await this.#digestsNamedBy(this.#path(name))) used.add(digest);
    }
    return used;
  }

  /** Where the manifest lies, by the spelling on disk. */
  async manifestPath(name: ModelName): Promise<string> {
    return this.#path(await this.#spellingForWrite(name));
  }

  /** The manifest's bytes as they lie on disk. Null where there is none. */
  async manifestBytes(name: ModelName): Promise<Buffer | null> {
    const spelled = await this.#spelling(name);
    return spelled === null ? null : await readIfFile(this.#path(spelled));
  }

  get #manifestFolder(): string {
    return join(this.root, "manifests");
  }

  #path(name: ModelName): string {
    return join(this.#manifestFolder, name.host, name.namespace, name.model, name.tag);
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
      throw new LocallmError("invalid_manifest", { reason: `it has ${found.size} bytes` });
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

  /** How an existing manifest spells the name (names are compared without case), or null. */
  async #spelling(name: ModelName): Promise<ModelName | null> {
    const exact = await stat(this.#path(name)).catch(() => null);
    if (exact?.isFile()) return name;
    const spelled = await this.#spellingForWrite(name);
    return (await stat(this.#path(spelled)).catch(() => null))?.isFile() ? spelled : null;
  }

  /** Takes over the existing spelling part by part, as far as there is one. */
  async #spellingForWrite(name: ModelName): Promise<ModelName> {
    let folder = this.#manifestFolder;
    const spelled: Record<"host" | "namespace" | "model" | "tag", string> = { ...name };
    for (const part of ["host", "namespace", "model", "tag"] as const) {
      const entries = await readFolder(folder);
      const wanted = name[part];
      const lowered = wanted.toLowerCase();
      spelled[part] = entries.includes(wanted)
        ? wanted
        : (entries.sort().find((entry) => entry.toLowerCase() === lowered) ?? wanted);
      folder = join(folder, spelled[part]);
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
          reason: `blob ${layer.digest} has ${size} bytes, the manifest says ${layer.sizeBytes}`,
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

  /** One change at a time, so that a delete cannot take a blob that a create is about to name. */
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

/** Null unless the path is a regular file: opening a pipe would wait for its other end. */
async function readIfFile(path: string): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      // ENXIO: a socket.
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
