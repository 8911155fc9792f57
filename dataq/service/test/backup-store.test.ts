import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as ask, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { captureOutput } from "../../../locallm/test/captured-output.ts";
import { freePort } from "../../../testing/free-port.ts";
import { createAccount } from "../src/accounts/account.ts";
import { sealAudit } from "../src/accounts/audit-chain.ts";
import { openIdentity } from "../src/accounts/local-account.ts";
import { Bucket, type BucketAddress } from "../src/backup/bucket.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import type { Database } from "../src/database/database.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { topUp } from "../src/ledger/movement.ts";
import { sealEntries } from "../src/ledger/seal.ts";
import { environmentOf, makeDataFolder, openFolder, queryAsOwner, removeDataFolder } from "./data-folder.ts";

/** A store that speaks S3; .ci/pip.txt has it. */
const hasStore = spawnSync("moto_server", ["--help"]).status === 0;

describe.skipIf(!hasStore)("a store that speaks S3 (moto)", () => {
  let store: Store;
  let work: string;
  const folders: string[] = [];
  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), "dataq-store-"));
    store = await startStore();
  }, 120_000);
  afterAll(async () => {
    await store?.close();
    for (const folder of folders) await removeDataFolder(folder);
    rmSync(work, { recursive: true, force: true });
  });

  /** A data folder with a ledger, whose seals are made. */
  async function books(tokens: number): Promise<string> {
    const folder = await makeDataFolder("tables");
    folders.push(folder);
    await within(folder, (database) => pay(database, folder, tokens));
    return folder;
  }

  function dataq(folder: string, ...words: string[]) {
    const url = `s3+http://key:s%2Fecret@127.0.0.1:${store.port}/backups/daily?region=us-east-1`;
    return captureOutput({ ...environmentOf(folder), DATAQ_BACKUPS: url }, () =>
      runCommandLine(["backup", ...words]),
    );
  }

  test("backups are stored, counted, fetched and rehearsed; the oldest go", async () => {
    const folder = await books(70_000);
    expect((await dataq(folder, "list")).out).toContain("No backup in");
    expect((await dataq(folder, "rehearse")).err).toContain("No backup in");
    for (let n = 1; n <= 3; n++) {
      const { code, out } = await dataq(folder, "store", "--keep", "2");
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/backups\/daily\/dataq-\d{8}T\d{6}Z\.tar: \d+ rows/),
      ]);
      expect(out.includes("Removed")).toBe(n === 3);
      // Names have seconds.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    const names = (await dataq(folder, "list")).out.match(/dataq-\S+\.tar/g)!;
    expect(names).toHaveLength(2);
    const file = join(work, "one.tar");
    expect((await dataq(folder, "fetch", names[0]!, file)).code).toBe(0);
    expect((await dataq(folder, "fetch", "newest", file)).err).toContain("already exists");
    expect((await dataq(folder, "fetch", "none.tar")).err).toContain(`The newest is ${names[1]}`);

    // Life goes on after the backup.
    await within(folder, (database) => pay(database, folder, 5_000));
    const rehearsed = await dataq(folder, "rehearse", "--at-most-hours", "1");
    expect(rehearsed.out + rehearsed.err).toMatch(
      /^Rehearsed the backup of .* rows restored, 2 entries of the ledger verified, and the ledger in use continues it\.$/m,
    );
    expect(rehearsed.code).toBe(0);
    expect(readdirSync(folder).filter((name) => name.startsWith("backup-"))).toEqual([]);
    const noted = await within(folder, (database) =>
      database.query("select kind, name, entries from backup_log order by id"),
    );
    expect(noted.rows.slice(0, 4)).toEqual([
      ...[null, null, null].map((entries) => ({ kind: "stored", name: expect.any(String), entries })),
      { kind: "rehearsed", name: names[1], entries: 2 },
    ]);

    // The books in use are not those of the backup any more.
    await within(folder, (database) =>
      queryAsOwner(
        database,
        "alter table seal disable trigger user; update seal set sha256 = sha256 || '\\x00'; alter table seal enable trigger user",
      ),
    );
    expect((await dataq(folder, "rehearse", file)).err).toContain("does not continue that of the backup");
    // Another machine has only the secret.
    const bare = mkdtempSync(join(tmpdir(), "dataq-bare-"));
    folders.push(bare);
    writeFileSync(join(bare, "secret"), readFileSync(join(folder, "secret")));
    const elsewhere = await dataq(bare, "rehearse", file, "--at-most-hours", "0");
    expect(elsewhere.out).toMatch(/2 entries of the ledger verified\.$/m);
    expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining("hours old, more than 0")]);
    expect(existsSync(join(bare, "postgres"))).toBe(false);
  }, 180_000);

  test("a large file goes in parts and comes back whole, through a line that breaks and a store that is busy", async () => {
    const bytes = randomBytes(11 * 1_048_576 + 3);
    writeFileSync(join(work, "large"), bytes);
    const bucket = new Bucket(store.address, { pauseMs: 1, partBytes: 5 * 1_048_576 });
    const told: number[] = [];
    store.busy = 2;
    await bucket.put("parts & pieces'.bin", join(work, "large"), (done) => told.push(done));
    expect(told).toEqual([5_242_880, 10_485_760, bytes.length]);
    expect(await bucket.list()).toContainEqual({ name: "parts & pieces'.bin", bytes: bytes.length });
    store.cutAfter = 3_000_000;
    await bucket.get("parts & pieces'.bin", join(work, "back"));
    expect(readFileSync(join(work, "back")).equals(bytes)).toBe(true);
    expect(store.ranges).toEqual([expect.stringMatching(/^bytes=\d{6,}-$/)]);

    store.busy = 99;
    await expect(bucket.put("never", join(work, "large"), () => {})).rejects.toThrow("503 SlowDown");
    store.busy = 0;
    await expect(bucket.get("never", join(work, "never"))).rejects.toThrow("404");
    expect(existsSync(join(work, "never.partial"))).toBe(false);
    const elsewhere = new Bucket({ ...store.address, bucket: "nobody-s" }, { pauseMs: 1 });
    await expect(elsewhere.list()).rejects.toThrow("NoSuchBucket");
  }, 60_000);
});

