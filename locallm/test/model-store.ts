import { appendFile, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashFile } from "../src/library/blob.ts";
import { createModel } from "../src/library/create.ts";
import { Store } from "../src/library/store.ts";
import type { CreateRequest } from "../src/wire/api/library.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { starterModelPath } from "./starter-model.ts";

/** Where the embedding model lies, for tests that need one. */
export const embeddingModelPath =
  process.env["TEST_MODELS"] === undefined
    ? null
    : join(process.env["TEST_MODELS"], "all-minilm-l6-v2-f16.gguf");

/** A folder of models for one test file, made of the models that this machine has. */
export interface ModelStore {
  readonly folder: string;
  /** Makes `name` of a GGUF file, with what else a create request can say. */
  add(name: string, path: string, more?: Partial<CreateRequest>): Promise<void>;
  /** Makes `name` of another model of this store. */
  derive(name: string, more: Partial<CreateRequest> & { from: string }): Promise<void>;
  remove(): Promise<void>;
}

export async function createModelStore(): Promise<ModelStore> {
  const folder = await mkdtemp(join(tmpdir(), "locallm-store-"));
  const store = new Store(folder);
  const create = async (name: string, request: Partial<CreateRequest>) =>
    createModel(requireModelName(name), request as CreateRequest, {
      store,
      checkTemplate: () => {},
      onStatus: () => {},
    });
  return {
    folder,
    async add(name, path, more = {}) {
      const digest = await hashFile(path);
      await store.blobs.importFile(path, digest);
      await create(name, { ...more, files: { "model.gguf": digest } });
    },
    derive: create,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * `smollm2:135m`, and `twin:135m`: the same tensors in a file with other bytes at its end, so that it is another
 * model to the server. Null where the starter model cannot be had.
 */
export async function createTwinStore(): Promise<ModelStore | null> {
  const path = await starterModelPath();
  if (path === null) return null;
  const store = await createModelStore();
  await store.add("smollm2:135m", path);
  const copy = join(store.folder, "twin.gguf");
  await copyFile(path, copy);
  await appendFile(copy, Buffer.alloc(4096));
  await store.add("twin:135m", copy);
  await rm(copy);
  return store;
}
