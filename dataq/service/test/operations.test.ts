import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { envelopeSchema, type Operation, operations } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureOutput } from "../../../locallm/test/captured-output.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import { environmentOf } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

let service: InProcessService;
let files: string;

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "dataq-files-"));
  service = await startInProcess({}, { isScripted: false });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(files, { recursive: true, force: true });
});

const ask = (operation: string, params: object, more: object = {}) =>
  service.call("/v1/data/query", { key: service.key, body: { operation, params, ...more } });

/** A command as the operator types it, while the service runs. */
async function dataq(...words: string[]) {
  const { code, out, err } = await captureOutput(environmentOf(service.folder), () => runCommandLine(words));
  if (code !== 0) throw new Error(err);
  return out;
}

describe("with nothing configured", () => {
  const list: readonly Operation[] = operations;

  test.each(list.map((operation) => [operation.name, operation] as const))(
    "%s answers its example with marked samples in the form of the contract",
    async (name, operation) => {
      // The example of the laws names a real law; without an import there are only sample laws.
      const { params } = (await service.call(`/v1/catalog/${name}`)).body.example;
      const { status, body } = await ask(name, params);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(envelopeSchema(operation).safeParse(body).error).toBeUndefined();
      const records = operation.kind === "list" ? body.data : [body.data];
      expect(records.length).toBeGreaterThan(0);
      for (const record of records) {
        expect(operation.record.strict().safeParse(record).error).toBeUndefined();
        expect(record.source.kind).toBe("sample");
      }
      expect(body).toMatchObject({ sample: true, usage: { tokens: 0, reason: "sample" } });
    },
  );

  test("a bare invoice code is free and says what is missing", async () => {
    const { body } = await ask("enterprise_tax_invoice", { invoice_code: "033002100111" });
    expect(body).toMatchObject({
      data: { result: "insufficient_elements", missing: ["invoice_number"] },
      usage: { tokens: 0, reason: "insufficient_elements" },
    });
  });

  test("a carrier that requires a phone number says so, free of charge", async () => {
    const before = (await service.call("/v1/balance", { key: service.key })).body.balance;
    const { status, body } = await ask("cloud_express_tracking", { express_no: "SF1234567890123" });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: "verification_required",
      error: { details: [{ param: "params.phone_tail" }] },
    });
    expect((await service.call("/v1/balance", { key: service.key })).body.balance).toBe(before);
    expect(
      (await ask("cloud_express_tracking", { express_no: "SF1234567890123", phone_tail: "1234" })).status,
    ).toBe(200);
  });

  test("an unknown platform is 400 and the known ones are listed", async () => {
    const { status, body } = await ask("content_hot_rank", { platform: "myspace" });
    expect(status).toBe(400);
    expect(body.error.details[0].fix).toContain("weibo");
  });

  test("fields of judgments: court, date, exclusion; a field with an invalid value is 400", async () => {
    const all = (await ask("legal_cases", { query: "合同" }, { page_size: 1 })).body.total;
    const some = (await ask("legal_cases", { query: "合同 date:2022..2023 -钢材" }, { page_size: 50 })).body;
    expect(some.total).toBeLessThan(all);
    for (const { judgment_date, full_text } of some.data) {
      expect(judgment_date >= "2022-01-01" && judgment_date <= "2023-12-31").toBe(true);
      expect(full_text).not.toContain("钢材");
    }
    expect((await ask("legal_cases", { query: "合同 date:gestern" })).status).toBe(400);
  });

  test("pages of a snapshot contain each judgment once", async () => {
    const first = (await ask("legal_cases", { query: "离婚" }, { page_size: 20 })).body;
    const ids = new Set<string>(first.data.map(({ id }: { id: string }) => id));
    for (let page = 2; page <= first.total_pages; page++) {
      const { body } = await ask(
        "legal_cases",
        { query: "离婚" },
        { page, page_size: 20, snapshot: first.index.snapshot },
      );
      for (const { id } of body.data) ids.add(id);
    }
    expect(ids.size).toBe(first.total);
    const past = await ask("legal_cases", { query: "离婚" }, { page: first.total_pages + 1, page_size: 20 });
    expect(past.body).toMatchObject({
      data: [],
      total: first.total,
      usage: { tokens: 0, reason: "no_result" },
    });
  });
});