describe.skipIf(!hasStore)("a store that checks keys (moto)", () => {
  test("a wrong secret, key or bucket, and a key that may not, are told with the field and what to do", async () => {
    const port = await freePort();
    // Six requests are let through, to make people and the bucket; after them every signature is checked.
    const env = { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: "6" };
    const moto = spawn("moto_server", ["-p", String(port)], { stdio: "ignore", env });
    const at = `http://127.0.0.1:${port}`;
    const up = () =>
      fetch(`${at}/moto-api/`).then(
        () => true,
        () => false,
      );
    const iam = async (user: string, fields: Readonly<Record<string, string>>) => {
      const body = new URLSearchParams({ Version: "2010-05-08", UserName: user, ...fields });
      const answer = await fetch(at, { method: "POST", headers: { authorization: unsigned("iam") }, body });
      return answer.text();
    };
    try {
      await vi.waitUntil(up, { timeout: 100_000, interval: 300 });
      const policy = JSON.stringify({
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "*" }],
      });
      const keyOf = async (user: string) => {
        await iam(user, { Action: "CreateUser" });
        const made = await iam(user, { Action: "CreateAccessKey" });
        const of = (name: string) => new RegExp(`<${name}>([^<]+)`).exec(made)![1]!;
        return { accessKey: of("AccessKeyId"), secretKey: of("SecretAccessKey") };
      };
      const may = await keyOf("may");
      await iam("may", { Action: "PutUserPolicy", PolicyName: "all", PolicyDocument: policy });
      const mayNot = await keyOf("may-not");
      await fetch(`${at}/backups`, { method: "PUT", headers: { authorization: unsigned("s3") } });
      const folder = await makeDataFolder("tables");
      const store = (change: Partial<BucketAddress>) => {
        const { accessKey, secretKey, bucket } = { ...may, bucket: "backups", ...change };
        const [key, secret] = [accessKey, secretKey].map(encodeURIComponent);
        const url = `s3+http://${key}:${secret}@127.0.0.1:${port}/${bucket}/daily?region=us-east-1`;
        return captureOutput({ ...environmentOf(folder), DATAQ_BACKUPS: url }, () =>
          runCommandLine(["backup", "list"]),
        );
      };
      const wrong: [Partial<BucketAddress>, RegExp][] = [
        [{ secretKey: `${may.secretKey}x` }, /SignatureDoesNotMatch.*secret key in DATAQ_BACKUPS.*%2F/],
        [{ accessKey: "AKIAX" }, /InvalidAccessKeyId.*access key in DATAQ_BACKUPS: copy it again/],
        [{ bucket: "other" }, /NoSuchBucket.*Correct the bucket in DATAQ_BACKUPS/],
        [mayNot, /AccessDenied.*may not do this: let it list the bucket/],
      ];
      for (const [change, told] of wrong) {
        const { code, err } = await store(change);
        expect([code, err]).toEqual([1, expect.stringMatching(told)]);
        expect(err).not.toContain(may.secretKey);
      }
      expect((await store({})).out).toContain("No backup in");
      await removeDataFolder(folder);
    } finally {
      moto.kill();
      await once(moto, "exit");
    }
  }, 120_000);
});

