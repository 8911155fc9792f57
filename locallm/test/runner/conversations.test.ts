import {
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import { KeptConversations } from "../../src/conversations/conversations.ts";
import { StateFiles } from "../../src/conversations/state-files.ts";
import type { Runner } from "../../src/runner/handle.ts";
import { startRunner } from "../../src/runner/start.ts";
import { defaultSampling } from "../../src/wire/inference/generate.ts";
import { decodeHead } from "../../src/wire/inference/kept-state.ts";
import type { LoadRequest } from "../../src/wire/inference/load.ts";
import { until } from "../server-process.ts";
import { smallLlama } from "../small-llama.ts";
import { collect, loadOf, newJob } from "./jobs.ts";

const sampling = { ...defaultSampling, temperature: 1.2, topK: 0, topP: 1, seed: 3 };
/** Each letter is one token, so this has about 300 tokens. */
const story = (topic: string) => `${topic}: ${"the quick brown fox jumps over the lazy dog. ".repeat(7)}`;

let folder: string;
const runners: Runner[] = [];
const open: KeptConversations[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-conversations-"));
});
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.kill();
  for (const conversations of open.splice(0)) await conversations.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Names the file by a digest, as the store does, so that states of different models are kept apart. */
async function modelFile(seed: number): Promise<string> {
  const path = join(folder, `sha256-${String(seed).padStart(64, "0")}`);
  await writeFile(path, smallLlama(seed));
  return path;
}

function keeping(memoryBytes: number): KeptConversations {
  return opened(new KeptConversations({ memoryBytes, availableBytes: () => 1e12 }));
}

/** Closes it after the test. */
function opened(conversations: KeptConversations): KeptConversations {
  open.push(conversations);
  return conversations;
}

async function countIs(conversations: KeptConversations, count: number): Promise<void> {
  await until(`${count} are kept`, () => conversations.view().memory.count === count);
}

async function start(
  path: string,
  conversations: KeptConversations,
  changes: Partial<LoadRequest> = {},
): Promise<Runner> {
  const runner = await startRunner(loadOf(path, changes), { conversations });
  runners.push(runner);
  return runner;
}

async function answer(runner: Runner, prompt: string | readonly number[], deterministic = false) {
  const { done } = await collect(
    runner.generate(newJob(prompt, { sampling, numPredict: 20, wantContext: true, deterministic })),
  );
  return { context: done.context!, cached: done.cachedTokens, prompt: done.promptTokens };
}

it("conversations that alternate in one slot continue with the answers of an empty cache", async () => {
  const path = await modelFile(1);
  const conversations = keeping(2 ** 26);
  const runner = await start(path, conversations);
  const topics = ["tea", "sea", "pea"];
  let said = new Map(topics.map((topic) => [topic, story(topic)] as const));
  const cold = await start(path, keeping(0));
  for (let turn = 0; turn < 3; turn++) {
    const next = new Map<string, string>();
    for (const [topic, prompt] of said) {
      const warm = await answer(runner, prompt);
      expect(warm.context).toEqual((await answer(cold, prompt, true)).context);
      if (turn > 0) expect(warm.cached).toBeGreaterThan(warm.prompt - 45);
      next.set(topic, `${prompt} And turn ${turn}?`);
    }
    said = next;
  }
});

describe("conversations that outlive their runner", () => {
  it("are continued by the next runner, also with another window", async () => {
    const path = await modelFile(2);
    const conversations = keeping(2 ** 26);
    const first = await start(path, conversations);
    for (const topic of ["tea", "sea"]) await answer(first, story(topic));
    expect(await first.close()).toMatchObject({ code: 0, signal: null });
    expect(conversations.view().memory.count).toBe(2);
    const second = await start(path, conversations, { numCtx: 2048 });
    for (const topic of ["tea", "sea"]) {
      const warm = await answer(second, story(topic));
      expect(warm.cached).toBe(warm.prompt - 1);
    }
  });

  it("are those that were already saved if the runner was killed", async () => {
    const path = await modelFile(2);
    const conversations = keeping(2 ** 26);
    const first = await start(path, conversations);
    await answer(first, story("pea"));
    await first.kill();
    const second = await start(path, conversations);
    expect((await answer(second, story("pea"))).cached).toBe(0);
    for (const topic of ["tea", "sea"]) await answer(second, story(topic));
    await countIs(conversations, 3);
    await second.kill();
    const third = await start(path, conversations);
    for (const topic of ["pea", "tea", "sea"])
      expect((await answer(third, story(topic))).cached).toBeGreaterThan(300);
  });

  it("are never restored for another model, cache type or adapter", async () => {
    const conversations = keeping(2 ** 26);
    const first = await start(await modelFile(2), conversations);
    await answer(first, story("tea"));
    await first.close();
    const others: [number, Partial<LoadRequest>][] = [
      [3, {}],
      [2, { kvCacheType: "q8_0" }],
      [2, { flashAttention: "off" }],
      [2, { slots: 2 }],
    ];
    for (const [seed, changes] of others) {
      const other = await start(await modelFile(seed), conversations, changes);
      expect((await answer(other, story("tea"))).cached).toBe(0);
      await other.kill();
    }
  });
});