test("catalogue, OpenAPI, capabilities and status are public and match the contract", async () => {
  const get = (path: string) => service.call(path, { key: null });
  const catalog = (await get("/v1/catalog")).body.data;
  expect(catalog.map(({ operation }: { operation: string }) => operation)).toEqual(
    operations.map(({ name }) => name),
  );
  expect((await get("/v1/catalog/legal_laws")).body).toMatchObject({
    price: { tokens: 5_000, cached_tokens: 2_500 },
  });
  expect((await get("/v1/catalog/nothing")).status).toBe(404);
  expect((await get("/v1/catalog?format=xml")).status).toBe(400);
  const tools = (await get("/v1/catalog?format=openai-tools")).body;
  expect(tools[0]).toMatchObject({
    type: "function",
    function: { name: "legal_cases", parameters: { required: ["query"] } },
  });
  const openapi = (await get("/openapi.json")).body;
  expect(openapi.openapi).toBe("3.1.0");
  const paths = Object.entries<{ readonly get?: { readonly security?: object; readonly responses: object } }>(
    openapi.paths,
  );
  for (const [path, route] of paths) {
    if (route.get?.security === undefined || path.includes("{") || "302" in route.get.responses) continue;
    expect((await get(path)).status, path).toBe(200);
  }
  const agents = await get("/llms.txt");
  expect(agents.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  for (const { name, description } of operations)
    expect(agents.text).toContain(`- [${name}](/v1/catalog/${name}): ${description.en}`);
  // Those below /docs: documentation-links.test.ts.
  for (const [, path] of agents.text.matchAll(/\]\((\/(?!console|docs)[^)]*)\)/g))
    expect((await get(path!)).status, path).toBe(200);
  // The example shows a call that works.
  const [, shown] = /\n {4}(\{.*\})\n/.exec(agents.text)!;
  expect(await service.call("/v1/data/query", { body: JSON.parse(shown!) })).toMatchObject({ status: 200 });
  expect((await get("/capabilities.json")).body.capabilities).toHaveLength(operations.length);
  expect((await get("/v1/status")).body.data.operations).toHaveLength(operations.length);
});

describe("the older published client's profile", () => {
  const older = (body: object) => service.call("/v1/data/query", { key: service.key, body });

  test("adds hits, total_hits and units to the envelope, at any offset", async () => {
    const whole = (await older({ domain: "legal", type: "case", query: "离婚", filters: {}, top_k: 30 }))
      .body;
    expect(whole.hits).toEqual(whole.data);
    expect(whole.total_hits).toBe(whole.total);
    expect(whole.units).toBe(0);
    const part = (
      await older({ domain: "legal", type: "case", query: "离婚", filters: { offset: 7 }, top_k: 5 })
    ).body;
    const ids = (list: { id: string }[]) => list.map(({ id }) => id);
    expect(ids(part.hits)).toEqual(ids(whole.hits.slice(7, 12)));
  });

  test("query fills the first required parameter, and a single record is one hit", async () => {
    const { body } = await older({
      domain: "enterprise",
      type: "company_detail",
      query: "91330106MA0000007Q",
      filters: {},
      top_k: 20,
    });
    expect(body).toMatchObject({ total_hits: 1, units: 0, hits: [{ tax_id: "91330106MA0000007Q" }] });
  });

  test.each([
    [{ type: "nothing" }, "invalid_capability"],
    [{ domain: "cloud", type: "case" }, "invalid_capability"],
    [{ type: "case", query: 1 }, "invalid_params"],
    [{ type: "case", query: "x", top_k: 201 }, "invalid_params"],
    [{ type: "case", query: "x", filters: { offset: -1 } }, "invalid_params"],
    [{ type: "case", query: "x", filters: { foo: "y" } }, "unknown_parameter"],
    [{ type: "case", query: "x", foo: 1 }, "invalid_params"],
  ])("%j is %s", async (body, code) => {
    expect(await older(body)).toMatchObject({ status: 400, body: { code, retryable: false } });
  });

  test("release 0.1.0 of that client runs unmodified (needs devnors-data from pip)", async (context) => {
    const has = await run("python3", ["-c", "import devnors_data"]).then(
      () => true,
      () => false,
    );
    if (!has) context.skip("devnors-data is not installed");
    const program = `
import json, sys
from devnors_data import DevnorsData, DevnorsDataError
client = DevnorsData(sys.argv[2], base_url=sys.argv[1])
cases = client.legal_cases("离婚", top_k=5)
pages = list(client.paginate("legal", "case", "离婚", page_size=7, max_items=20))
try:
    client.query("legal", "nothing")
    code = None
except DevnorsDataError as error:
    code = error.code
try:
    DevnorsData("wrong", base_url=sys.argv[1]).legal_laws("x")
    status = None
except DevnorsDataError as error:
    status = error.status
print(json.dumps({"hits": len(cases["hits"]), "units": cases["units"], "pages": len({p["id"] for p in pages}), "code": code, "status": status}))
`;
    const { stdout } = await run("python3", ["-c", program, service.url, service.key]);
    expect(JSON.parse(stdout)).toEqual({
      hits: 5,
      units: 0,
      pages: 20,
      code: "invalid_capability",
      status: 401,
    });
  });
});