/** What a store takes that does not look at signatures. */
function unsigned(service: string): string {
  return `AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/${service}/aws4_request,SignedHeaders=host,Signature=0`;
}

async function within<Result>(folder: string, run: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openFolder(folder);
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

async function pay(database: Database, folder: string, tokens: number): Promise<void> {
  const now = new Date();
  const author = { actor: "test", now };
  await openIdentity(database, folder, undefined, now);
  const wanted = { name: "payer", tokens: 0 };
  const { id } = await inTransaction(database, (transaction) => createAccount(transaction, wanted, author));
  await topUp(database, id, tokens, "test", { ...author, note: "paid" });
  await sealEntries(database, now);
  while (await sealAudit(database, now));
}

interface Store {
  readonly port: number;
  readonly address: BucketAddress;
  /** Answers 503 to so many requests. */
  busy: number;
  /** Breaks the next download after so many bytes. */
  cutAfter: number | undefined;
  readonly ranges: string[];
  close(): Promise<void>;
}

/** moto behind a line that a test breaks. */
async function startStore(): Promise<Store> {
  const inner = await freePort();
  const moto = spawn("moto_server", ["-p", String(inner)], { stdio: "ignore" });
  const server = createServer((request, response) => {
    if (made.busy > 0) {
      made.busy -= 1;
      request.resume();
      response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
      return;
    }
    if (request.headers.range !== undefined) made.ranges.push(request.headers.range);
    const { method, url: path, headers } = request;
    const passed = ask({ port: inner, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      let sent = 0;
      answer.on("data", (chunk: Buffer) => {
        sent += chunk.length;
        response.write(chunk);
        if (made.cutAfter !== undefined && method === "GET" && sent >= made.cutAfter) {
          made.cutAfter = undefined;
          answer.destroy();
          response.destroy();
        }
      });
      answer.on("end", () => response.end());
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const address: BucketAddress = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: "backups",
    prefix: "large/",
    region: "us-east-1",
    accessKey: "key",
    secretKey: "s/ecret",
    style: "path",
  };
  const made: Store = {
    port,
    address,
    busy: 0,
    cutAfter: undefined,
    ranges: [],
    close: async () => {
      moto.kill();
      await once(moto, "exit");
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
    },
  };
  const authorization = unsigned("s3");
  const make = () =>
    fetch(`http://127.0.0.1:${inner}/backups`, { method: "PUT", headers: { authorization } }).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(make, { timeout: 100_000, interval: 300 });
  return made;
}
