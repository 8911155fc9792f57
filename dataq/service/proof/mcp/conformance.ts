import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

const runner = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const revisions = ["2025-11-25", "2026-07-28"];

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/**
 * The runner is made for servers that have its own tools (`test_simple_text`), resources, prompts and
 * completions. Its checks of these fail on any other server with one of these reasons, and prove nothing.
 */
const needsFixture =
  /Method not found|Unknown tool: test_|Tool 'json_schema_2020_12_tool' not found|Resource not found: test:\/\/|^Not testable: server (?:exposes no|does not list)|^Expected InputRequiredResult|^Prerequisite failed: could not get initial InputRequiredResult/;

/** Runs the official conformance runner; null without a registry. Throws if a check of ours fails. */
export async function conformance(
  url: string,
  key: string,
  folder: string,
  print: (line: string) => void,
): Promise<void> {
  const program = join(folder, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const install = ["install", "--prefix", folder, "--ignore-scripts", "--no-save", runner];
    await promisify(execFile)("npm", install);
  }
  print(
    `| ${runner} | checks passed | failed | of tools, prompts and resources that only the runner's own server has |`,
  );
  print("|---|---|---|---|");
  await using proxy = await proxyWith(url, key);
  for (const revision of revisions) {
    const results = join(folder, revision);
    rmSync(results, { recursive: true, force: true });
    const args = [
      "server",
      "--url",
      `${proxy.url}/mcp`,
      "--suite",
      "all",
      "--spec-version",
      revision,
      "-o",
      results,
    ];
    // It exits with 1 because of the checks that need its own tools.
    await promisify(execFile)(process.execPath, [program, ...args], { maxBuffer: 1e8 }).catch(() => {});
    const checks = globSync(`${results}/*/checks.json`).flatMap((path) =>
      (JSON.parse(readFileSync(path, "utf8")) as Check[]).map((check) => ({
        ...check,
        scenario: basename(dirname(path)).replace(/^server-(.*?)-\d{4}-.*$/, "$1"),
      })),
    );
    const failed = checks.filter(({ status }) => status === "FAILURE");
    const ours = failed.filter(
      ({ errorMessage }) =>
        !needsFixture.test((errorMessage ?? "").replace(/^Failed: (?:MCP error -\d+: )?/, "")),
    );
    const passed = checks.filter(({ status }) => status === "SUCCESS").length;
    print(`| ${revision} | ${passed} | ${ours.length} | ${failed.length - ours.length} |`);
    for (const { scenario, id, errorMessage } of ours) print(`failed: ${scenario} ${id}: ${errorMessage}`);
    if (ours.length > 0 || passed < 30) throw new Error(`The service does not conform to ${revision}.`);
  }
}

/** A proxy that adds the API key, because the runner sends none. */
async function proxyWith(url: string, key: string): Promise<AsyncDisposable & { readonly url: string }> {
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const forwarded = request(
      { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${key}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
