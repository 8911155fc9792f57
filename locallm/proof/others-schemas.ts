import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type JudgedSchema, judgeSchema } from "../test/schema-judge.ts";
import { typeboxSchemas } from "./types/typebox.ts";
import { valibotSchemas } from "./types/valibot.ts";
import { zodSchemas } from "./types/zod.ts";

export const title = "Schemas of others: none refused by fault, no invalid output";

const packages = {
  "@sinclair/typebox": "0.34.52",
  valibot: "1.5.0",
  "@valibot/to-json-schema": "1.8.0",
  "@modelcontextprotocol/server-filesystem": "2026.8.31",
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server-memory": "2026.8.31",
};

interface Case extends JudgedSchema {
  readonly name: string;
}

/**
 * Builds grammars from schemas of other projects and checks random texts of each grammar with ajv.
 * `JSON_SCHEMA_TEST_SUITE` names a checkout of github.com/json-schema-org/JSON-Schema-Test-Suite,
 * `LLAMA_SCHEMA_CASES` a file with a JSON list of schemas, and PYTHON a Python with pydantic. If one is
 * missing, its rows say so.
 */
export async function run(print: (line: string) => void, folder: string): Promise<void> {
  print("| schemas of | schemas | refused by fault | named as not kept to | invalid, of those kept to |");
  print("|---|---|---|---|---|");
  let faults = 0;
  const row = (name: string, cases: readonly Case[] | null) => {
    if (cases === null) return print(`| ${name} | not there | | | |`);
    const results = cases.map((each) => ({ each, ...judgeSchema(each, 60) }));
    const refused = results.filter(({ refusal }) => refusal !== null);
    const named = results.filter(({ ignored }) => ignored.length > 0);
    const invalid = results.filter(({ ignored, wrong }) => wrong !== null && ignored.length === 0);
    print(`| ${name} | ${cases.length} | ${refused.length} | ${named.length} | ${invalid.length} |`);
    for (const { each, refusal } of refused) print(`\n- refused: ${each.name}: ${refusal}\n`);
    for (const { each, wrong } of invalid) print(`\n- invalid: ${each.name}: ${wrong}\n`);
    faults += refused.length + invalid.length;
  };
  row("JSON-Schema-Test-Suite, 2020-12 and 7", suiteCases());
  row("llama.cpp's tests", fileCases(process.env["LLAMA_SCHEMA_CASES"]));
  row("zod 4", numbered(zodSchemas()));
  row("pydantic 2", pydanticCases());
  const load = install(folder);
  row("TypeBox", load && numbered(typeboxSchemas((await load("@sinclair/typebox")) as never)));
  if (load === null) row("valibot", null);
  else {
    const { toJsonSchema } = (await load("@valibot/to-json-schema")) as { toJsonSchema: never };
    row("valibot", numbered(valibotSchemas(await load("valibot"), toJsonSchema)));
  }
  for (const server of ["filesystem", "everything", "memory"])
    row(`tools of server-${server}`, load && (await toolCases(folder, server)));
  if (faults > 0) throw new Error(`${faults} schemas were refused by fault or answered invalidly`);
}

/** Cases in which ajv and the test suite disagree, and keys that requests must not contain. */
const disputed = new Set([
  "unevaluatedItems with nested items",
  "properties whose names are Javascript object property names",
]);

function suiteCases(): Case[] | null {
  const root = process.env["JSON_SCHEMA_TEST_SUITE"];
  if (root === undefined || !existsSync(root)) return null;
  return ["draft2020-12", "draft7"].flatMap((draft) => {
    const folder = join(root, "tests", draft);
    const files = [
      ...readdirSync(folder).filter((name) => name.endsWith(".json")),
      ...readdirSync(join(folder, "optional", "format")).map((name) => join("optional", "format", name)),
    ];
    return files.flatMap((file) => {
      const groups = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
        description: string;
        schema: object;
        tests: { valid: boolean }[];
      }[];
      return groups
        .filter(({ description }) => !disputed.has(description))
        .map(({ description, schema, tests }) => ({
          name: `${draft}/${file}: ${description}`,
          schema,
          isContradiction: tests.every(({ valid }) => !valid),
          isOld: draft === "draft7",
        }));
    });
  });
}

function fileCases(path: string | undefined): Case[] | null {
  if (path === undefined || !existsSync(path)) return null;
  return numbered(JSON.parse(readFileSync(path, "utf8")) as unknown[]);
}

function numbered(schemas: readonly unknown[], lenient = false): Case[] {
  return schemas.map((schema, index) => ({
    name: `${index}: ${JSON.stringify(schema).slice(0, 120)}`,
    schema: schema as object,
    isOld: JSON.stringify(schema).includes("draft-07"),
    lenient,
  }));
}

function pydanticCases(): Case[] | null {
  try {
    const script = join(import.meta.dirname, "types", "pydantic_types.py");
    const lines = execFileSync(process.env["PYTHON"] ?? "python3", [script], {
      encoding: "utf8",
      stdio: "pipe",
    });
    return numbered(
      lines
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    );
  } catch {
    return null;
  }
}

function install(folder: string): ((name: string) => Promise<unknown>) | null {
  const home = join(folder, "packages");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
  try {
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: home,
      stdio: "pipe",
    });
  } catch {
    return null;
  }
  const { resolve } = createRequire(join(home, "package.json"));
  return (name) => import(pathToFileURL(resolve(name)).href);
}

/** Asks an MCP server for its list of tools, as an agent does. */
async function toolCases(folder: string, server: string): Promise<Case[]> {
  const entry = join(
    folder,
    "packages",
    "node_modules",
    "@modelcontextprotocol",
    `server-${server}`,
    "dist",
    "index.js",
  );
  const child = spawn(process.execPath, [entry, ...(server === "filesystem" ? [folder] : [])], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  try {
    const clientInfo = { name: "proof", version: "1" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo },
    });
    let pending = "";
    for await (const chunk of child.stdout) {
      pending += String(chunk);
      const lines = pending.split("\n");
      pending = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as { id?: number; result?: { tools?: { inputSchema: object }[] } };
        if (message.id === 1) {
          send({ method: "notifications/initialized" });
          send({ id: 2, method: "tools/list", params: {} });
        }
        if (message.id === 2)
          return numbered(message.result?.tools?.map(({ inputSchema }) => inputSchema) ?? [], true);
      }
    }
    throw new Error(`server-${server} ended without its tools`);
  } finally {
    child.kill();
  }
}
