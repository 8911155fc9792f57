import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableBytes } from "../src/gpu/available-memory.ts";
import { hashFile } from "../src/library/blob.ts";
import { type CreateContext, createModel } from "../src/library/create.ts";
import { Store } from "../src/library/store.ts";
import { quantizeInChild } from "../src/runner/quantize.ts";
import type { CreateRequest } from "../src/wire/api/library.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { smallLlama } from "./small-llama.ts";

/** The path of the embedding model for tests that need one. */
export const embeddingModelPath =
  process.env["TEST_MODELS"] === undefined
    ? null
    : join(process.env["TEST_MODELS"], "all-minilm-l6-v2-f16.gguf");

/** A models folder for one test file, filled from the models of this machine. */
export interface ModelStore {
  readonly folder: string;
  /** Creates the model `name` from a GGUF file. `more` sets further fields of the create request. */
  add(name: string, path: string, more?: Partial<CreateRequest>): Promise<void>;
  /** Puts a file into the store, for `derive`. Returns its digest. */
  put(path: string): Promise<string>;
  /** Creates the model `name` from another model or from files of this store. */
  derive(name: string, more: Partial<CreateRequest>): Promise<void>;
  remove(): Promise<void>;
}

export async function createModelStore(): Promise<ModelStore> {
  const folder = await mkdtemp(join(tmpdir(), "locallm-store-"));
  const store = new Store(folder);
  const put = async (path: string) => {
    const digest = await hashFile(path);
    await store.blobs.importFile(path, digest);
    return digest;
  };
  const create = async (name: string, request: Partial<CreateRequest>) =>
    createModel(requireModelName(name), request as CreateRequest, createContext(store));
  return {
    folder,
    async add(name, path, more = {}) {
      // One thread, so that no thread waits for another on a machine that is busy with other tests.
      const parameters = { num_thread: 1, ...more.parameters };
      await create(name, { ...more, parameters, files: { "model.gguf": await put(path) } });
    },
    put,
    derive: create,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A store with `small:a` and `small:b`, two generated models that load and answer in milliseconds. */
export async function createSmallStore(): Promise<ModelStore> {
  const store = await createModelStore();
  for (const [index, name] of ["small:a", "small:b"].entries()) {
    const path = join(store.folder, "small.gguf");
    await writeFile(path, smallLlama(index + 1));
    await store.add(name, path);
    await rm(path);
  }
  return store;
}

/** What `createModel` needs beside the request, without a server. */
export function createContext(store: Store): CreateContext {
  return {
    store,
    checkTemplate: async () => {},
    requireRemote: async () => {},
    onStatus: () => {},
    quantizing: {
      quantizer: quantizeInChild,
      availableBytes,
      signal: new AbortController().signal,
      onProgress: () => {},
    },
  };
}
