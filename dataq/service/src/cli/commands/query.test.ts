import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import type { DataQueryOptions } from "dataq-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Terminal } from "../terminal.ts";
import { paginateCommand } from "./paginate.ts";
import { queryCommand } from "./query.ts";

const usage = { tokens: 5_000, cached: false, balance: 1_995_000 };
const article = {
  id: "1",
  law_name: "民法典",
  article_no: "第五百七十七条",
  status: "in_force",
  status_text: "有效",
  content: "当事人一方不履行合同义务\u001b[31m",
};
const company = { id: "2", name: "某某科技有限公司", status: "存续", former_names: [], name_en: null };

let requests: Record<string, unknown>[];
let folder: string;
beforeEach(() => {
  requests = [];
  folder = mkdtempSync(join(tmpdir(), "dataq-cli-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = undefined;
});

/** Runs a command against a service that answers with `answer`. Returns what the command wrote. */
async function run(
  make: (connect: () => DataQueryOptions, terminal: Terminal) => Command,
  words: string[],
  answer: (request: Record<string, unknown>) => object,
  isTTY = false,
) {
  const written = { out: "", notes: "" };
  const terminal: Terminal = {
    isTTY,
    columns: 80,
    out: (text) => {
      written.out += `${text}\n`;
    },
    note: (text) => {
      written.notes += `${text}\n`;
    },
  };
  const fetch = async (_url: string, init: RequestInit) => {
    const request = JSON.parse(String(init.body)) as Record<string, unknown>;
    requests.push(request);
    return Response.json({
      ...request,
      request_id: "req_1",
      warnings: [],
      total: 3,
      total_relation: "eq",
      usage,
      ...answer(request),
    });
  };
  await make(() => ({ apiKey: "dq_test_x", fetch }), terminal).parseAsync(words, { from: "user" });
  return written;
}

describe("dataq query", () => {
  const one = () => ({ data: [article], page: 1, total_pages: 3 });

  test("writes the answer as JSON in a pipe", async () => {
    const { out, notes } = await run(
      queryCommand,
      ["legal_laws", "query=民法典 第五百七十七条", "--page", "2"],
      one,
    );
    expect(JSON.parse(out)).toMatchObject({ data: [article], total_pages: 3, request_id: "req_1" });
    expect(notes).toBe("");
    expect(requests[0]).toMatchObject({
      operation: "legal_laws",
      params: { query: "民法典 第五百七十七条" },
      page: 2,
    });
  });

  test("accepts a value without a name as the first parameter, even with an equals sign in it", async () => {
    await run(queryCommand, ["legal_laws", "a=b 合同"], one);
    expect(requests[0]?.["params"]).toEqual({ query: "a=b 合同" });
  });

  test("draws a table on a terminal that fits it, with the cost below", async () => {
    const { out, notes } = await run(queryCommand, ["legal_laws", "民法典577"], one, true);
    expect(out).toContain("│ 民法典");
    expect(out).toContain("第五百七十七条");
    expect(out).not.toContain("\u001b[31m");
    const width = (line: string) =>
      [...line].reduce((sum, one) => sum + (/\p{Script=Han}/u.test(one) ? 2 : 1), 0);
    expect(Math.max(...out.split("\n").map(width))).toBeLessThanOrEqual(80);
    expect(notes).toBe("page 1 of 3, 3 in all · 5,000 tokens · 1,995,000 left · req_1\n");
  });

  test("draws a single record as its fields, without the empty ones", async () => {
    const single = () => ({ data: company, page: 1, total_pages: 1 });
    const { out } = await run(
      queryCommand,
      ["enterprise_company_detail", "91330100716105852F"],
      single,
      true,
    );
    expect(out).toContain("某某科技有限公司");
    expect(out).not.toContain("name_en");
  });

  test("--json writes JSON on a terminal too, --fields chooses the columns", async () => {
    expect((await run(queryCommand, ["legal_laws", "x", "--json"], one, true)).out).toMatch(/^\{/);
    const { out } = await run(queryCommand, ["legal_laws", "x", "--fields", "article_no,id"], one, true);
    expect(out).toContain("article_no");
    expect(out).not.toContain("law_name");
    expect(requests[1]?.["fields"]).toEqual(["article_no", "id"]);
  });

  test("--estimate only asks for the price", async () => {
    const price = () => ({ tokens: 5_000, cached: false, balance_after: 1_990_000 });
    const { out } = await run(queryCommand, ["legal_laws", "x", "--estimate"], price, true);
    expect(out).toBe("5,000 tokens, 1,990,000 left after it\n");
  });

  test("prints an error of the service in one line and exits with 1", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const connect = () => ({
      apiKey: "dq_test_x",
      fetch: async () => Response.json({ code: "not_found", detail: "Nothing there." }, { status: 404 }),
    });
    await queryCommand(connect).parseAsync(["legal_laws", "x"], { from: "user" });
    expect(said).toHaveBeenCalledExactlyOnceWith("Error: Nothing there. (404 not_found)");
    expect(process.exitCode).toBe(1);
    said.mockRestore();
  });
});

describe("dataq paginate", () => {
  const pageOf = ({ page }: Record<string, unknown>) => ({
    data: [{ id: `${page}a` }, { id: `${page}b` }],
    page,
    total_pages: 3,
  });

  test("writes one record per line in a pipe", async () => {
    const { out } = await run(paginateCommand, ["legal_laws", "合同", "--page-size", "2"], pageOf);
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(["1a", "1b", "2a", "2b", "3a", "3b"]);
    expect(requests.map(({ page_size }) => page_size)).toEqual([2, 2, 2]);
  });

  test("continues where a run with the same --state stopped, and does nothing after the end", async () => {
    const state = join(folder, "walk.json");
    const words = ["legal_laws", "合同", "--state", state];
    const first = await run(paginateCommand, [...words, "--max-pages", "1"], pageOf);
    expect(existsSync(state)).toBe(true);
    const second = await run(paginateCommand, words, pageOf);
    expect((first.out + second.out).match(/\d[ab]/g)).toEqual(["1a", "1b", "2a", "2b", "3a", "3b"]);
    expect((await run(paginateCommand, words, pageOf)).out).toBe("");
    expect(requests).toHaveLength(3);
  });

  test("draws a table for each page on a terminal", async () => {
    const { out, notes } = await run(
      paginateCommand,
      ["legal_laws", "合同", "--max-pages", "2"],
      pageOf,
      true,
    );
    expect(out.match(/law_name/g)).toHaveLength(2);
    expect(notes).toContain("page 2 of 3");
  });
});
