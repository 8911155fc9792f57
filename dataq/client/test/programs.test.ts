import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { envelopeSchema, operations } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingModules } from "../../client-python/test/python.ts";
import { type ServiceProcess, startService } from "../../service/test/service-process.ts";
import { DataQuery } from "../src/index.ts";
import { type PackedProject, packProject, programsOf, repository } from "./packed-project.ts";
import { withoutLaws } from "./sample-laws.ts";

const run = promisify(execFile);

let service: ServiceProcess;
beforeAll(async () => {
  service = await startService({ vendor: { without: ["legal_citation_check"] } });
});
afterAll(() => service?.[Symbol.asyncDispose]());

describe("programs", () => {
  let packed: PackedProject;
  beforeAll(async () => {
    packed = await packProject();
  });
  afterAll(() => packed?.remove());

  test("every program of the guide runs as printed with only the package installed", async () => {
    for (const [index, program] of programsOf("docs/dataq/client.md").entries()) {
      const path = join(packed.folder, `program-${index}.ts`);
      writeFileSync(path, program);
      expect(await runProgram(path), program).not.toBe("");
    }
  });

  test("the examples run", async () => {
    const examples = `${repository}examples/dataq/`;
    expect(await runProgram(`${examples}law-article.ts`, "样例数据条例 第一条")).toContain("不具有任何效力");
    expect(await runProgram(`${examples}company-check.ts`)).toMatch(/\d+ tokens spent/);
    const papers = join(packed.folder, "papers.jsonl");
    const first = await runProgram(`${examples}collect-papers.ts`, "的", papers);
    expect(first).toMatch(/^40 papers for 1000 tokens; start again for more/);
    expect(readFileSync(papers, "utf8").trim().split("\n")).toHaveLength(40);
    expect(await runProgram(`${examples}collect-papers.ts`, "的", papers)).toMatch(/^\d+ papers/);
    const ids = readFileSync(papers, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(40);
  });

  test("the shell example runs", async () => {
    const path = `${repository}examples/dataq/article-by-curl.sh`;
    const { stdout } = await run("sh", [path, "样例数据条例 第一条"], { env: environment() });
    const [price, answer] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(price).toMatchObject({ tokens: expect.any(Number) });
    expect(answer.data[0].content).toContain("不具有任何效力");
  });

  test("the example of an agent gives the model the operations, and the answers it asks for", async () => {
    // The model's answers are scripted, because models small enough for a test do not choose tools reliably.
    const asked: {
      messages: { role: string; content: string }[];
      tools: { function: { name: string } }[];
    }[] = [];
    const call = (name: string, params: object) => ({
      id: name,
      type: "function",
      function: { name, arguments: JSON.stringify(params) },
    });
    const replies = [
      {
        tool_calls: [
          call("legal_laws", { query: "样例数据条例 第一条" }),
          call("enterprise_company_detail", { tax_id: "1" }),
        ],
      },
      { content: "第一条" },
    ];
    const model = createServer(async (request, response) => {
      asked.push((await json(request)) as never);
      const message = { role: "assistant", ...replies[asked.length - 1] };
      response.end(JSON.stringify({ choices: [{ message }] }));
    });
    await once(model.listen(0, "127.0.0.1"), "listening");
    const { port } = model.address() as AddressInfo;
    const env = environment({ OPENAI_BASE_URL: `http://127.0.0.1:${port}`, MODEL: "scripted" });
    const words = ["-C", "source", `${repository}examples/dataq/agent.ts`, "样例数据条例第一条写了什么？"];
    const { stdout } = await run(process.execPath, words, { env });
    expect(stdout).toMatch(/^第一条\n\d+ tokens spent\n$/);
    model.close();
    expect(asked[0]?.tools.map((tool) => tool.function.name)).toEqual(operations.map(({ name }) => name));
    const [law, company] = asked[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(law?.content).toContain("不具有任何效力");
    expect(company?.content).toContain("tax_id");
  });

  test("dataq query and dataq paginate run on the command line", async () => {
    const dataq = `${repository}dataq/service/src/cli/main.ts`;
    const answer = JSON.parse(await runProgram(dataq, "query", "legal_laws", "样例数据条例 第一条"));
    expect(answer).toMatchObject({ operation: "legal_laws", data: [{ article_no_arabic: 1 }] });
    const walk = ["paginate", "research_journal_search", "学报", "--page-size", "3", "--max-pages", "2"];
    const lines = (await runProgram(dataq, ...walk)).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).name)).toHaveLength(6);
  });
});

const missing = missingModules("httpx", "pandas");

describe.skipIf(missing.length > 0)("the Python client (needs httpx and pandas from pip)", () => {
  test("answers every operation, pages and errors like the others", async () => {
    const examples = operations.map(({ name, example }) => [name, withoutLaws[name] ?? example]);
    const ran = await runPython(["run_service.py"], JSON.stringify(Object.fromEntries(examples)));
    const { answers, ids, ...rest } = JSON.parse(ran);
    for (const operation of operations) {
      const { bodies, rows, status, id } = answers[operation.name];
      for (const body of bodies) expect(envelopeSchema(operation).safeParse(body).error).toBeUndefined();
      expect([rows, status, id], operation.name).toEqual([[bodies[0].data].flat().length, 200, true]);
    }
    const search = { query: "学报", page_size: 50 };
    const client = new DataQuery({ apiKey: service.key, baseUrl: service.url });
    const walked = await client.paginate("research_journal_search", search).toArray({ limit: 1_000 });
    expect(ids).toEqual(walked.map(({ id }) => id));
    expect(rest).toMatchObject({
      same: true,
      price: 5_000,
      paid: 5_000,
      spent: 5_000,
      groups: expect.arrayContaining([expect.objectContaining({ operation: "content_keyword_index" })]),
      wrong_key: ["invalid_api_key", 401, "req_"],
      wrong_parameter: ["invalid_params", 400, "req_"],
      missing: ["not_found", 404, "req_"],
    });
  });

  test("the notebook example runs", async () => {
    const output = await runPython([`${repository}examples/dataq/paper-years.py`, "的"]);
    expect(output).toMatch(/^500 tokens a page, \d+ left\nyear\n(\d{4} +\d+\n)+ *citation_count +title\n/);
  });

  test("every program of the guide runs as printed", async () => {
    const pages = ["docs/dataq/client-python.md", "dataq/client-python/README.md"];
    const programs = pages.flatMap((page) => programsOf(page, "python"));
    const runAll = `import json, sys
for program in json.load(sys.stdin):
    exec(compile(program, program, "exec"), {"__name__": "__main__"})
    print("--- ended")`;
    const outputs = (await runPython(["-c", runAll], JSON.stringify(programs))).split("--- ended\n");
    for (const [index, program] of programs.entries()) expect(outputs[index], program).toMatch(/./);
  });
});

async function runPython(words: string[], input = ""): Promise<string> {
  const python = `${repository}dataq/client-python`;
  const env = environment({ PYTHONPATH: `${python}/src` });
  const running = run("python3", words, { env, cwd: `${python}/test`, timeout: 60_000, maxBuffer: 2 ** 26 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

async function runProgram(path: string, ...words: string[]): Promise<string> {
  const conditions = path.startsWith(repository) ? ["-C", "source"] : [];
  const options = { env: environment(), timeout: 60_000 };
  return (await run(process.execPath, [...conditions, path, ...words], options)).stdout;
}

/** The environment from which programs read the address and the key. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...more, DATAQ_API_KEY: service.key, DATAQ_BASE_URL: service.url };
}
