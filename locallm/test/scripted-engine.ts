import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RemoteConnections } from "../src/remotes/connection.ts";
import type { RemoteCall, RemoteEvent, Upstream } from "../src/remotes/engine.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** One answer, as bytes. `chunks` are sent one by one, each after the one before was flushed. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly chunks: readonly (string | Uint8Array)[];
  /** How the connection ends; by default as HTTP specifies. */
  readonly end?: "cut" | "hang";
}

type Script = (request: ReceivedRequest, response: ServerResponse) => ScriptedAnswer | undefined;

/** A real HTTP server that answers like an engine that cannot run here. */
export async function startScriptedEngine(protocol: Upstream["protocol"] = "openai") {
  const received: ReceivedRequest[] = [];
  let script: Script = () => ({ status: 500, chunks: [] });
  let connections = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const asked = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
    received.push(asked);
    const answer = script(asked, response);
    if (answer === undefined) return;
    response.writeHead(answer.status ?? 200, { "content-type": "text/event-stream", ...answer.headers });
    response.flushHeaders();
    for (const chunk of answer.chunks) {
      await new Promise((resolve) => response.write(chunk, resolve));
    }
    if (answer.end === undefined) response.end();
    if (answer.end === "cut") response.destroy();
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const remote = new RemoteConnections({
    addressCheck: async () => () => true,
    firstByteMs: 5_000,
    silenceMs: 5_000,
  });
  const upstream: Upstream = {
    ...{ url: `http://127.0.0.1:${port}/v1`, model: "m", protocol, key: "secret" },
    ...{ weight: 1, maxRequests: null },
  };
  return {
    upstream,
    received,
    connections: () => connections,
    answers(next: ScriptedAnswer | Script) {
      script = typeof next === "function" ? next : () => next;
    },
    call: (parts: Partial<RemoteCall> = {}): RemoteCall => ({
      ...{ fetch: remote.fetch, signal: new AbortController().signal },
      ...parts,
    }),
    async stop() {
      remote.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ScriptedEngine = Awaited<ReturnType<typeof startScriptedEngine>>;

/** Everything an answer had, with neighbouring texts joined, so that chunks do not matter. */
export async function collect(events: AsyncIterable<RemoteEvent>) {
  const result = {
    ...{ content: "", thinking: "", ignored: [] as string[] },
    calls: [] as { id: string; name: string; arguments: unknown; text: string }[],
    pieces: [] as RemoteEvent[],
    done: undefined as Extract<RemoteEvent, { kind: "done" }> | undefined,
  };
  for await (const event of events) {
    if (event.kind === "ignored") result.ignored.push(...event.fields);
    else if (event.kind === "done") result.done = event;
    else result.pieces.push(event);
    if (event.kind === "content") result.content += event.text;
    if (event.kind === "thinking") result.thinking += event.text;
    if (event.kind === "called") result.calls.push(event.call);
  }
  return result;
}

/** Server-sent events with JSON, and the end mark. */
export function eventStream(...events: readonly unknown[]): string {
  const texts = [...events.map((event) => (event === done ? "[DONE]" : JSON.stringify(event)))];
  return texts.map((text) => `data: ${text}\n\n`).join("");
}

export const done = Symbol("[DONE]");
