import { expect, it } from "vitest";
import { ManualClock, settled } from "../../test/manual-clock.ts";
import { content } from "../dialogue/answer-piece.ts";
import { Usage } from "../keys/usage.ts";
import { DrainedHosts } from "../remotes/drained-hosts.ts";
import type { RemoteEngine, RemoteEvent } from "../remotes/engine.ts";
import { createRemotes } from "../remotes/remotes.ts";
import type { Parts } from "./parts.ts";
import { remoteEvents } from "./remote-turn.ts";
import type { RemoteRun } from "./run.ts";

const prompt = "word ".repeat(800);
const promptTokens = prompt.length / 4;

/** An engine that never finishes, with or without a first piece, and a client that disconnects. */
async function leave({ says, ahead }: { says: string | null; ahead: number }): Promise<Usage> {
  const answer = async function* (signal: AbortSignal): AsyncGenerator<RemoteEvent> {
    if (says !== null) yield content(says);
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const engine: RemoteEngine = {
    turn: (_, __, { signal }) => answer(signal),
    complete: (_, __, { signal }) => answer(signal),
    embed: () => Promise.reject(new Error("unused")),
    rerank: () => Promise.reject(new Error("unused")),
    probe: async () => ({ models: null, contextLength: null, places: null, waiting: null }),
  };
  const engines = { openai: engine, anthropic: engine, ollama: engine };
  const fetch = () => Promise.reject(new Error("scripted engines need no connection"));
  const remotes = createRemotes(
    { maxQueue: 9 },
    { clock: new ManualClock(), engines, fetch, drained: await DrainedHosts.open(null) },
  );
  const upstream = { url: "http://a:1/v1", model: "m", protocol: "openai", key: null } as const;
  const remote = { name: "m", digest: "d", upstreams: [{ ...upstream, weight: 1, maxRequests: 1 }] };
  const usage = new Usage({ now: () => 0, elapsed: () => 0 });
  const limits = { requests_per_minute: null, tokens_per_day: 1_000_000 };
  const caller = {
    id: "k",
    requireTokens: () => usage.requireTokens(limits),
    count: (prompted: number, generated: number) => usage.count(prompted, generated),
  };
  const ask = async (signal: AbortSignal, counted: boolean) => {
    const run = { remote, signal, caller: counted ? caller : { ...caller, count() {} } };
    const asking = { kind: "complete", ask: { prompt, options: {} } } as const;
    const events = remoteEvents({ remotes } as unknown as Parts, run as unknown as RemoteRun, asking);
    try {
      for await (const _ of events);
    } catch {}
  };
  const gone = new AbortController();
  const others = Array.from({ length: ahead }, () => ask(gone.signal, false));
  const own = ask(gone.signal, true);
  await settled();
  gone.abort();
  await Promise.all([...others, own]);
  return usage;
}

it("counts the prompt of a client that leaves while the engine computes it", async () => {
  const { today } = (await leave({ says: null, ahead: 0 })).record;
  expect(today).toMatchObject({ promptTokens, generatedTokens: 0 });
});

it("counts what had arrived when the client left", async () => {
  const { today } = (await leave({ says: "x".repeat(40), ahead: 0 })).record;
  expect(today).toMatchObject({ promptTokens, generatedTokens: 10 });
});

it("does not count a request that waited until its client left", async () => {
  const { today } = (await leave({ says: null, ahead: 1 })).record;
  expect(today).toMatchObject({ promptTokens: 0, generatedTokens: 0 });
});
