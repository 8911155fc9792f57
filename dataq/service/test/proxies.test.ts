import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request as requestPlain } from "node:http";
import { request } from "node:https";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Dashboard, Panel } from "@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../../../testing/free-port.ts";

const hosting = fileURLToPath(new URL("../../hosting/", import.meta.url));
/** Programs of others; .ci/apt.txt has them. */
const has = (program: string) => spawnSync(program, ["-h"]).error === undefined;

test.skipIf(!has("promtool"))(
  "Prometheus takes the alert rules, and they fire as they should (promtool)",
  () => {
    const promtool = (...words: string[]) => spawnSync("promtool", words, { encoding: "utf8" });
    expect(promtool("check", "rules", join(hosting, "alerts.yaml"))).toMatchObject({ status: 0 });
    expect(promtool("test", "rules", join(hosting, "alerts.test.yaml"))).toMatchObject({ status: 0 });
    const folder = mkdtempSync(join(tmpdir(), "dataq-rules-"));
    try {
      // A rule that never fires is found.
      const rules = readFileSync(join(hosting, "alerts.yaml"), "utf8").replaceAll(
        /expr: .*/g,
        "expr: vector(0) > 1",
      );
      writeFileSync(join(folder, "alerts.yaml"), rules);
      writeFileSync(join(folder, "alerts.test.yaml"), readFileSync(join(hosting, "alerts.test.yaml")));
      expect(promtool("test", "rules", join(folder, "alerts.test.yaml")).status).not.toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

/** The board of grafana.json, as text. */
const board = readFileSync(join(hosting, "grafana.json"), "utf8");

test.skipIf(!has("promtool"))("Prometheus reads every expression of the board (promtool)", () => {
  const folder = mkdtempSync(join(tmpdir(), "dataq-board-"));
  const check = (expressions: readonly string[]) => {
    const rules = expressions.map((expr, place) => ({ record: `board:${place}`, expr }));
    writeFileSync(join(folder, "rules.yaml"), JSON.stringify({ groups: [{ name: "board", rules }] }));
    return spawnSync("promtool", ["check", "rules", join(folder, "rules.yaml")]).status;
  };
  try {
    const { panels } = JSON.parse(board) as Pick<Dashboard, "panels">;
    const expressions = panels!.flatMap((panel) =>
      ((panel as Panel).targets ?? []).map((target) => String(target["expr"])),
    );
    expect(expressions.length).toBeGreaterThan(10);
    expect(check(expressions)).toBe(0);
    expect(check([expressions[0]!.replace("[5m]", "")])).not.toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the board is a dashboard in the types that Grafana publishes, and has nothing that they do not know", () => {
  const folder = mkdtempSync(join(tmpdir(), "dataq-board-"));
  const types = createRequire(import.meta.url)
    .resolve("@grafana/schema")
    .replace(/dist.*/, "dist/types/raw/dashboard/x/types.gen");
  const compiler = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
  const faultsOf = (text: string) => {
    const options = [
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--types",
      "",
    ];
    const source = `import type { Dashboard } from ${JSON.stringify(types)};\nexport const board: Dashboard = ${text};\n`;
    writeFileSync(join(folder, "board.ts"), source);
    const { stdout } = spawnSync(process.execPath, [compiler, ...options, join(folder, "board.ts")], {
      encoding: "utf8",
    });
    return [...stdout.matchAll(/error TS\d+: .*/g)].map(([line]) => line);
  };
  try {
    expect(faultsOf(board)).toEqual([]);
    const broken = board.replace('"gridPos"', '"gridPosition"').replace('"hide": 0', '"hide": 9');
    expect(faultsOf(broken)).toEqual([
      expect.stringContaining("VariableHide"),
      expect.stringContaining("gridPosition"),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe("the examples of proxies are started, and", () => {
  const work = mkdtempSync(join(tmpdir(), "dataq-proxy-"));
  /** Stands for dataq: it says what it got. */
  const upstream = createServer((got, answer) => {
    got.resume().on("end", () => answer.end(JSON.stringify({ url: got.url, headers: got.headers })));
  });
  let running: ChildProcess | undefined;
  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    upstream.close().closeAllConnections();
    rmSync(work, { recursive: true, force: true });
  });

  /** What a request over https gets, whoever signed the certificate. */
  const ask = (port: number, path: string, name: string, bytes?: number) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; body: () => Promise<unknown> }>(
      (resolve, reject) => {
        const sent = request(
          {
            ...{ host: "127.0.0.1", port, path, servername: name, rejectUnauthorized: false, agent: false },
            method: bytes === undefined ? "GET" : "POST",
            headers: {
              host: `${name}:${port}`,
              "x-forwarded-for": "6.6.6.6",
              "x-forwarded-proto": "gopher",
              ...(bytes !== undefined && { "content-length": bytes }),
            },
          },
          (answer) =>
            resolve({ status: answer.statusCode!, headers: answer.headers, body: () => json(answer) }),
        );
        sent.on("error", reject);
        if (bytes === undefined) sent.end();
        else sent.flushHeaders();
      },
    );

  async function keepsItsPromises(port: number, name: string): Promise<void> {
    const first = () =>
      ask(port, "/healthz?a=1", name).then(
        ({ status }) => status === 200,
        () => false,
      );
    await vi.waitUntil(first, { timeout: 60_000, interval: 200 });
    const passed = await ask(port, "/v1/catalog?a=%E6%B3%95", name);
    expect(passed.headers["strict-transport-security"]).toBe("max-age=31536000");
    const { url, headers } = (await passed.body()) as { url: string; headers: Record<string, string> };
    expect(url).toBe("/v1/catalog?a=%E6%B3%95");
    // What the caller says of itself does not reach the service.
    expect(headers).toMatchObject({ "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "https" });
    expect(headers["host"]!.split(":")[0]).toBe(name);
    expect((await ask(port, "/metrics", name)).status).toBe(404);
  }

  async function stop(): Promise<void> {
    if (running?.exitCode === null && running.kill()) await once(running, "exit");
    running = undefined;
  }

  test.skipIf(!has("nginx"))(
    "nginx hides the metrics, says who asks, limits sign-ups and refuses what is too large",
    async () => {
      const [secure, plain] = await Promise.all([freePort(), freePort()]);
      const pem = ["key.pem", "cert.pem"].map((name) => join(work, name)) as [string, string];
      const subject = ["-subj", "/CN=data.example.com", "-days", "2", "-nodes"];
      execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", "rsa:2048", "-keyout", pem[0], "-out", pem[1], ...subject],
        {
          stdio: "ignore",
        },
      );
      const site = readFileSync(join(hosting, "nginx.conf"), "utf8")
        .replace("listen 80;", `listen 127.0.0.1:${plain};`)
        .replace("listen 443 ssl", `listen 127.0.0.1:${secure} ssl`)
        .replace("/etc/letsencrypt/live/data.example.com/fullchain.pem", pem[1])
        .replace("/etc/letsencrypt/live/data.example.com/privkey.pem", pem[0])
        .replaceAll("127.0.0.1:11435", `127.0.0.1:${(upstream.address() as AddressInfo).port}`);
      writeFileSync(join(work, "site.conf"), site);
      const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const folders = kinds.map((kind) => `${kind}_temp_path ${join(work, kind)};`);
      for (const kind of kinds) mkdirSync(join(work, kind));
      const user = process.getuid?.() === 0 ? "user root;" : "";
      const own = `${user} daemon off; pid ${join(work, "nginx.pid")}; error_log ${join(work, "error.log")}; events {}
      http { access_log off; ${folders.join(" ")} include ${join(work, "site.conf")}; }`;
      writeFileSync(join(work, "nginx.conf"), own);
      running = spawn("nginx", ["-p", work, "-c", join(work, "nginx.conf"), "-e", join(work, "error.log")]);
      try {
        await keepsItsPromises(secure, "data.example.com");
        expect((await ask(secure, "/v1/data/query", "data.example.com", 33 * 1_048_576)).status).toBe(413);
        const statuses: number[] = [];
        for (let n = 0; n < 8; n++)
          statuses.push((await ask(secure, "/console/auth/sign-up/email", "data.example.com")).status);
        expect(statuses.slice(0, 6)).toEqual(Array<number>(6).fill(200));
        expect(statuses).toContain(429);
        const moved = await new Promise<string | undefined>((resolve, reject) => {
          const headers = { host: "data.example.com" };
          requestPlain(
            { host: "127.0.0.1", port: plain, path: "/docs?a=1", headers, agent: false },
            (answer) => {
              answer.resume();
              resolve(answer.headers.location);
            },
          )
            .on("error", reject)
            .end();
        });
        expect(moved).toBe("https://data.example.com/docs?a=1");
      } finally {
        await stop();
      }
    },
  );

  test.skipIf(!has("caddy"))("Caddy hides the metrics and says who asks", async () => {
    const port = await freePort();
    const site = readFileSync(join(hosting, "Caddyfile"), "utf8")
      .replace(/^data\.example\.com \{/m, `https://localhost:${port} {\n\ttls internal`)
      .replaceAll("127.0.0.1:11435", `127.0.0.1:${(upstream.address() as AddressInfo).port}`);
    const own = "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n";
    writeFileSync(join(work, "Caddyfile"), own + site);
    const env = { ...process.env, XDG_DATA_HOME: work, XDG_CONFIG_HOME: work, HOME: work };
    const config = ["--config", join(work, "Caddyfile"), "--adapter", "caddyfile"];
    running = spawn("caddy", ["run", ...config], { env, stdio: "ignore" });
    try {
      await keepsItsPromises(port, "localhost");
    } finally {
      await stop();
    }
  });
});
