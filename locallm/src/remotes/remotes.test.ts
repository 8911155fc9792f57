import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock, settled } from "../../test/manual-clock.ts";
import { content } from "../dialogue/answer-piece.ts";
import { plainTurn } from "../dialogue/turn.ts";
import { LocallmError } from "../wire/errors.ts";
import { parseNamedHost } from "../wire/remote-address.ts";
import { DrainedHosts } from "./drained-hosts.ts";
import type { Probe, RemoteEngine, RemoteEvent, Upstream } from "./engine.ts";
import { createRemotes, type RemoteModel, type RemoteNews, type Remotes } from "./remotes.ts";

/** One request at a scripted engine. */
class Exchange {
  readonly host: string;
  readonly text: string;
  readonly signal: AbortSignal;
  isOpen = true;
  isBegun = false;
  #steps: (RemoteEvent | Error | null)[] = [];
  #wake = () => {};

  constructor(upstream: Upstream, text: string, signal: AbortSignal) {
    this.host = new URL(upstream.url).hostname;
    this.text = text;
    this.signal = signal;
    signal.addEventListener("abort", () => this.#add(signal.reason as Error));
  }

  /** The next piece of the answer. */
  say(text: string): void {
    this.isBegun = true;
    this.#add(content(text));
  }

  send(event: RemoteEvent): void {
    this.#add(event);
  }

  fail(error: Error): void {
    this.#add(error);
  }

  end(): void {
    this.#add(null);
  }

  #add(step: RemoteEvent | Error | null): void {
    this.#steps.push(step);
    this.#wake();
  }

