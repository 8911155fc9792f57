import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../test/manual-clock.ts";
import { type ApiKey, type KeyWish, newKey } from "./api-key.ts";
import { Keys } from "./keys.ts";
import { KeysFile } from "./keys-file.ts";

const wish: KeyWish = {
  name: "a",
  may: ["ask"],
  models: null,
  requests_per_minute: null,
  tokens_per_day: null,
};

let folder: string;
let clock: ManualClock;
let problems: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-keys-"));
  clock = new ManualClock();
  problems = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (administrator: string | null = null) =>
  Keys.open({
    folder,
    administrator,
    clock: { now: () => clock.now(), elapsed: () => clock.now() },
    after: (delayMs, callback) => clock.after(delayMs, callback),
    onProblem: (problem) => problems.push(problem),
  });

async function add(name: string, more: Partial<KeyWish> = {}): Promise<string> {
  const { secret, record } = newKey({ ...wish, name, ...more }, new Date());
  await new KeysFile(folder).change(async (keys) => [...(keys ?? []), record]);
  return secret;
}

async function looksAgain(keys: Keys): Promise<void> {
  await clock.pass(1000);
  await keys.refresh();
}

const keysPath = () => join(folder, "keys.json");

describe("Keys", () => {
  it("needs no key until one is made, notices it at the next check, and forgets a revoked one", async () => {
    const keys = await open();
    expect([keys.exist, keys.caller("")?.id, keys.caller("anything")?.id]).toEqual([false, null, null]);
    const secret = await add("alice");
    await looksAgain(keys);
    expect([keys.caller(""), keys.caller("anything"), keys.caller(secret.slice(0, -1))]).toEqual([
      null,
      null,
      null,
    ]);
    expect(keys.caller(secret)?.id).toBe(keys.all[0]?.key.id);
    await new KeysFile(folder).change(async () => []);
    expect(keys.refresh()).toBeNull();
    await looksAgain(keys);
    expect([keys.exist, keys.caller(secret), keys.caller("")]).toEqual([true, null, null]);
  });

  it("always accepts the administrator, and nobody else if no key was made", async () => {
    const keys = await open("s3cret");
    expect(keys.caller("s3cret")?.may("administer")).toBe(true);
    expect([keys.caller("s3cre"), keys.caller("s3crets"), keys.caller("")]).toEqual([null, null, null]);
  });

  it("stores no secret, in a file that only its owner may access", async () => {
    const secret = await add("alice");
    const text = await readFile(keysPath(), "utf8");
    expect(text).not.toContain(secret.slice(-20));
    expect((await stat(keysPath())).mode & 0o777).toBe(0o600);
  });

  const damages: [string, () => Promise<void>][] = [
    ["is cut off", async () => writeFile(keysPath(), (await readFile(keysPath(), "utf8")).slice(0, -5))],
    ["is empty", () => writeFile(keysPath(), "")],
    ["has a wrong field", () => writeFile(keysPath(), '{"version":1,"keys":[{"id":"x"}]}')],
    ["has an unknown version", () => writeFile(keysPath(), '{"version":2,"keys":[]}')],
    [
      "has a key twice",
      async () => {
        const { version, keys } = JSON.parse(await readFile(keysPath(), "utf8")) as {
          version: 1;
          keys: ApiKey[];
        };
        await writeFile(keysPath(), JSON.stringify({ version, keys: [...keys, ...keys] }));
      },
    ],
    ["may be read by others", () => chmod(keysPath(), 0o640)],
    ["was deleted", () => rm(keysPath())],
  ];
  it.each(damages)("opens nothing if its file %s while it runs", async (what, damage) => {
    const secret = await add("alice");
    const keys = await open("s3cret");
    await damage();
    await looksAgain(keys);
    for (const sent of [secret, "", "x"])
      expect(() => keys.caller(sent)).toThrow(
        /^cannot use keys\.json in the folder that LOCALLM_KEYS names: /,
      );
    expect(keys.caller("s3cret")?.id).toBeNull();
    await looksAgain(keys);
    expect(problems).toEqual(["the API keys cannot be used"]);
    if (what !== "was deleted") await expect(open()).rejects.toThrow("cannot use keys.json");
  });

  it("works again when the file is repaired", async () => {
    const secret = await add("alice");
    const text = await readFile(keysPath(), "utf8");
    const keys = await open();
    await writeFile(keysPath(), "{");
    await looksAgain(keys);
    await writeFile(keysPath(), text);
    await looksAgain(keys);
    expect(keys.caller(secret)).not.toBeNull();
  });

  it("does not start with damaged usage, which would give every key its tokens again", async () => {
    await add("alice");
    await writeFile(join(folder, "usage.json"), "{", { mode: 0o600 });
    await expect(open()).rejects.toThrow("cannot use usage.json");
  });

  it("loses nothing when commands change the file at the same time", async () => {
    await Promise.all(Array.from({ length: 12 }, (_, index) => add(`key ${index}`)));
    expect((await new KeysFile(folder).read())?.length).toBe(12);
  });

  it("finds each of 10,000 keys, and refuses one more", async () => {
    const made = Array.from({ length: 10_000 }, (_, index) =>
      newKey({ ...wish, name: `key ${index}` }, new Date()),
    );
    await new KeysFile(folder).change(async () => made.map(({ record }) => record));
    const keys = await open();
    expect(made.filter(({ secret, record }) => keys.caller(secret)?.id !== record.id)).toEqual([]);
    await expect(add("one more")).rejects.toThrow("more than 10000 keys");
    expect((await new KeysFile(folder).read())?.length).toBe(10_000);
  });

  it("keeps a key's counts when the key is changed and another key is revoked", async () => {
    await add("gone");
    const secret = await add("alice");
    const keys = await open();
    keys.caller(secret)?.count(5, 6);
    await new KeysFile(folder).change(async (all) =>
      (all ?? []).slice(1).map((key) => ({ ...key, tokens_per_day: 11 })),
    );
    await looksAgain(keys);
    expect(() => keys.caller(secret)?.admit()).toThrow("has used its 11 tokens");
  });
});