describe("the memory of conversations", () => {
  it("holds a conversation that took another one's slot once no request waits, and no other conversation", async () => {
    const path = await modelFile(2);
    const conversations = keeping(2 ** 26);
    const runner = await start(path, conversations);
    for (const prompt of [story("tea"), `${story("tea")} And?`]) await answer(runner, prompt);
    expect(conversations.view().memory.count).toBe(0);
    await answer(runner, story("sea"));
    await countIs(conversations, 2);
    await answer(runner, `${story("tea")} And? Then?`);
    await countIs(conversations, 2);
  });

  const many = isFullSize ? 200 : 60;
  it(`stays within its limit with ${many} of them, and the latest are kept`, async () => {
    const path = await modelFile(2);
    const limit = 2 * 2 ** 20;
    const conversations = keeping(limit);
    const runner = await start(path, conversations);
    let most = 0;
    for (let index = 0; index < many; index++) {
      await collect(runner.generate(newJob(`${index} ${story("tea")}`, { numPredict: 1 })));
      most = Math.max(most, conversations.view().memory.bytes);
    }
    expect(most).toBeLessThanOrEqual(limit);
    expect(most).toBeGreaterThan(limit * 0.8);
    expect(conversations.view().memory.count).toBeGreaterThan(10);
    expect((await answer(runner, `${many - 5} ${story("tea")}`)).cached).toBeGreaterThan(300);
    expect((await answer(runner, `5 ${story("tea")}`)).cached).toBeLessThan(10);
  });

  it("is released for a model that needs it, oldest first", async () => {
    const path = await modelFile(2);
    let available = 1e12;
    const conversations = opened(
      new KeptConversations({ memoryBytes: 2 ** 26, availableBytes: () => available }),
    );
    const runner = await start(path, conversations);
    for (const topic of ["tea", "sea", "pea"]) await answer(runner, story(topic));
    await countIs(conversations, 3);
    const { bytes } = conversations.view().memory;
    available = 0;
    conversations.makeRoom(1);
    expect(conversations.view().memory).toMatchObject({ count: 0, bytes: 0 });
    expect(bytes).toBeGreaterThan(0);
    // Too little memory is available to keep anything now.
    expect((await answer(runner, story("tea"))).cached).toBeLessThan(10);
    expect(conversations.view().memory.count).toBe(0);
  });

  it("is not used if it is turned off", async () => {
    const conversations = keeping(0);
    const runner = await start(await modelFile(2), conversations);
    for (const topic of ["tea", "sea", "tea"])
      expect((await answer(runner, story(topic))).cached).toBeLessThan(10);
    expect(conversations.view().memory.count).toBe(0);
  });
});