  async *events(): AsyncGenerator<RemoteEvent> {
    try {
      this.signal.throwIfAborted();
      for (;;) {
        const step = this.#steps.shift();
        if (step === null) return;
        if (step instanceof Error) throw step;
        if (step !== undefined) yield step;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.isOpen = false;
    }
  }
}

interface World {
  readonly clock: ManualClock;
  readonly remotes: Remotes;
  readonly exchanges: Exchange[];
  readonly news: RemoteNews[];
  /** The result or error of a probe, by host. A probe of a host without an entry stays pending. */
  readonly probes: Map<string, Probe | Error>;
  /** The hosts that were probed, in order. */
  readonly probed: string[];
  open(host?: string): Exchange[];
}

const named = (host: string) => parseNamedHost(host)!;

const healthy: Probe = { models: null, contextLength: null, places: null, waiting: null };

async function world({ maxQueue = 512 }: { maxQueue?: number } = {}): Promise<World> {
  const clock = new ManualClock();
  const exchanges: Exchange[] = [];
  const news: RemoteNews[] = [];
  const probes: World["probes"] = new Map();
  const probed: string[] = [];
  const ask = (upstream: Upstream, text: string, signal: AbortSignal) => {
    const exchange = new Exchange(upstream, text, signal);
    exchanges.push(exchange);
    return exchange;
  };
  const engine: RemoteEngine = {
    turn: (upstream, { turn }, { signal }) => ask(upstream, turn.messages.at(-1)!.content, signal).events(),
    complete: (upstream, { prompt }, { signal }) => ask(upstream, prompt, signal).events(),
    async embed(upstream, inputs, { signal }) {
      for await (const _ of ask(upstream, inputs.join(), signal).events()) break;
      return { vectors: inputs.map(() => new Float32Array(1)), tokens: inputs.map(() => 1) };
    },
    rerank: () => Promise.reject(new Error("unused")),
    async probe(upstream, { signal }) {
      const host = new URL(upstream.url).hostname;
      probed.push(host);
      const found = probes.get(host);
      if (found === undefined)
        return await new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      if (found instanceof Error) throw found;
      return found;
    },
  };
  const remotes = createRemotes(
    { maxQueue },
    {
      clock,
      engines: { openai: engine, anthropic: engine, ollama: engine },
      fetch: () => Promise.reject(new Error("scripted engines need no connection")),
      drained: await DrainedHosts.open(null),
      onNews: (each) => news.push(each),
    },
  );
  const open = (host?: string) =>
    exchanges.filter((each) => each.isOpen && (host === undefined || each.host === host));
  return { clock, remotes, exchanges, news, probes, probed, open };
}

function model(hosts: string | readonly string[], parts: Partial<Upstream> = {}): RemoteModel {
  const upstreams = [hosts].flat().map(
    (host): Upstream => ({
      ...{ url: `http://${host}:8000/v1`, model: "big", protocol: "openai", key: null },
      ...{ weight: 1, maxRequests: null },
      ...parts,
    }),
  );
  return { name: "m", digest: "d", upstreams };
}

const urlsOf = ({ upstreams }: RemoteModel) => upstreams.map(({ url }) => url);

interface Asked {
  readonly events: RemoteEvent[];
  readonly gone: AbortController;
  error: Error | null;
  isDone: boolean;
  readonly finished: Promise<void>;
}

function ask(remotes: Remotes, to: RemoteModel, text = "hello", key: string | null = null): Asked {
  const gone = new AbortController();
  const run = async () => {
    const turn = plainTurn([{ role: "user", content: text }]);
    for await (const event of remotes.turn(to, { turn, options: {} }, { signal: gone.signal, key }))
      asked.events.push(event);
  };
  const asked: Asked = {
    events: [],
    gone,
    error: null,
    isDone: false,
    finished: Promise.resolve().then(async () => {
      await run().catch((error: Error) => {
        asked.error = error;
      });
      asked.isDone = true;
    }),
  };
  return asked;
}

const unreachable = (host: string) =>
  new LocallmError("remote_unreachable", { host, reason: "ECONNREFUSED" });
const busy = (host: string, seconds: number) =>
  new LocallmError("remote_busy", { host, reason: "429", retryAfterSeconds: seconds });
const code = ({ error }: Asked) => (error instanceof LocallmError ? error.code : error?.message);

describe("retries", () => {
  it("sends a request to another replica if the first fails before its first piece, never to the same twice", async () => {
    const { remotes, exchanges, news } = await world();
    const asked = ask(remotes, model(["a", "b", "c"]));
    for (let index = 0; index < 2; index++) {
      await settled();
      expect(exchanges).toHaveLength(index + 1);
      exchanges[index]!.send({ kind: "ignored", fields: [exchanges[index]!.host] });
      exchanges[index]!.fail(unreachable(exchanges[index]!.host));
    }
    await settled();
    const last = exchanges[2]!;
    last.send({ kind: "ignored", fields: [last.host] });
    last.say("hi");
    last.end();
    await asked.finished;
    expect(new Set(exchanges.map(({ host }) => host)).size).toBe(3);
    expect(asked.events).toEqual([{ kind: "ignored", fields: [last.host] }, content("hi")]);
    expect(news.filter(({ what }) => what === "retry")).toHaveLength(2);
  });

  it("names every replica that was tried and why it failed", async () => {
    const { remotes, exchanges } = await world();
    const asked = ask(remotes, model(["a", "b"]));
    await settled();
    exchanges[0]!.fail(unreachable("first"));
    await settled();
    exchanges[1]!.fail(new LocallmError("remote_failed", { host: "second", reason: "out of memory" }));
    await asked.finished;
    expect([code(asked), asked.error?.message]).toEqual([
      "remote_replicas_failed",
      "no replica of m answered: cannot reach the engine at first: ECONNREFUSED; the engine at second failed: out of memory",
    ]);
    expect(exchanges).toHaveLength(2);
  });

  it("never repeats a request whose answer has begun, or one that the engine rejects", async () => {
    for (const error of [
      new LocallmError("remote_broke_off", { host: "a", reason: "reset" }),
      new LocallmError("remote_failed", { host: "a", reason: "CUDA error" }),
    ]) {
      const { remotes, exchanges } = await world();
      const asked = ask(remotes, model(["a", "b"]));
      await settled();
      exchanges[0]!.say("once");
      exchanges[0]!.fail(error);
      await asked.finished;
      expect([asked.events, asked.error, exchanges.length]).toEqual([[content("once")], error, 1]);
    }
    const { remotes, exchanges } = await world();
    const asked = ask(remotes, model(["a", "b"]));
    await settled();
    exchanges[0]!.fail(new LocallmError("remote_refused", { host: "a", reason: "bad temperature" }));
    await asked.finished;
    expect([code(asked), exchanges.length]).toEqual(["remote_refused", 1]);
  });

  it("retries embeddings as well", async () => {
    const { remotes, exchanges } = await world();
    const caller = { signal: new AbortController().signal, key: null };
    const embedded = remotes.embed(model(["a", "b"]), ["x", "y"], caller);
    await settled();
    exchanges[0]!.fail(unreachable("a"));
    await settled();
    exchanges[1]!.say("ok");
    expect((await embedded).vectors).toHaveLength(2);
    expect(exchanges.map(({ host }) => host).sort()).toEqual(["a", "b"]);
  });
});

describe("places", () => {
  it("gives no replica more than its limit; further requests wait in order, and keys take turns", async () => {
    const { remotes, open, exchanges } = await world();
    const to = model(["a", "b"], { maxRequests: 2 });
    const all = ["one", "one", "one", "one", "one", "one", "one", "two"].map((key, index) =>
      ask(remotes, to, `${key} ${index}`, key),
    );
    await settled();
    expect([open("a").length, open("b").length]).toEqual([2, 2]);
    expect(remotes.view()[0]).toMatchObject({ waiting: 4 });
    const served: string[] = [];
    for (let count = 0; count < 4; count++) {
      open()[0]!.end();
      await settled();
      served.push(exchanges.at(-1)!.text);
    }
    expect(served).toEqual(["one 4", "two 7", "one 5", "one 6"]);
    for (const each of open()) each.end();
    await Promise.all(all.map(({ finished }) => finished));
    expect(all.every(({ error }) => error === null)).toBe(true);
  });

  it("sends an engine no more requests than it says it computes at once", async () => {
    const { remotes, open, probes, clock } = await world();
    probes.set("a", { ...healthy, places: { total: 1, busy: 0 } });
    const to = model("a");
    ask(remotes, to);
    await settled();
    ask(remotes, to);
    await settled();
    expect([open().length, remotes.view()[0]?.waiting]).toEqual([1, 1]);
    // The operator restarts the engine with more places.
    probes.set("a", { ...healthy, places: { total: 4, busy: 1 } });
    await clock.pass(10_000);
    expect(open()).toHaveLength(2);
  });

  it("shares the limit of an engine between models that use it", async () => {
    const { remotes, open } = await world();
    const first = model("a", { maxRequests: 1 });
    ask(remotes, first);
    const other = ask(remotes, { ...first, name: "copy" });
    await settled();
    expect(open()).toHaveLength(1);
    open()[0]!.end();
    await settled();
    open()[0]!.end();
    await other.finished;
    expect(other.error).toBeNull();
  });

  it("does not let a model whose replicas are full delay another model", async () => {
    const { remotes, open } = await world();
    const full = model("a", { maxRequests: 1 });
    for (let count = 0; count < 3; count++) ask(remotes, full);
    const other = { ...model("b"), name: "other" };
    ask(remotes, other);
    await settled();
    expect(open().map(({ host }) => host)).toEqual(["a", "b"]);
  });

  it("rejects with queue_full when the queue is full, and lets another key in at the cost of a greedy one", async () => {
    const { remotes } = await world({ maxQueue: 2 });
    const to = model("a", { maxRequests: 1 });
    const all = ["one", "one", "one", "one", "two"].map((key) => ask(remotes, to, "x", key));
    await settled();
    expect(all.map(code)).toEqual([undefined, undefined, "queue_full", "queue_full", undefined]);
    expect(remotes.accepts()).toBe(false);
  });

  it("keeps a conversation on its replica, and spreads new ones", async () => {
    const { remotes, open } = await world();
    const to = model(["a", "b"]);
    for (let count = 0; count < 40; count++) ask(remotes, to, `question ${count}`);
    await settled();
    expect([open("a").length, open("b").length]).toEqual([20, 20]);
    for (const each of open()) {
      each.say("answer");
      each.end();
    }
    await settled();
    expect(remotes.view()[0]!.replicas.map(({ open, answered }) => [open, answered])).toEqual([
      [0, 20],
      [0, 20],
    ]);
  });
});

describe("cancel", () => {
  it("stops the engine and frees the place when the client leaves, waiting or running", async () => {
    const { remotes, open, exchanges, news } = await world();
    const to = model("a", { maxRequests: 1 });
    const running = ask(remotes, to, "running");
    await settled();
    const waiting = ask(remotes, to, "waiting");
    const next = ask(remotes, to, "next");
    await settled();
    waiting.gone.abort(new LocallmError("client_gone", {}));
    running.gone.abort(new LocallmError("client_gone", {}));
    await settled();
    expect([code(waiting), code(running)]).toEqual(["client_gone", "client_gone"]);
    expect(exchanges[0]).toMatchObject({ isOpen: false, host: "a" });
    expect(open().map(({ text }) => text)).toEqual(["next"]);
    open()[0]!.end();
    await next.finished;
    expect(news.map(({ what }) => what)).toEqual(["given", "cancelled", "given", "answered"]);
    expect(remotes.view()[0]!.replicas[0]).toMatchObject({ open: 0, failed: 0, breaker: "closed" });
  });

  it("stops the engine when the loop is left", async () => {
    const { remotes, exchanges } = await world();
    const turn = plainTurn([{ role: "user", content: "x" }]);
    const caller = { signal: new AbortController().signal, key: null };
    const left = (async () => {
      for await (const _ of remotes.turn(model("a"), { turn, options: {} }, caller)) break;
    })();
    await settled();
    exchanges[0]!.say("once");
    await left;
    expect(exchanges[0]!.isOpen).toBe(false);
    expect(remotes.view()[0]!.replicas[0]!.open).toBe(0);
  });
});

describe("breaker", () => {
  it("repeats the error of a model's only replica without asking again, then tries it with one request", async () => {
    const { remotes, exchanges, clock, open } = await world();
    const to = model("a");
    const first = ask(remotes, to);
    await settled();
    exchanges[0]!.fail(unreachable("a"));
    await first.finished;
    const second = ask(remotes, to);
    await second.finished;
    expect([code(first), code(second), exchanges.length]).toEqual([
      "remote_unreachable",
      "remote_unreachable",
      1,
    ]);
    expect(remotes.view()[0]!.replicas[0]).toMatchObject({ state: "failing", pauseMs: 1000 });
    await clock.pass(1_000);
    const several = [ask(remotes, to), ask(remotes, to), ask(remotes, to)];
    await settled();
    expect([exchanges.length, remotes.view()[0]!.waiting]).toEqual([2, 2]);
    exchanges[1]!.say("hi");
    await settled();
    expect(exchanges).toHaveLength(4);
    expect(remotes.view()[0]!.replicas[0]!.breaker).toBe("closed");
    for (const each of open()) each.end();
    await Promise.all(several.map(({ finished }) => finished));
  });

  it.each(["remote_model_missing", "remote_unauthorized"] as const)(
    "stays closed after %s if a probe has found the model, because only this request was denied",
    async (reason) => {
      const { remotes, probes, exchanges, open } = await world();
      probes.set("a", { ...healthy, models: ["big"] });
      ask(remotes, model("a"), "first");
      await settled();
      open()[0]!.say("ok");
      // One client asks again and again for what the engine does not offer.
      for (let count = 1; count < 6; count++) {
        const denied = ask(remotes, model("a"), "denied");
        await settled();
        exchanges[count]!.fail(
          new LocallmError(reason, { host: "a", reason: "no", path: "/x", model: "big" }),
        );
        await denied.finished;
        expect(code(denied)).toBe(reason);
      }
      expect(remotes.view()[0]!.replicas[0]!.breaker).toBe("closed");
      const other = ask(remotes, model("a"), "other");
      await settled();
      expect(open()).toHaveLength(2);
      expect(other.error).toBeNull();
    },
  );

  it("rejects the requests that wait for a trial which fails", async () => {
    const { remotes, exchanges, clock } = await world();
    const to = model("a");
    ask(remotes, to);
    await settled();
    exchanges[0]!.fail(unreachable("a"));
    await clock.pass(1_000);
    const both = [ask(remotes, to), ask(remotes, to)];
    await settled();
    exchanges[1]!.fail(unreachable("a"));
    await Promise.all(both.map(({ finished }) => finished));
    expect([both.map(code), exchanges.length]).toEqual([["remote_unreachable", "remote_unreachable"], 2]);
    expect(remotes.view()[0]!.replicas[0]!.pauseMs).toBe(2_000);
  });

  it("makes the next request the trial if the client of a trial leaves, or the trial fails", async () => {
    const { remotes, exchanges, clock, open } = await world();
    const to = model("a");
    ask(remotes, to);
    await settled();
    exchanges[0]!.fail(unreachable("a"));
    await clock.pass(1_000);
    const trial = ask(remotes, to);
    await settled();
    ask(remotes, to, "next");
    await settled();
    trial.gone.abort(new LocallmError("client_gone", {}));
    await settled();
    expect(open().map(({ text }) => text)).toEqual(["next"]);
    open()[0]!.fail(unreachable("a"));
    await clock.pass(2_000);
    ask(remotes, to, "last");
    await settled();
    expect(open().map(({ text }) => text)).toEqual(["last"]);
  });

  it("sends nothing to a failing replica while another works", async () => {
    const { remotes, exchanges } = await world();
    const to = model(["a", "b"]);
    ask(remotes, to);
    await settled();
    const failing = exchanges[0]!.host;
    exchanges[0]!.fail(unreachable(failing));
    await settled();
    for (let count = 0; count < 20; count++) ask(remotes, to, `question ${count}`);
    await settled();
    expect(exchanges.slice(1).every(({ host }) => host !== failing)).toBe(true);
  });

  it("waits if an engine asks for a short wait, and passes a long wait on to the client", async () => {
    const { remotes, exchanges, clock } = await world();
    const to = model("a");
    const first = ask(remotes, to);
    await settled();
    exchanges[0]!.fail(busy("a", 5));
    await first.finished;
    expect(code(first)).toBe("remote_busy");
    const second = ask(remotes, to);
    await clock.pass(4_999);
    expect([exchanges.length, second.isDone]).toEqual([1, false]);
    await clock.pass(1);
    expect(exchanges).toHaveLength(2);
    exchanges[1]!.fail(busy("a", 3600));
    await second.finished;
    await clock.pass(600_000);
    const third = ask(remotes, to);
    await third.finished;
    expect(exchanges).toHaveLength(2);
    expect((third.error as LocallmError).details).toMatchObject({ retryAfterSeconds: 3000 });
  });

  it("reports the shortest wait when several replicas are busy", async () => {
    const { remotes, exchanges } = await world();
    const asked = ask(remotes, model(["a", "b"]));
    await settled();
    exchanges[0]!.fail(busy("x", 90));
    await settled();
    exchanges[1]!.fail(busy("y", 40));
    await asked.finished;
    expect(asked.error).toMatchObject({
      code: "remote_replicas_busy",
      status: 503,
      details: { retryAfterSeconds: 40 },
    });
  });
});

describe("probes", () => {
  it("run when a model is used and while requests run, and leave no timer on an idle server", async () => {
    const { remotes, probes, probed, clock, open } = await world();
    probes.set("a", healthy);
    const to = model("a");
    const asked = ask(remotes, to);
    await clock.pass(25_000);
    expect(probed).toHaveLength(3);
    open()[0]!.end();
    await asked.finished;
    await clock.pass(600_000);
    expect(probed).toHaveLength(3);
    expect(clock.timers).toBe(0);
  });

  it("open the breaker of a replica that is down, and end the pause of one that is up again", async () => {
    const { remotes, probes, clock, open, exchanges } = await world();
    const to = model(["a", "b"]);
    probes.set("a", unreachable("a"));
    probes.set("b", healthy);
    ask(remotes, to, "held");
    await settled();
    for (let count = 0; count < 6; count++) ask(remotes, to, `question ${count}`);
    await settled();
    expect(remotes.view()[0]!.replicas[0]!.state).toBe("failing");
    expect(open("b").length).toBeGreaterThanOrEqual(6);
    probes.set("a", healthy);
    await clock.pass(10_000);
    expect(remotes.view()[0]!.replicas[0]!.state).toBe("trial");
    const before = exchanges.length;
    for (let count = 0; count < 9; count++) ask(remotes, to, `more ${count}`);
    await settled();
    expect(exchanges.slice(before).filter(({ host }) => host === "a")).toHaveLength(1);
  });

  it("that get no answer do not open the breaker of a replica that answers requests", async () => {
    const { remotes, clock, open } = await world();
    ask(remotes, model("a"));
    for (let count = 0; count < 60; count++) {
      await clock.pass(1_000);
      open()[0]!.say("x");
    }
    await settled();
    expect(remotes.view()[0]!.replicas[0]!.breaker).toBe("closed");
  });

  it("open the breaker of a replica that has not answered anything three times in a row", async () => {
    const { remotes, clock } = await world();
    ask(remotes, model("a"));
    await clock.pass(14_000);
    expect(remotes.view()[0]!.replicas[0]!.breaker).toBe("closed");
    await clock.pass(11_000);
    expect(remotes.view()[0]!.replicas[0]!.breaker).toBe("open");
  });
});

describe("the caller", () => {
  it("checks its limits again when a waiting request gets its place", async () => {
    const { remotes, exchanges } = await world();
    const to = model("a", { maxRequests: 1 });
    let left = 1;
    const onPlace = () => {
      if (left <= 0) throw new LocallmError("key_tokens_used_up", { limit: 1, retryAfterSeconds: 9 });
    };
    const { signal } = new AbortController();
    const codes: string[] = [];
    const run = async (text: string) => {
      const turn = plainTurn([{ role: "user", content: text }]);
      const events = remotes.turn(to, { turn, options: {} }, { signal, key: "k", onPlace });
      try {
        for await (const _ of events);
      } catch (error) {
        codes.push((error as LocallmError).code);
      }
    };
    const runs = Array.from({ length: 9 }, (_, index) => run(String(index)));
    await settled();
    left = 0;
    exchanges[0]!.end();
    await Promise.all(runs);
    expect(codes).toEqual(new Array(8).fill("key_tokens_used_up"));
    expect(exchanges).toHaveLength(1);
    expect(remotes.view()[0]!.replicas[0]!).toMatchObject({ open: 0, failed: 0 });
  });
});

describe("draining", () => {
  it("lets running requests finish, sends new ones elsewhere, and rejects waiting ones if none is left", async () => {
    const { remotes, open } = await world();
    const to = model(["a", "b"], { maxRequests: 1 });
    const running = [ask(remotes, to, "one"), ask(remotes, to, "two")];
    await settled();
    const waiting = ask(remotes, to, "three");
    await settled();
    await remotes.drain(named("a:8000"), urlsOf(to));
    open("a")[0]!.end();
    await settled();
    expect([open("a").length, remotes.view()[0]!.waiting]).toEqual([0, 1]);
    await remotes.drain(named("b"), urlsOf(to));
    await waiting.finished;
    expect(waiting.error?.message).toBe(
      "all replicas of m are drained; run `locallm remote resume a:8000` to use this host again",
    );
    open("b")[0]!.end();
    await Promise.all(running.map(({ finished }) => finished));
    expect(running.every(({ error }) => error === null)).toBe(true);
    expect(remotes.view()[0]!.replicas.map(({ state }) => state)).toEqual(["drained", "drained"]);
    await remotes.resume(named("b"), urlsOf(to));
    ask(remotes, to);
    await settled();
    expect(open().map(({ host }) => host)).toEqual(["b"]);
  });

  it("rejects a host that no remote model uses, and names those that are used", async () => {
    const { remotes } = await world();
    await expect(remotes.drain(named("c"), urlsOf(model(["b", "a"])))).rejects.toThrow(
      "no remote model uses host c; remote models use a:8000, b:8000",
    );
    await expect(remotes.resume(named("c"), [])).rejects.toThrow("there is no remote model");
  });

  it("can resume a host whose model was deleted meanwhile", async () => {
    const { remotes } = await world();
    await remotes.drain(named("a"), urlsOf(model("a")));
    await remotes.resume(named("a"), []);
    expect(remotes.view([model("a")])[0]!.replicas[0]!.state).toBe("ready");
  });
});

describe("models", () => {
  it("keep what is known about their replicas when they change", async () => {
    const { remotes, open } = await world();
    ask(remotes, model(["a", "b"], { maxRequests: 1 }));
    await settled();
    const { host } = open()[0]!;
    const changed = model([host, "c"], { maxRequests: 1, weight: 1000 });
    ask(remotes, changed, "hello");
    await settled();
    expect(open().map((each) => each.host)).toEqual([host, "c"]);
    expect(remotes.view([changed])[0]!.replicas.map(({ open }) => open)).toEqual([1, 1]);
  });

  it("that name one replica twice use it once", async () => {
    const { remotes, exchanges } = await world();
    const asked = ask(remotes, model(["a", "a"]));
    await settled();
    exchanges[0]!.fail(unreachable("a"));
    await asked.finished;
    expect(exchanges).toHaveLength(1);
  });
});

describe("many models", () => {
  it("are listed in time that grows with their number, not with its square", async () => {
    const { remotes, clock } = await world();
    let reads = 0;
    const now = clock.now.bind(clock);
    clock.now = () => {
      reads++;
      return now();
    };
    const models = Array.from({ length: 3_000 }, (_, index) => ({ ...model(["a", "b"]), name: `m${index}` }));
    expect(remotes.view(models)).toHaveLength(3_000);
    expect(reads).toBeLessThan(100 * models.length);
  });
});

describe("close", () => {
  it("rejects waiting and new requests, and waits for running ones until the deadline", async () => {
    const { remotes, open, clock } = await world();
    const to = model("a", { maxRequests: 1 });
    const running = ask(remotes, to);
    await settled();
    const waiting = ask(remotes, to);
    await settled();
    let isClosed = false;
    const closed = remotes.close(8_000).then(() => {
      isClosed = true;
    });
    const late = ask(remotes, to);
    await Promise.all([waiting.finished, late.finished]);
    expect([code(waiting), code(late), isClosed]).toEqual(["shutting_down", "shutting_down", false]);
    open()[0]!.end();
    await closed;
    await running.finished;
    expect(running.error).toBeNull();
    const other = await world();
    ask(other.remotes, to);
    await settled();
    const ended = other.remotes.close(8_000);
    await other.clock.pass(8_000);
    await ended;
    await clock.pass(60_000);
    expect(clock.timers).toBe(0);
  });
});

describe("in any order of events", () => {
  it("never leaks or duplicates a place, starves no request, and uses one replica after the first piece", async () => {
    const index = fc.nat(30);
    const hosts = ["a", "b", "c"] as const;
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant("ask" as const),
          key: fc.constantFrom("x", "y", null),
          model: fc.nat(2),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constantFrom("say" as const, "end" as const, "leave" as const, "ignored" as const),
          index,
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant("fail" as const),
          index,
          code: fc.constantFrom(
            "remote_unreachable",
            "remote_failed",
            "remote_busy",
            "remote_refused",
            "remote_broke_off",
            "other",
          ),
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(20_000) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant("probe" as const),
          host: fc.constantFrom(...hosts),
          finds: fc.constantFrom(
            healthy,
            { ...healthy, places: { total: 1, busy: 5 } },
            unreachable("x"),
            undefined,
          ),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constantFrom("drain" as const, "resume" as const),
          host: fc.constantFrom(...hosts),
        }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { remotes, clock, exchanges, open, probes, news } = await world({ maxQueue: 6 });
        const models = [
          model(["a", "b", "c"], { maxRequests: 2 }),
          { ...model(["a", "b"], { maxRequests: 1 }), name: "n" },
          { ...model(["c"]), name: "o" },
        ];
        const asked: Asked[] = [];
        const check = () => {
          for (const { replicas } of remotes.view(models))
            for (const { state, breaker, host } of replicas)
              if (state !== "drained" && breaker === "half-open")
                expect(open(host.replace(":8000", "")).length).toBeLessThanOrEqual(2);
          for (const host of ["a", "b"]) expect(open(host).length).toBeLessThanOrEqual(2);
          const counted = remotes.view(models).flatMap(({ replicas }) => replicas.map(({ open }) => open));
          expect(counted.reduce((sum, each) => sum + each, 0)).toBe(open().length);
          // A request has at most one open exchange, and starts no further one after a piece has arrived.
          for (let number = 0; number < asked.length; number++) {
            const mine = exchanges.filter(({ text }) => text === `question ${number}`);
            expect(mine.filter(({ isOpen }) => isOpen).length).toBeLessThanOrEqual(1);
            expect(mine.findIndex(({ isBegun }) => isBegun)).toBeOneOf([-1, mine.length - 1]);
            expect(new Set(mine.map(({ host }) => host)).size).toBe(mine.length);
          }
        };
        const at = <Item>(items: readonly Item[], index: number) => items[index % Math.max(1, items.length)];
        for (const each of steps) {
          if (each.do === "ask")
            asked.push(ask(remotes, models[each.model]!, `question ${asked.length}`, each.key));
          else if (each.do === "say") at(open(), each.index)?.say("piece");
          else if (each.do === "ignored") {
            const exchange = at(open(), each.index);
            if (exchange?.isBegun === false) exchange.send({ kind: "ignored", fields: ["x"] });
          } else if (each.do === "end") at(open(), each.index)?.end();
          else if (each.do === "leave") at(asked, each.index)?.gone.abort(new Error("gone"));
          else if (each.do === "fail") {
            const details = { host: "h", reason: "r", retryAfterSeconds: 7 };
            const error =
              each.code === "other"
                ? new Error("bug")
                : new LocallmError(each.code as "remote_busy", details);
            at(open(), each.index)?.fail(error);
          } else if (each.do === "pass") await clock.pass(each.ms);
          else if (each.do === "probe") {
            if (each.finds === undefined) probes.delete(each.host);
            else probes.set(each.host, each.finds);
          } else if (each.do === "drain") await remotes.drain(named(each.host), models.flatMap(urlsOf));
          else if (each.do === "resume") await remotes.resume(named(each.host), models.flatMap(urlsOf));
          await settled();
          check();
        }
        // Everything works again: all that wait must be served.
        for (const host of hosts) {
          await remotes.resume(named(host), models.flatMap(urlsOf));
          probes.set(host, healthy);
        }
        for (const each of models) asked.push(ask(remotes, each, `question ${asked.length}`));
        for (let rounds = 0; asked.some(({ isDone }) => !isDone) && rounds < 100; rounds++) {
          for (const each of open()) each.end();
          await clock.pass(1_000);
          check();
        }
        expect(asked.filter(({ isDone }) => !isDone)).toEqual([]);
        const outcomes = news.filter(
          ({ what }) => what === "answered" || what === "cancelled" || what === "failed",
        );
        expect(outcomes.length).toBe(news.filter(({ what }) => what === "given").length);
        expect(
          remotes
            .view()
            .every(({ waiting, replicas }) => waiting === 0 && replicas.every(({ open }) => open === 0)),
        ).toBe(true);
      }),
      { seed: 17, numRuns: 60 },
    );
  });
});
