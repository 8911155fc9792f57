import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
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
  // That a value of the schema is refused is no fault: a check digit cannot be said in JSON Schema.
  const checks = ["--exclude-checks", "positive_data_acceptance"];
  const bounds = ["--phases", "examples,fuzzing", "--max-examples", "12", "--seed", "1", "--no-shrink"];
  const report = await run(
    "python3",
    ["-m", "schemathesis.cli", "run", `${service.url}/openapi.json`, ...checks, ...bounds].concat(
      "--header",
      `Authorization: Bearer ${key}`,
    ),
    { cwd: folder },
  ).then(
    () => "",
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
  rmSync(folder, { recursive: true, force: true });
  expect(report.slice(-4_000)).toBe("");
}, 180_000);
