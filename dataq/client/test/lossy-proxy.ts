import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * What the proxy does to a request. `lose`: replace the service's answer with a 502. `cut`: close the
 * connection after the service has answered. `drop`: close the connection before forwarding. `refuse`: answer
 * 503 without forwarding.
 */
export type Fault = "lose" | "cut" | "drop" | "refuse" | "none";

export interface LossyProxyOptions {
  readonly target: string;
  /** The possible faults. The proxy chooses one by idempotency key, attempt and seed. */
  readonly faults: readonly Fault[];
  /** Only this many first attempts of a call may fail. */
  readonly attempts: number;
  readonly seed: number;
}

export interface LossyProxy {
  readonly url: string;
  /** The requests in order of arrival, each with the service's status if the request was forwarded. */
  seen(): Promise<readonly SeenRequest[]>;
  close(): void;
}

export interface SeenRequest {
  readonly key: string;
  readonly fault: Fault;
  readonly status?: number;
}

/** The proxy is a separate process, because the synchronous client blocks this thread. */
export async function startLossyProxy(options: LossyProxyOptions): Promise<LossyProxy> {
  const path = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [path, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    seen: async () => (await (await fetch(`${url}/_seen`)).json()) as SeenRequest[],
    close: () => child.stdin.end(),
  };
}

function serve({ target, faults, attempts, seed }: LossyProxyOptions): void {
  const { hostname, port } = new URL(target);
  const counts = new Map<string, number>();
  const seen: { key: string; fault: Fault; status?: number | undefined }[] = [];

  const faultOf = (key: string): Fault => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count > attempts) return "none";
    const drawn = createHash("sha256").update(`${seed} ${key} ${count}`).digest().readUInt32BE();
    return faults[drawn % faults.length] ?? "none";
  };

  const server = createServer((request, response) => {
    if (request.url === "/_seen") {
      response.end(JSON.stringify(seen));
      return;
    }
    const { method, url: path, headers } = request;
    const key = String(headers["idempotency-key"] ?? "");
    const fault = key === "" ? "none" : faultOf(key);
    const entry: (typeof seen)[number] = { key, fault };
    seen.push(entry);
    if (fault === "drop") return void response.socket?.destroy();
    if (fault === "refuse") return fail(response, 503);
    const onward = send({ host: hostname, port, method, path, headers }, (answer) => {
      entry.status = answer.statusCode;
      if (fault === "none") {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
        return;
      }
      answer.resume().on("end", () => {
        if (fault === "cut") response.socket?.destroy();
        else fail(response, 502);
      });
    });
    onward.on("error", () => fail(response, 502));
    request.pipe(onward);
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
  });
  process.stdin.resume().on("end", () => process.exit(0));
}

function fail(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "text/html" }).end("<html>Bad Gateway</html>");
}

if (import.meta.main) serve(JSON.parse(process.argv[2] ?? "") as LossyProxyOptions);
