import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownVersion } from "../../src/database/migrations.ts";
import { environmentOf } from "../data-folder.ts";
import { type CallOptions, startService } from "../service-process.ts";
import { laws, person, secret } from "./contents.ts";

/**
 * Makes the fixture of a release: a backup of a service that people have used, written by its own code. Run it once, at
 * the commit of the release, and keep what it made: `node -C source dataq/service/test/releases/make.ts`
 */
const folder = mkdtempSync(join(tmpdir(), "dataq-release-"));
const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const settings = { DATAQ_SECRET: secret, DATAQ_SAMPLES: "off" };
const dataq = (...words: string[]) =>
  execFileSync(process.execPath, ["-C", "source", main, ...words], {
    env: { ...environmentOf(folder), ...settings },
    encoding: "utf8",
  });
try {
  const file = join(folder, "laws.jsonl");
  writeFileSync(file, laws.map((law) => JSON.stringify(law)).join("\n"));
  const service = await startService({ folder, env: settings });
  dataq("import", "legal_laws", file);
  const call = async (path: string, options: CallOptions = {}) => {
    const { status, body, text } = await service.call(path, options);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return body;
  };
  const calls = [];
  for (const article of ["第一条", "第二条", "第二条"]) {
    const params = { query: `档案保管条例 ${article}` };
    calls.push(await call("/v1/data/query", { body: { operation: "legal_laws", params } }));
  }
  const customer = await call("/v1/keys", { body: { name: "旧 key", scopes: ["data:query"] } });
  const headers = { "x-console": "1" };
  await call("/console/auth/sign-up/email", { key: null, headers, body: person });
  await call("/v1/webhooks", { body: { url: "https://example.com/hook", events: ["import.done"] } });
  const { balance } = await call("/v1/account");
  const { key } = service;
  const to = (name: string) => fileURLToPath(new URL(`${ownVersion}/${name}`, import.meta.url));
  mkdirSync(to(""), { recursive: true });
  rmSync(to("backup.tar"), { force: true });
  await service.stop();
  console.log(dataq("backup", to("backup.tar")));
  const expected = {
    key,
    customer: customer.key,
    balance,
    calls: calls.map(({ data, usage }) => ({ data, usage })),
  };
  writeFileSync(to("expected.json"), `${JSON.stringify(expected, null, 2)}\n`);
  console.log(readFileSync(to("expected.json"), "utf8"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
