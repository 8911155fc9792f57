import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Operation, operations } from "@dataq/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startService } from "./service-process.ts";

const run = promisify(execFile);
const list: readonly Operation[] = operations;

let service: ServiceProcess;
/** A test key: samples, never charged. */
let key: string;

beforeAll(async () => {
  service = await startService();
  key = (await service.call("/v1/keys", { body: { name: "fuzz", mode: "test" } })).body.key;
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** What people and machines send by mistake or on purpose. */
const hostile = [
  "",
  "   ",
  "\u0000",
  "a\u0007b",
  "\ud800",
  "'; drop table account; --",
  "$1 %s {{7*7}} #{7*7}",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  '"()[]《》:-OR*\\',
  "court: date:.. -",
  "％＿\u202e\u200b",
  "一".repeat(201),
  "x".repeat(20_000),
];

test.each(list.map((operation) => [operation.name, operation] as const))(
  "%s: every parameter, whatever it holds, gets an answer or a refusal that names it and a fix",
  async (name, operation) => {
    for (const parameter of Object.keys(operation.params.shape)) {
      const answers = await Promise.all(
        hostile.map((value) => {
          const params = { ...operation.example, [parameter]: value };
          return service.call("/v1/data/query", { key, body: { operation: name, params } });
        }),
      );
      for (const [place, { status, body }] of answers.entries()) {
        const sent = `${parameter} ${JSON.stringify(hostile[place]).slice(0, 60)}: ${status}`;
        expect([200, 400, 404, 422], sent).toContain(status);
        if (status !== 400) continue;
        // JSON itself cannot carry some of them.
        if (body.code !== "invalid_json")
          expect(body.error.details[0].param, sent).toBe(`params.${parameter}`);
        if (body.code !== "invalid_json") expect(body.error.details[0].fix, sent).not.toBe("");
      }
    }
  },
);

test("schemathesis finds nothing against /openapi.json (needs schemathesis from pip)", async (context) => {
  const has = await run("python3", ["-c", "import schemathesis"]).then(
    () => true,
    () => false,
  );
  if (!has) context.skip("schemathesis is not installed");
  const folder = mkdtempSync(join(tmpdir(), "dataq-openapi-"));
  const document = join(folder, "openapi.json");
  writeFileSync(document, JSON.stringify(bounded((await service.call("/openapi.json")).body)));
  for (const name of ["schemathesis.toml", "openapi-hooks.py"])
    copyFileSync(new URL(name, import.meta.url), join(folder, name));
  const bounds = [
    "--phases",
    "examples,coverage,fuzzing",
    "--max-examples",
    "12",
    "--seed",
    "1",
    "--no-shrink",
  ];
  const report = await run(
    "python3",
    ["-m", "schemathesis.cli", "run", document, "--url", service.url, ...bounds].concat(
      "--header",
      `Authorization: Bearer ${key}`,
    ),
    { cwd: folder, maxBuffer: 64 << 20 },
  ).then(
    ({ stdout }) => /[1-9]\d* generated/.exec(stdout)?.[0] ?? stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
  rmSync(folder, { recursive: true, force: true });
  expect(report.slice(-4_000)).toMatch(/^\d+ generated$/);
}, 180_000);

interface OpenApi {
  readonly paths: Record<string, { post: { requestBody: { content: object } } }>;
  readonly components: { readonly schemas: Record<string, { readonly properties: Record<string, unknown> }> };
}

/**
 * The document with what all operations share in one of them, and one of them for the estimate, or each case would
 * come 32 times. `page` and `page_size` stand apart, for no schema can bound their product. Without `snapshot`, which
 * only an answer can name, and `fields`, after which a record has fewer fields than its schema.
 */
function bounded(document: OpenApi): OpenApi {
  const requests = Object.entries(document.components.schemas).filter(([name]) => name.endsWith(".request"));
  for (const [place, [, { properties }]] of requests.entries()) {
    const kept = ["operation", "params", ...(place === 0 ? shared : [])];
    for (const name of Object.keys(properties)) if (!kept.includes(name)) delete properties[name];
  }
  // 500 pages of 20, which a page has when nothing else is said, are as far as one may go.
  const page = { type: ["integer", "string", "null"], minimum: 1, maximum: 500 };
  requests[1]![1].properties["page"] = { ...page, pattern: "^([1-9][0-9]?|[1-4][0-9]{2}|500)$" };
  const schema = { $ref: `#/components/schemas/${requests[0]![0]}` };
  document.paths["/v1/data/estimate"]!.post.requestBody.content = { "application/json": { schema } };
  return document;
}

const shared = ["domain", "page_size", "cache", "max_tokens", "dry_run"];