describe("the stored usage", () => {
  it("survives a kill, except for the last two seconds and the write that the kill interrupts", async () => {
    const secret = await add("alice");
    const step = fc.oneof(
      fc.record({ kind: fc.constant("use" as const), tokens: fc.nat(100) }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(5000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        await rm(join(folder, "usage.json"), { force: true });
        // The timers of the server that the previous run killed must not fire.
        clock = new ManualClock();
        const keys = await open();
        const caller = keys.caller(secret)!;
        const used: { atMs: number; tokens: number }[] = [];
        for (const one of steps) {
          if (one.kind === "pass") await clock.pass(one.ms);
          else {
            caller.admit();
            caller.count(one.tokens, 0);
            used.push({ atMs: clock.now(), tokens: one.tokens });
          }
        }
        // Does not close, because the process is killed here. Waits only for writes that have begun.
        await keys.written();
        const kept = (await open()).all[0]!.usage.record.total.promptTokens;
        const sum = (upToMs: number) =>
          used.filter(({ atMs }) => atMs <= upToMs).reduce((total, { tokens }) => total + tokens, 0);
        expect(kept).toBeGreaterThanOrEqual(sum(clock.now() - 2000));
        expect(kept).toBeLessThanOrEqual(sum(clock.now()));
      }),
      { numRuns: 30 },
    );
  });

  it("is complete after a stop, and forgets revoked keys", async () => {
    const secret = await add("alice");
    const keys = await open();
    keys.caller(secret)!.admit();
    await keys.close();
    expect((await open()).all[0]?.usage.record.total.requests).toBe(1);
    await new KeysFile(folder).change(async () => []);
    const bob = await add("bob");
    const later = await open();
    later.caller(bob)!.admit();
    await later.close();
    const { usage } = JSON.parse(await readFile(join(folder, "usage.json"), "utf8")) as { usage: object };
    expect(Object.keys(usage)).toEqual([later.all[0]?.key.id]);
  });
});