describe("imports while a service runs", () => {
  const companies = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({
        tax_id: n === 0 ? "91330100716105852F" : `x${n}`,
        name: `公司${n}`,
        status: "存续",
        status_code: "active",
      }),
    ).join("\n");

  test("a dry run writes nothing; an import is served at once and replaces the samples", async () => {
    const file = join(files, "companies.jsonl");
    writeFileSync(file, `${companies(3)}\n{"tax_id":\n{"name":"ohne"}\n`);
    const dry = JSON.parse(await dataq("import", "enterprise_company_detail", file, "--dry-run", "--json"));
    expect(dry).toMatchObject({ outcome: "dry_run", records: 3, badRows: 2, size: null });
    expect(dry.problems.map(({ line }: { line: number }) => line)).toEqual([4, 5]);
    expect((await ask("enterprise_company_detail", { tax_id: "91330106MA0000007Q" })).status).toBe(200);
    const report = JSON.parse(
      await dataq(
        "import",
        "enterprise_company_detail",
        file,
        "--source",
        "登记机关",
        "--kind",
        "official",
        "--json",
      ),
    );
    expect(report).toMatchObject({ outcome: "imported", records: 3, badRows: 2, size: 3 });
    await expect
      .poll(async () => (await ask("enterprise_company_detail", { tax_id: "91330100716105852F" })).status, {
        timeout: 60_000,
      })
      .toBe(200);
    const { body } = await ask("enterprise_company_detail", { tax_id: "91330100716105852F" });
    expect(body.data).toMatchObject({ name: "公司0", source: { name: "登记机关", kind: "official" } });
    expect(
      (await ask("enterprise_company_detail", { tax_id: "91330106MA0000007Q" }, { cache: "bypass" })).status,
    ).toBe(404);
    expect(await dataq("import", "enterprise_company_detail", file)).toContain("already holds this file");
  }, 60_000);

  test("a data set is listed, removed and restored; a much smaller one needs confirmation", async () => {
    const file = join(files, "companies.jsonl");
    writeFileSync(file, companies(1));
    await expect(dataq("import", "enterprise_company_detail", file)).rejects.toThrow(
      "serves 3 records and would have 1. Pass --yes",
    );
    expect(await dataq("datasets", "list")).toMatch(
      /companies .*enterprise_company_detail .*登记机关.*official/,
    );
    const shown = await dataq("datasets", "show", "companies");
    expect(shown).toContain("5 rows read = 3 served + 0 duplicates + 2 refused");
    await dataq("datasets", "remove", "companies");
    expect(JSON.parse(await dataq("datasets", "list", "--json"))).toMatchObject([
      { name: "companies", state: "removed", restorable: { served: 3 } },
    ]);
    await dataq("datasets", "restore", "companies");
    const { body } = await ask(
      "enterprise_company_detail",
      { tax_id: "91330100716105852F" },
      { cache: "bypass" },
    );
    expect(body.data).toMatchObject({ name: "公司0", source: { name: "登记机关", kind: "official" } });
  }, 60_000);

  test("a platform with an imported archive is one of the choices, and its ranking is found", async () => {
    const unknown = { platform: "v2ex", date: "2024-05-01" };
    expect((await ask("content_hot_rank", unknown)).status).toBe(400);
    const estimate = { operation: "content_hot_rank", params: unknown };
    expect((await service.call("/v1/data/estimate", { body: estimate })).status).toBe(400);
    const file = join(files, "v2ex.jsonl");
    // Also April of the year before: the keyword was second then and is first now.
    const april = Array.from({ length: 30 }, (_, day) => `04-${String(day + 1).padStart(2, "0")}`);
    const archived = (date: string, items: unknown[]) => JSON.stringify({ ...unknown, date, items });
    const lines = [
      ...april.map((day) => archived(`2023-${day}`, [["第二条"], ["地铁"]])),
      ...april.slice(15).map((day) => archived(`2024-${day}`, [["地铁"]])),
      archived("2024-05-01", [["地铁新线开通", 12_000], ["第二条"]]),
    ];
    writeFileSync(file, lines.join("\n"));
    await dataq("import", "content_hot_rank", file);
    await expect
      .poll(async () => (await ask("content_hot_rank", unknown)).status, { timeout: 60_000 })
      .toBe(200);
    expect((await ask("content_hot_rank", unknown)).body).toMatchObject({
      data: [
        { rank: 1, title: "地铁新线开通", heat: 12_000 },
        { rank: 2, title: "第二条", heat: null },
      ],
      summary: { platform: "v2ex", date: "2024-05-01", snapshot_kind: "end_of_day" },
    });
    const { params } = (await service.call("/v1/catalog/content_hot_rank", { key: null })).body;
    expect(params.properties.platform.enum).toEqual(expect.arrayContaining(["weibo", "v2ex"]));
    const other = (await ask("content_hot_rank", { platform: "myspace" })).body;
    expect(other.error.details[0].fix).toContain("v2ex");
    const series = (await ask("content_keyword_index", { keyword: "地铁", date: "2024-05-01" })).body.data;
    expect(series).toMatchObject({
      index: 12_000,
      yoy_percent: 2,
      mom_percent: null,
      estimated: true,
      source: { kind: "third_party" },
    });
  }, 120_000);

  test("a file without a good row changes nothing and says why", async () => {
    const file = join(files, "bad.jsonl");
    writeFileSync(file, '{"foo":1}\n');
    await expect(dataq("import", "enterprise_company_detail", file)).rejects.toThrow("Nothing was changed");
    expect(
      (await ask("enterprise_company_detail", { tax_id: "91330100716105852F" }, { cache: "bypass" })).status,
    ).toBe(200);
  }, 60_000);

  test("an import killed in the middle leaves the old data serving, and the next one is whole", async () => {
    const file = join(files, "many.jsonl");
    writeFileSync(file, companies(8_000));
    const child = run(
      process.execPath,
      ["--conditions=source", main, "import", "enterprise_company_detail", file, "--dataset", "companies"],
      {
        env: environmentOf(service.folder),
      },
    );
    const killed = child.catch((error: { signal?: string }) => error.signal);
    await new Promise<void>((resolve) => {
      child.child.stderr?.on("data", (text: Buffer) => {
        if (text.toString().includes("Indexed 5,000")) resolve();
      });
      child.child.once("exit", () => resolve());
    });
    child.child.kill("SIGKILL");
    expect(await killed).toBe("SIGKILL");
    const status = JSON.parse(await dataq("index", "status", "--json"));
    const size = (list: { corpus: string; size: number }[]) =>
      list.find(({ corpus }) => corpus === "enterprise_company_detail")?.size;
    expect(size(status.indexes)).toBe(3);
    expect(
      (await ask("enterprise_company_detail", { tax_id: "91330100716105852F" }, { cache: "bypass" })).status,
    ).toBe(200);
    const report = JSON.parse(
      await dataq("import", "enterprise_company_detail", file, "--dataset", "companies", "--json"),
    );
    expect(report).toMatchObject({ outcome: "imported", size: 8_000 });
  }, 120_000);
});
