import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environmentOf, isEmbedded } from "./data-folder.ts";
import { person, secret } from "./releases/contents.ts";
import { startService } from "./service-process.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const releases = new URL("releases/", import.meta.url);
const supported = readdirSync(releases).filter((name) => /^[\d.]+\d$/.test(name));

// What a release wrote is in its folder; releases/make.ts made it. Remove a folder when its release is no longer supported.
test.skipIf(!isEmbedded).each(supported)(
  "the data of a service of %s opens, with its books",
  async (version) => {
    const of = (name: string) => fileURLToPath(new URL(`${version}/${name}`, releases));
    const expected = JSON.parse(readFileSync(of("expected.json"), "utf8"));
    const folder = mkdtempSync(join(tmpdir(), "dataq-oldest-"));
    const env = { DATAQ_SECRET: secret, DATAQ_SAMPLES: "off" };
    try {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["-C", "source", main, "restore", of("backup.tar")],
        { env: { ...environmentOf(folder), ...env } },
      );
      expect(stdout).toMatch(/\d+ entries of the ledger verified/);
      await using service = await startService({ folder, env });
      const owner = (path: string, body?: object) =>
        service.call(path, { key: expected.key, ...(body && { body }) });
      expect((await owner("/v1/account")).body.balance).toMatchObject(expected.balance);
      const [first] = expected.calls;
      const query = { operation: "legal_laws", params: { query: "档案保管条例 第一条" } };
      const again = await service.call("/v1/data/query", { key: expected.customer, body: query });
      expect(again.body.data).toEqual(first.data);
      expect(again.body.usage).toMatchObject({ billed: true });
      expect((await owner("/v1/account")).body.balance.balance).toBe(
        expected.balance.balance - again.body.usage.tokens,
      );
      expect((await owner("/v1/webhooks")).body).toMatchObject({
        data: [{ url: "https://example.com/hook", events: ["import.done"] }],
      });
      const signIn = (password: string) =>
        service.call("/console/auth/sign-in/email", {
          key: null,
          headers: { "x-console": "1" },
          body: { email: person.email, password },
        });
      expect((await signIn("another password")).status).toBe(401);
      expect((await signIn(person.password)).status).toBe(200);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
