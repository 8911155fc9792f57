import { access, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Shelf } from "../runner/handle.ts";
import { encodeHead, layOut, stateName } from "../wire/inference/kept-state.ts";
import type { LoadRequest } from "../wire/inference/load.ts";
import { KeptConversations } from "./conversations.ts";
import { StateFiles } from "./state-files.ts";

const load = {
  modelPath: `/models/sha256-${"a".repeat(64)}`,
  adapters: [],
  kvCacheType: "f16",
  flashAttention: "auto",
  slots: 1,
} as unknown as LoadRequest;

let folder: string;
let conversations: KeptConversations;
let shelf: Shelf;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-kept-"));
  const files = await StateFiles.open({
    folder,
    limitBytes: 2 ** 20,
    now: () => new Date(),
    onProblem: (problem, error) => expect.fail(`${problem}: ${error}`),
  });
  conversations = new KeptConversations({ memoryBytes: 2 ** 20, availableBytes: () => 1e12 }, files);
  shelf = conversations.open(load, () => {})!;
});
afterEach(async () => {
  await conversations.close();
  await rm(folder, { recursive: true, force: true });
});

/** Keeps a state as a runner does. The file stands for the runner's memory. */
async function keep(tokens: readonly number[], replaced: readonly number[] = []) {
  const ids = Int32Array.from(tokens);
  const { parts, totalBytes } = layOut(ids.length, 0, [{ tokens: ids.length, bytes: 64 }]);
  const content = { group: shelf.group, window: 0, tokens: ids, pictures: [] };
  const name = await stateName(content);
  const head = encodeHead({ ...content, name, promptTokens: ids.length, parts });
  const memory = Buffer.alloc(totalBytes);
  head.copy(memory);
  const id = shelf.reserve(totalBytes)!;
  const path = join(folder, `memory-${id}`);
  await writeFile(path, memory);
  shelf.keep(id, path, replaced);
  return { id, file: join(folder, `${name}.state`), bytes: totalBytes };
}

async function filesAre(...files: readonly string[]): Promise<void> {
  await expect
    .poll(async () => (await readdir(folder)).filter((name) => name.endsWith(".state")).sort())
    .toEqual(files.map((file) => file.slice(folder.length + 1)).sort());
}

const diskHas = (count: number, bytes: number) =>
  expect.poll(() => conversations.view().disk).toMatchObject({ count, bytes });

describe("a conversation whose slot saves the same tokens again", () => {
  it("keeps its file if it replaces the version that it was restored from", async () => {
    const first = await keep([1, 2, 3]);
    await diskHas(1, first.bytes);
    shelf.release(first.id);
    const second = await keep([1, 2, 3], [first.id]);
    const other = await keep([4, 5, 6]);
    await diskHas(2, second.bytes + other.bytes);
    await filesAre(second.file, other.file);
  });

  it("counts its file once if the runner does not name the version that it replaces", async () => {
    const first = await keep([1, 2, 3]);
    await diskHas(1, first.bytes);
    shelf.release(first.id);
    const second = await keep([1, 2, 3]);
    const other = await keep([4, 5, 6]);
    await diskHas(2, second.bytes + other.bytes);
    shelf.damaged(first.id);
    await expect(access(second.file)).resolves.toBeUndefined();
  });
});

it("removes the file of a version that another one continues", async () => {
  const first = await keep([1, 2, 3]);
  await diskHas(1, first.bytes);
  const second = await keep([1, 2, 3, 4], [first.id]);
  await diskHas(1, second.bytes);
  await filesAre(second.file);
});