describe("conversations on disk", () => {
  const problems: string[] = [];
  async function onDisk(
    files: string,
    limitBytes = 2 ** 26,
    memoryBytes = 2 ** 26,
  ): Promise<KeptConversations> {
    await mkdir(files, { recursive: true });
    const found = await StateFiles.open({
      folder: files,
      limitBytes,
      now: () => new Date(),
      onProblem: (problem) => problems.push(problem),
    });
    return opened(new KeptConversations({ memoryBytes, availableBytes: () => 1e12 }, found));
  }

  /** Runs a server with these conversations and stops it. */
  async function written(files: string, topics: readonly string[], path: string): Promise<void> {
    const conversations = await onDisk(files);
    const runner = await start(path, conversations);
    for (const topic of topics) await answer(runner, story(topic));
    conversations.closing();
    await runner.close();
    await conversations.close();
  }

  it("continue after a restart with the same answer, from private files", async () => {
    const files = join(folder, "restart");
    const path = await modelFile(2);
    await written(files, ["tea", "sea"], path);
    const names = await readdir(files);
    expect(names).toHaveLength(2);
    for (const name of names) expect((await stat(join(files, name))).mode & 0o777).toBe(0o600);
    const runner = await start(path, await onDisk(files));
    const cold = await start(path, keeping(0));
    for (const topic of ["tea", "sea"]) {
      const warm = await answer(runner, story(topic));
      expect(warm.cached).toBe(warm.prompt - 1);
      expect(warm.context).toEqual((await answer(cold, story(topic), true)).context);
    }
  });

  it("are computed again if a file is damaged anywhere, and the file is removed", async () => {
    const files = join(folder, "damaged");
    const path = await modelFile(2);
    const damages: [string, (file: string, size: number) => Promise<void>][] = [
      ["magic", (file) => flip(file, 3)],
      ["group", (file) => flip(file, 20)],
      ["name", (file) => flip(file, 50)],
      ["checksum", (file) => flip(file, 80)],
      ["number of tokens", (file) => flip(file, 104)],
      ["number of tokens, huge", (file) => flip(file, 107)],
      ["number of parts", (file) => flip(file, 117)],
      ["size of a part", (file) => flip(file, 141)],
      ["a token", (file) => flip(file, 400)],
      ["the state's first byte", (file, size) => flip(file, size - 30_000)],
      ["the state's last bytes", (file, size) => flip(file, size - 70)],
      ["its end", (file, size) => truncate(file, size - 1)],
      ["its second half", (file, size) => truncate(file, Math.floor(size / 2))],
      ["all but a header", (file) => truncate(file, 128)],
      ["all of it", (file) => truncate(file, 0)],
    ];
    // One conversation for each damage, and a sound one. None begins with the letter of another, and each has its own
    // length.
    const topics = [...damages, "sound"].map((_, index) => "abcdefghijklmnop"[index]!.repeat(index + 1));
    await written(files, topics, path);
    const byLength = await Promise.all(
      (await readdir(files)).map(async (name) => {
        const bytes = await readFile(join(files, name));
        return { file: join(files, name), size: bytes.length, tokens: decodeHead(bytes)!.promptTokens };
      }),
    );
    byLength.sort((one, other) => one.tokens - other.tokens);
    expect(byLength).toHaveLength(topics.length);
    // The damage is done after the start, which would detect some of it. No file is written again, because no state
    // fits into one byte of memory.
    const conversations = await onDisk(files, 2 ** 26, 1);
    for (const [index, [, damage]] of damages.entries()) {
      const { file, size } = byLength[index]!;
      await damage(file, size);
    }
    const runner = await start(path, conversations);
    const cold = await start(path, keeping(0));
    for (const [index, topic] of topics.entries()) {
      const what = damages[index]?.[0] ?? "sound";
      const again = await answer(runner, story(topic));
      const { context } = await answer(cold, story(topic), true);
      expect([what, again.cached > 1, again.context]).toEqual([what, what === "sound", context]);
    }
    await runner.kill();
    expect((await onDisk(files)).view().disk?.count).toBe(1);
    expect(await readdir(files)).toEqual([basename(byLength.at(-1)!.file)]);
  });

  it("are removed at the start if damaged, beyond the limit, or left over from a killed server", async () => {
    const files = join(folder, "start");
    const path = await modelFile(2);
    await written(files, ["tea", "sea", "pea"], path);
    const [first] = await readdir(files);
    const { size } = await stat(join(files, first!));
    await writeFile(join(files, `${"0".repeat(64)}.state`), "not a state");
    await writeFile(join(files, `${"1".repeat(64)}.999999999.partial`), "half of a state");
    await writeFile(join(files, "notes.txt"), "not ours");
    const conversations = await onDisk(files, 2 * size + 4096);
    expect(conversations.view().disk).toMatchObject({ count: 2 });
    expect((await readdir(files)).sort()).toHaveLength(3);
    // Only the latest conversations remain.
    const runner = await start(path, conversations);
    expect((await answer(runner, story("pea"))).cached).toBeGreaterThan(300);
  });

  it("stay within the limit, with the latest version of each", async () => {
    const files = join(folder, "limit");
    const path = await modelFile(2);
    await written(files, ["one"], path);
    const { size } = await stat(join(files, (await readdir(files))[0]!));
    const limit = Math.floor(size * 3.5);
    const conversations = await onDisk(files, limit);
    const runner = await start(path, conversations);
    for (const topic of ["two", "six", "ten", "tea", "sea"]) await answer(runner, story(topic));
    for (const turn of ["", " And?", " And? Then?"])
      for (const topic of ["tea", "sea"]) await answer(runner, story(topic) + turn);
    conversations.closing();
    await runner.close();
    await conversations.close();
    const sizes = await Promise.all(
      (await readdir(files)).map(async (name) => (await stat(join(files, name))).size),
    );
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(limit);
    const again = await start(path, await onDisk(files, limit));
    for (const topic of ["tea", "sea"]) {
      const { cached, prompt } = await answer(again, `${story(topic)} And? Then? So`);
      expect(cached).toBeGreaterThan(prompt - 10);
    }
    expect(problems).toEqual([]);
  });
});

/** Changes one byte of the file. */
async function flip(path: string, at: number): Promise<void> {
  const file = await openFile(path, "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  byte[0]! ^= 0x55;
  await file.write(byte, 0, 1, at);
  await file.close();
}
