import { connect, type Socket } from "node:net";
import { median, quartiles } from "../testing/speed/bursts.ts";
import type { Peer } from "../testing/speed/peer.ts";
import { cpuMs } from "../testing/speed/processes.ts";

export const title = "Small GETs: requests a second and the server's processor time for each";

const paths = ["/api/version", "/api/tags", "/api/ps", "/v1/models"];
const connections = 8;
const rounds = 9;
const burstMs = 700;

interface Burst {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** Measures each path in short bursts that alternate between the servers. */
export async function report(
  peers: readonly Peer[],
  { scale }: { readonly scale: number },
  print: (line: string) => void,
): Promise<void> {
  const base = peers[1];
  print(`${connections} connections, medians of ${rounds} alternating bursts`);
  print("");
  print(
    "| path | server | requests a second | ratio to the second server | processor µs a request | ratio |",
  );
  print("|---|---|---:|---:|---:|---:|");
  for (const path of paths) {
    const bursts = new Map<Peer, Burst[]>(peers.map((peer) => [peer, []]));
    for (const peer of peers) await burst(peer, path, burstMs * scale);
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < peers.length; turn++) {
        const peer = peers[(round + turn) % peers.length]!;
        bursts.get(peer)!.push(await burst(peer, path, burstMs * scale));
      }
    }
    for (const peer of peers) {
      const own = bursts.get(peer)!;
      const cells = (["perSecond", "cpuUs"] as const).flatMap((field) => {
        const values = own.map((each) => each[field]);
        if (base === undefined || base === peer) return [median(values).toFixed(0), ""];
        const ratios = values.map((value, round) => value / bursts.get(base)![round]![field]);
        return [median(values).toFixed(0), `${median(ratios).toFixed(2)} (${quartiles(ratios)})`];
      });
      print(`| ${path} | ${peer.name} | ${cells.join(" | ")} |`);
    }
  }
}

async function burst(peer: Peer, path: string, lengthMs: number): Promise<Burst> {
  const tree = peer.tree();
  const cpuBeforeMs = cpuMs(tree);
  const begin = performance.now();
  const counts = await Promise.all(
    Array.from({ length: connections }, () => ask(peer, path, begin + lengthMs)),
  );
  const tookMs = performance.now() - begin;
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return {
    perSecond: (requests * 1000) / tookMs,
    cpuUs: ((cpuMs(tree) - cpuBeforeMs) * 1000) / requests,
  };
}

/** Sends one request after another over one connection. Returns the number of answers. */
async function ask({ url, name }: Peer, path: string, untilMs: number): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: application/json\r\n\r\n`;
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  let answers = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      const next = () => {
        if (performance.now() >= untilMs) resolve();
        else socket.write(request);
      };
      socket.once("error", reject);
      socket.once("close", () => reject(new Error(`${name} closed the connection`)));
      socket.once("connect", next);
      readAnswers(socket, (status) => {
        if (status !== 200) reject(new Error(`${name}: GET ${path} answered ${status}`));
        answers++;
        next();
      });
    });
  } finally {
    socket.destroy();
  }
  return answers;
}

/** Reads one answer at a time, with Content-Length or in chunks. A full HTTP client would be slower than the servers. */
function readAnswers(socket: Socket, onAnswer: (status: number) => void): void {
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (part: string) => {
    text += part;
    const end = text.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
    const isWhole =
      length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= end + 4 + Number(length);
    if (!isWhole) return;
    const status = Number(text.slice(9, 12));
    text = "";
    onAnswer(status);
  });
}
