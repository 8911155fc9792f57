import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../testing/free-port.ts";

/**
 * Runs Debian's registry on a free loopback port, to test against a real registry. Null if the package is
 * missing.
 */
export async function dockerRegistry(): Promise<{ host: string; stop(): Promise<void> } | null> {
  try {
    execFileSync("docker-registry", ["--version"], { stdio: "ignore" });
  } catch {
    return null;
  }
  const folder = await mkdtemp(join(tmpdir(), "docker-registry-"));
  const host = `127.0.0.1:${await freePort()}`;
  const config = `version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: ${folder}/data\nhttp:\n  addr: ${host}\n`;
  await writeFile(join(folder, "config.yml"), config);
  const child: ChildProcess = spawn("docker-registry", ["serve", join(folder, "config.yml")], {
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`http://${host}/v2/`).catch(() => null);
    if (answer?.ok) break;
    if (tries === 500) throw new Error("docker-registry does not answer");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    host,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Fault {
  kind: "none" | "cut" | "stall" | "error" | "slow";
  /** Position of the fault in the body, from 0 to 1. */
  at: number;
}

/**
 * A proxy that damages answers and uploads of a registry as `next` says, and counts the bytes. With
 * `redirect`, it redirects blob requests to itself under another host name, as large registries do.
 */
export async function faultyProxy(target: string, next: () => Fault, { redirect = false } = {}) {
  const stats = { pushedBytes: 0, pulledBytes: 0, faults: 0 };
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "";
    const isBlob = path.includes("/blobs/sha256:");
    if (redirect && isBlob && incoming.method === "GET" && incoming.headers.host?.startsWith("127.")) {
      outgoing.writeHead(307, { location: `http://localhost:${port}${path}` }).end();
      return;
    }
    const isWorth = (isBlob && incoming.method === "GET") || incoming.method === "PATCH";
    const fault: Fault = isWorth ? next() : none;
    if (fault.kind !== "none") stats.faults += 1;
    if (fault.kind === "error") {
      incoming.resume();
      outgoing.writeHead(503).end();
      return;
    }
    forward(target, incoming, outgoing, fault, (bytes) => {
      if (incoming.method === "PATCH") stats.pushedBytes += bytes;
      else if (isBlob) stats.pulledBytes += bytes;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    stats,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const none: Fault & { afterBytes: number } = { kind: "none", at: 0, afterBytes: 0 };

function strikesAt(fault: Fault, { headers }: IncomingMessage): typeof none {
  return { ...fault, afterBytes: Math.floor(fault.at * Number(headers["content-length"] ?? 0)) };
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fault: Fault,
  count: (bytes: number) => void,
): void {
  const isUpload = incoming.method === "PATCH";
  const spoil = () => {
    if (fault.kind === "cut") outgoing.destroy();
  };
  const upstream = request(
    {
      host: target.split(":")[0],
      port: target.split(":")[1],
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      void pump(
        answer,
        outgoing,
        isUpload ? none : strikesAt(fault, answer),
        spoil,
        isUpload ? () => {} : count,
      );
    },
  );
  upstream.on("error", () => outgoing.destroy());
  outgoing.on("close", () => upstream.destroy());
  void pump(
    incoming,
    upstream,
    isUpload ? strikesAt(fault, incoming) : none,
    spoil,
    isUpload ? count : () => {},
  );
}

async function pump(
  from: AsyncIterable<Buffer>,
  to: NodeJS.WritableStream & { destroyed?: boolean },
  fault: typeof none,
  spoil: () => void,
  count: (bytes: number) => void,
): Promise<void> {
  let passed = 0;
  try {
    for await (const chunk of from) {
      if (to.destroyed) return;
      passed += chunk.length;
      count(chunk.length);
      if (!to.write(chunk)) await drained(to);
      if (fault.kind === "slow") await new Promise((resolve) => setTimeout(resolve, 2));
      if (passed < fault.afterBytes || fault.kind === "none" || fault.kind === "slow") continue;
      if (fault.kind === "stall") await new Promise((resolve) => to.once("close", resolve));
      spoil();
      return;
    }
    to.end();
  } catch {
    spoil();
  }
}

function drained(to: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      to.off("drain", done).off("close", done);
      resolve();
    };
    to.on("drain", done).on("close", done);
  });
}
