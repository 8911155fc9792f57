import type { Clock } from "../scheduler/clock.ts";
import { Queue, type Waiting } from "../scheduler/queue.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Embeddings } from "../wire/inference/embed.ts";
import type { Ranks } from "../wire/inference/rank.ts";
import { hostAndPort, isNamedHost, type NamedHost, namedHostText } from "../wire/remote-address.ts";
import type { BreakerState } from "./breaker.ts";
import { type Candidate, chooseReplica } from "./choice.ts";
import { type ConversationHead, headOfText, headOfTurn, KnownBeginnings } from "./conversation-head.ts";
import type { DrainedHosts } from "./drained-hosts.ts";
import type {
  Protocol,
  RemoteCall,
  RemoteCompletion,
  RemoteEngine,
  RemoteEvent,
  RemoteFetch,
  RemoteRanking,
  RemoteTurn,
  Upstream,
} from "./engine.ts";
import { mayRetryElsewhere } from "./failure.ts";
import { Replica } from "./replica.ts";

/** A model that other engines run. */
export interface RemoteModel {
  readonly name: string;
  readonly digest: string;
  /** Its replicas; at least one. */
  readonly upstreams: readonly Upstream[];
}

export interface RemoteCaller {
  readonly signal: AbortSignal;
  /** The id of the API key. Keys take turns when all replicas are full. */
  readonly key: string | null;
  /** The `Via` header of the client's request. */
  readonly via?: string | undefined;
  /** Called before the request is sent to a replica. An error that it throws ends the request. */
  readonly onPlace?: () => void;
}

export interface RemotesSettings {
  readonly maxQueue: number;
}

/** The dependencies; tests inject their own. */
export interface RemotesParts {
  readonly clock: Clock;
  readonly engines: Readonly<Record<Protocol, RemoteEngine>>;
  readonly fetch: RemoteFetch;
  readonly drained: DrainedHosts;
  readonly onNews?: (news: RemoteNews) => void;
}

/** What happens to a replica, for metrics and the log. */
export type RemoteNews = { readonly model: string; readonly host: string } & (
  | { readonly what: "given"; readonly waitedMs: number; readonly why: string }
  | { readonly what: "first piece"; readonly afterMs: number }
  | { readonly what: "answered" | "cancelled" }
  | { readonly what: "failed"; readonly error: unknown }
  /** The request moves from `host`, which failed, to another replica. */
  | { readonly what: "retry"; readonly why: string }
  | { readonly what: "breaker"; readonly state: BreakerState; readonly why: string }
);

export interface RemoteView {
  readonly model: string;
  /** The number of requests that wait for a place, and how long the oldest has waited. */
  readonly waiting: number;
  readonly oldestMs: number;
  readonly replicas: readonly ReplicaView[];
}

export interface ReplicaView {
  readonly url: string;
  readonly host: string;
  readonly model: string;
  readonly protocol: Protocol;
  /**
   * `drained` gets no new requests. `failing` gets none until its pause ends; then `trial`, until one has shown whether
   * it works. `busy` asked to wait.
   */
  readonly state: "ready" | "busy" | "failing" | "trial" | "drained";
  readonly breaker: BreakerState;
  /** Milliseconds until it gets requests again; 0 if it gets them now. */
  readonly pauseMs: number;
  /** Running requests of this model. */
  readonly open: number;
  readonly answered: number;
  readonly failed: number;
  readonly weight: number;
  readonly maxRequests: number | null;
  /** How many requests the engine computes at once. Null if it does not report that. */
  readonly places: number | null;
  /** Whether the engine lists the model. Null if it does not list its models or was not asked. */
  readonly hasModel: boolean | null;
  readonly probedAtMs: number | null;
  readonly lastError: { readonly atMs: number; readonly message: string } | null;
  /** Why the last request came here. */
  readonly lastChosen: string | null;
}

export interface Remotes {
  /** Leaving the loop stops the engine and frees the replica's place. */
  turn(model: RemoteModel, ask: RemoteTurn, caller: RemoteCaller): AsyncGenerator<RemoteEvent>;
  complete(model: RemoteModel, ask: RemoteCompletion, caller: RemoteCaller): AsyncGenerator<RemoteEvent>;
  embed(model: RemoteModel, inputs: readonly string[], caller: RemoteCaller): Promise<Embeddings>;
  rerank(model: RemoteModel, ask: RemoteRanking, caller: RemoteCaller): Promise<Ranks>;
  /** `models`, or those used since the start. */
  view(models?: readonly RemoteModel[]): RemoteView[];
  /** Sends no new requests to a host. Running ones continue. `urls` are those of all remote models. */
  drain(host: NamedHost, urls: readonly string[]): Promise<void>;
  resume(host: NamedHost, urls: readonly string[]): Promise<void>;
  /** False while the queue is full or the server is shutting down. */
  accepts(): boolean;
  /** Rejects waiting and new requests, and lets running ones finish until the deadline. */
  close(deadlineMs: number): Promise<void>;
}

export function createRemotes(settings: RemotesSettings, parts: RemotesParts): Remotes {
  return new Dispatcher(settings, parts);
}

/** A model's use of a replica. */
interface Member {
  readonly id: string;
  upstream: Upstream;
  readonly replica: Replica;
  open: number;
  answered: number;
  failed: number;
  lastChosen: string | null;
}

interface Group {
  model: RemoteModel;
  members: readonly Member[];
  usedMs: number;
}

interface Waiter extends Waiting {
  readonly group: Group;
  readonly head: ConversationHead | null;
  readonly attempts: Attempts;
  readonly sinceMs: number;
  readonly settle: { resolve(place: Place): void; reject(error: unknown): void };
}

/** The replicas that failed a request. It is never sent to the same one twice. */
type Attempts = Map<Member, LocallmError>;

interface Failure {
  readonly member: Member;
  readonly error: LocallmError;
}

/** The right to send one request to a replica. */
interface Place {
  readonly member: Member;
  /** The first piece has arrived. */
  begun(): void;
  finished(): void;
  failed(error: unknown): void;
  /** Further calls do nothing. */
  release(): void;
}

/**
 * Gives requests places at replicas. Every event ends in `#dispatch`, which gives places to all waiting requests that
 * can have one, and rejects those that cannot get one any more.
 */
class Dispatcher implements Remotes {
  readonly #parts: RemotesParts;
  readonly #clock: Clock;
  readonly #queue: Queue<Waiter>;
  readonly #groups = new Map<string, Group>();
  readonly #replicas = new Map<string, Replica>();
  readonly #known = new KnownBeginnings();
  #tickets = 0;
  #open = 0;
  #isClosing = false;
  #becameIdle: (() => void) | null = null;
  #cancelWake: (() => void) | null = null;
  #isProbing = false;
  #forgotAtMs = -Infinity;

  constructor(settings: RemotesSettings, parts: RemotesParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#queue = new Queue(settings.maxQueue);
  }

  turn(model: RemoteModel, ask: RemoteTurn, caller: RemoteCaller): AsyncGenerator<RemoteEvent> {
    const head = model.upstreams.length > 1 ? headOfTurn(model.name, ask) : null;
    return this.#answer(model, head, caller, (engine, upstream, call) => engine.turn(upstream, ask, call));
  }

  complete(model: RemoteModel, ask: RemoteCompletion, caller: RemoteCaller): AsyncGenerator<RemoteEvent> {
    const head = model.upstreams.length > 1 ? headOfText(model.name, ask) : null;
    return this.#answer(model, head, caller, (engine, upstream, call) =>
      engine.complete(upstream, ask, call),
    );
  }

  embed(model: RemoteModel, inputs: readonly string[], caller: RemoteCaller): Promise<Embeddings> {
    return this.#whole(model, caller, (engine, upstream, call) => engine.embed(upstream, inputs, call));
  }

  rerank(model: RemoteModel, ask: RemoteRanking, caller: RemoteCaller): Promise<Ranks> {
    return this.#whole(model, caller, (engine, upstream, call) => engine.rerank(upstream, ask, call));
  }

  /** Asks for an answer that comes in one piece. */
  async #whole<Answer>(
    model: RemoteModel,
    caller: RemoteCaller,
    ask: (engine: RemoteEngine, upstream: Upstream, call: RemoteCall) => Promise<Answer>,
  ): Promise<Answer> {
    const attempts: Attempts = new Map();
    for (;;) {
      const place = await this.#admitted(model, null, caller, attempts);
      try {
        const { upstream } = place.member;
        const answer = await ask(this.#parts.engines[upstream.protocol], upstream, this.#call(caller));
        place.begun();
        place.finished();
        return answer;
      } catch (error) {
        this.#failed(place, error, { model, caller, attempts, hadBegun: false });
      } finally {
        place.release();
      }
    }
  }

  async *#answer(
    model: RemoteModel,
    head: ConversationHead | null,
    caller: RemoteCaller,
    ask: (engine: RemoteEngine, upstream: Upstream, call: RemoteCall) => AsyncIterable<RemoteEvent>,
  ): AsyncGenerator<RemoteEvent> {
    const attempts: Attempts = new Map();
    for (;;) {
      const place = await this.#admitted(model, head, caller, attempts);
      const { upstream, replica, id } = place.member;
      let hadBegun = false;
      try {
        let ignored: RemoteEvent | null = null;
        for await (const event of ask(this.#parts.engines[upstream.protocol], upstream, this.#call(caller))) {
          replica.pieces++;
          if (!hadBegun) {
            // Kept back, because another replica may ignore other fields.
            if (event.kind === "ignored") {
              ignored = event;
              continue;
            }
            hadBegun = true;
            place.begun();
            if (head !== null) this.#known.remember(head, id);
            if (ignored !== null) yield ignored;
          }
          yield event;
        }
        place.finished();
        return;
      } catch (error) {
        this.#failed(place, error, { model, caller, attempts, hadBegun });
      } finally {
        place.release();
      }
    }
  }

  /** Throws the error unless another replica may be tried. */
  #failed(
    place: Place,
    error: unknown,
    {
      model,
      caller,
      attempts,
      hadBegun,
    }: { model: RemoteModel; caller: RemoteCaller; attempts: Attempts; hadBegun: boolean },
  ): void {
    if (caller.signal.aborted) throw error;
    place.failed(error);
    if (hadBegun || !mayRetryElsewhere(error)) throw error;
    attempts.set(place.member, error as LocallmError);
    if (model.upstreams.length > 1)
      this.#tell(model, place.member, { what: "retry", why: (error as LocallmError).message });
  }

  #call({ signal, via }: RemoteCaller): RemoteCall {
    return { fetch: (url, request) => this.#parts.fetch(url, { ...request, via }), signal };
  }

  /**
   * Waits for a place and then checks the caller's limits again, because the request may have waited for
   * long.
   */
  async #admitted(
    model: RemoteModel,
    head: ConversationHead | null,
    caller: RemoteCaller,
    attempts: Attempts,
  ): Promise<Place> {
    const place = await this.#place(model, head, caller, attempts);
    try {
      caller.onPlace?.();
    } catch (error) {
      place.release();
      throw error;
    }
    return place;
  }

  #place(
    model: RemoteModel,
    head: ConversationHead | null,
    caller: RemoteCaller,
    attempts: Attempts,
  ): Promise<Place> {
    return new Promise((resolve, reject) => {
      const { signal, key } = caller;
      if (signal.aborted) return reject(signal.reason);
      if (this.#isClosing) return reject(new LocallmError("shutting_down", {}));
      const group = this.#groupOf(model);
      this.#probe(group);
      const waiter: Waiter = {
        ...{ group, head, attempts, key },
        line: everyReplica,
        ticket: this.#tickets++,
        sinceMs: this.#clock.now(),
        settle: { resolve, reject },
      };
      // A pause may just have ended; those that waited for it go first.
      if (this.#queue.length > 0) this.#dispatch();
      if (this.#serve(waiter)) return;
      const refused = this.#queue.push(waiter);
      refused?.settle.reject(new LocallmError("queue_full", { waiting: this.#queue.length }));
      if (refused === waiter) return;
      signal.addEventListener("abort", () => this.#abandon(waiter, signal), { once: true });
      this.#armWake();
    });
  }

  /** Gives a request a place or rejects it. Returns false if it has to wait. */
  #serve(waiter: Waiter): boolean {
    const { group, head, attempts, settle } = waiter;
    const untried = group.members.filter((member) => !attempts.has(member));
    const usable = untried.filter((member) => this.#isUsable(member));
    if (usable.length === 0) {
      settle.reject(this.#refusal(group, attempts));
      return true;
    }
    const free = usable.filter(({ replica, upstream }) => replica.hasPlace(upstream));
    if (free.length === 0) return false;
    const { replica: candidate, why } = chooseReplica(free.map(candidateOf), head, this.#known);
    settle.resolve(this.#grant(group, candidate.member, why, waiter.sinceMs));
    return true;
  }

  #grant({ model }: Group, member: Member, why: string, sinceMs: number): Place {
    const { replica } = member;
    const startedMs = this.#clock.now();
    const isTrial = replica.breaker.start();
    replica.open++;
    replica.given++;
    member.open++;
    this.#open++;
    member.lastChosen = why;
    this.#startProbing();
    this.#tell(model, member, { what: "given", waitedMs: startedMs - sinceMs, why });
    let outcome: "answered" | "failed" | "cancelled" = "cancelled";
    let isHeld = true;
    return {
      member,
      begun: () => {
        const before = replica.breaker.state;
        replica.breaker.succeed();
        this.#tell(model, member, { what: "first piece", afterMs: this.#clock.now() - startedMs });
        if (before === "closed") return;
        this.#tell(model, member, { what: "breaker", state: "closed", why: "it answers again" });
        this.#dispatch();
      },
      finished: () => {
        outcome = "answered";
      },
      failed: (error) => {
        outcome = "failed";
        member.failed++;
        this.#tell(model, member, { what: "failed", error });
        this.#breakerChanged(model, member, replica.failed(error, member.upstream), error);
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        replica.open--;
        member.open--;
        this.#open--;
        if (isTrial) replica.breaker.endTrial();
        if (outcome === "answered") member.answered++;
        if (outcome !== "failed") this.#tell(model, member, { what: outcome });
        this.#dispatch();
      },
    };
  }

  /** The error of a request that no replica can take, now or soon. */
  #refusal({ model, members }: Group, attempts: Attempts): LocallmError {
    const serving = members.filter(({ upstream }) => !this.#parts.drained.has(upstream.url));
    const untried = serving.filter((member) => !attempts.has(member));
    const failures = [
      ...[...attempts].map(([member, error]) => ({ member, error })),
      ...untried.map((member) => ({ member, error: member.replica.lastError?.error ?? null })),
    ].filter((failure): failure is Failure => failure.error !== null);
    const [first] = failures;
    if (first === undefined) {
      const host = members[0]!.replica.host;
      return new LocallmError("remote_replicas_drained", { model: model.name, host });
    }
    const pauses = failures.filter(({ error }) => error.code === "remote_busy");
    const retryAfterSeconds = Math.max(
      1,
      Math.ceil(Math.min(...pauses.map(({ member }) => member.replica.pauseMs)) / 1000),
    );
    if (failures.length === 1) {
      if (pauses.length === 0) return first.error;
      const { host = "", reason = "" } = first.error.details;
      return new LocallmError("remote_busy", { host, reason, retryAfterSeconds }, { cause: first.error });
    }
    const reasons = failures.map((failure) => describeFailure(failure, attempts)).join("; ");
    const details = { model: model.name, reasons };
    return pauses.length > 0
      ? new LocallmError("remote_replicas_busy", { ...details, retryAfterSeconds })
      : new LocallmError("remote_replicas_failed", details);
  }

  /** Whether the replica can take requests now or soon. */
  #isUsable({ upstream, replica }: Member): boolean {
    if (this.#parts.drained.has(upstream.url)) return false;
    return replica.breaker.state !== "open" && replica.pauseMs <= longestWaitMs;
  }

  /** Called when the client disconnects. */
  #abandon(waiter: Waiter, signal: AbortSignal): void {
    if (this.#queue.remove(waiter)) waiter.settle.reject(signal.reason);
  }

  #dispatch(): void {
    if (this.#isClosing) {
      if (this.#open === 0) this.#becameIdle?.();
      return;
    }
    const full = new Set<Group>();
    for (const waiter of [...this.#queue.inTurn(everyReplica)]) {
      const isFirstAttempt = waiter.attempts.size === 0;
      if (isFirstAttempt && full.has(waiter.group)) continue;
      if (this.#serve(waiter)) this.#queue.serve(waiter);
      else if (isFirstAttempt) full.add(waiter.group);
    }
    this.#armWake();
  }

  /** Dispatches again when a pause ends for which a request may be waiting. */
  #armWake(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    let nextMs = Infinity;
    for (const { members } of this.#waitingGroups())
      for (const { replica } of members)
        for (const pauseMs of [replica.pauseMs, replica.breaker.pauseMs])
          if (pauseMs > 0) nextMs = Math.min(nextMs, pauseMs);
    if (nextMs < Infinity) this.#cancelWake = this.#clock.after(nextMs, () => this.#dispatch());
  }

  #waitingGroups(): Set<Group> {
    return new Set(this.#queue.line(everyReplica).map(({ group }) => group));
  }

  /** Asks replicas for their health in the background. Requests do not wait for it. */
  #probe({ model, members }: Group): void {
    for (const member of members) {
      const { replica, upstream } = member;
      const isRecent = this.#clock.now() - replica.probeStartedMs < probeEveryMs;
      if (replica.isProbing || isRecent || this.#parts.drained.has(upstream.url)) continue;
      void this.#probeMember(model, member);
    }
  }

  async #probeMember(model: RemoteModel, member: Member): Promise<void> {
    const { replica, upstream } = member;
    replica.isProbing = true;
    const { pieces } = replica;
    replica.probeStartedMs = this.#clock.now();
    const timeout = new AbortController();
    const late = new LocallmError("remote_timeout", { host: replica.host, seconds: probeTimeoutMs / 1000 });
    const cancel = this.#clock.after(probeTimeoutMs, () => timeout.abort(late));
    try {
      const call = { fetch: this.#parts.fetch, signal: timeout.signal };
      const probe = await this.#parts.engines[upstream.protocol].probe(upstream, call);
      this.#breakerChanged(model, member, replica.probed(probe), null);
    } catch (thrown) {
      const error = timeout.signal.aborted ? late : thrown;
      this.#breakerChanged(model, member, replica.probeFailed(error, pieces), error);
    } finally {
      cancel();
      replica.isProbing = false;
    }
    this.#dispatch();
  }

  /** Probes again and again while requests run or wait. An idle server has no timer. */
  #startProbing(): void {
    if (this.#isProbing) return;
    this.#isProbing = true;
    this.#clock.after(probeEveryMs, () => {
      this.#isProbing = false;
      if (this.#isClosing || (this.#open === 0 && this.#queue.length === 0)) return;
      const waiting = this.#waitingGroups();
      for (const group of this.#groups.values())
        if (waiting.has(group) || group.members.some(({ open }) => open > 0)) this.#probe(group);
      this.#startProbing();
    });
  }

  #breakerChanged(model: RemoteModel, member: Member, state: BreakerState | null, error: unknown): void {
    if (state === null) return;
    const why = error instanceof LocallmError ? error.message : "it answers again";
    this.#tell(model, member, { what: "breaker", state, why });
  }

  #tell({ name }: RemoteModel, { replica }: Member, news: OmitEach<RemoteNews, "model" | "host">): void {
    this.#parts.onNews?.({ model: name, host: replica.host, ...news });
  }

  /** What is known about a model and its replicas. A changed model keeps what is known about those it still has. */
  #groupOf(model: RemoteModel): Group {
    const group = this.#groups.get(model.name);
    if (group?.model === model) {
      group.usedMs = this.#clock.now();
      return group;
    }
    const members = new Map<string, Member>();
    for (const upstream of model.upstreams) {
      const id = identity(upstream);
      const known = group?.members.find((member) => member.id === id);
      if (known !== undefined) known.upstream = upstream;
      const replica = this.#replicas.get(id) ?? new Replica(this.#clock, upstream);
      this.#replicas.set(id, replica);
      const added = { id, upstream, replica, open: 0, answered: 0, failed: 0, lastChosen: null };
      if (!members.has(id)) members.set(id, known ?? added);
    }
    const fields = { model, members: [...members.values()], usedMs: this.#clock.now() };
    if (group !== undefined) return Object.assign(group, fields);
    this.#groups.set(model.name, fields);
    this.#forgetUnused();
    return fields;
  }

  /** Otherwise deleted models would stay in memory forever. Looks at all models, so it runs rarely. */
  #forgetUnused(): void {
    if (this.#clock.now() - this.#forgotAtMs < forgetEveryMs) return;
    this.#forgotAtMs = this.#clock.now();
    const waiting = this.#waitingGroups();
    for (const [name, group] of this.#groups) {
      const isOld = this.#clock.now() - group.usedMs > forgetAfterMs;
      if (isOld && !waiting.has(group) && group.members.every(({ open }) => open === 0))
        this.#groups.delete(name);
    }
    const used = new Set(
      [...this.#groups.values()].flatMap(({ members }) => members.map(({ replica }) => replica)),
    );
    for (const [id, replica] of this.#replicas)
      if (!used.has(replica) && replica.open === 0) this.#replicas.delete(id);
  }

  view(models?: readonly RemoteModel[]): RemoteView[] {
    const now = this.#clock.now();
    const waiters = this.#queue.line(everyReplica);
    const wasUsed = (group: Group) =>
      group.members.some(({ lastChosen }) => lastChosen !== null) ||
      waiters.some((waiter) => waiter.group === group);
    const groups = models?.map((model) => this.#groupOf(model)) ?? [...this.#groups.values()].filter(wasUsed);
    return groups.map((group) => {
      const waiting = waiters.filter((waiter) => waiter.group === group);
      return {
        model: group.model.name,
        waiting: waiting.length,
        oldestMs: Math.max(0, ...waiting.map(({ sinceMs }) => now - sinceMs)),
        replicas: group.members.map((member) => this.#replicaView(member)),
      };
    });
  }

  #replicaView({ upstream, replica, ...member }: Member): ReplicaView {
    const { breaker, lastError } = replica;
    const { state } = breaker;
    const pauseMs = Math.max(replica.pauseMs, breaker.pauseMs);
    const states = { closed: pauseMs > 0 ? "busy" : "ready", open: "failing", "half-open": "trial" } as const;
    return {
      url: upstream.url,
      host: replica.host,
      model: upstream.model,
      protocol: upstream.protocol,
      state: this.#parts.drained.has(upstream.url) ? "drained" : states[state],
      breaker: state,
      pauseMs,
      open: member.open,
      answered: member.answered,
      failed: member.failed,
      weight: upstream.weight,
      maxRequests: upstream.maxRequests,
      places: replica.probe?.places?.total ?? null,
      hasModel: replica.probe?.models == null ? null : replica.hasModel(upstream),
      probedAtMs: replica.probedAtMs,
      lastError: lastError === null ? null : { atMs: lastError.atMs, message: lastError.error.message },
      lastChosen: member.lastChosen,
    };
  }

  async drain(host: NamedHost, urls: readonly string[]): Promise<void> {
    this.#requireNamed(host, urls);
    await this.#parts.drained.add(host);
    this.#dispatch();
  }

  async resume(host: NamedHost, urls: readonly string[]): Promise<void> {
    if (!this.#parts.drained.includes(host)) this.#requireNamed(host, urls);
    await this.#parts.drained.remove(host);
    this.#dispatch();
  }

  #requireNamed(host: NamedHost, urls: readonly string[]): void {
    if (urls.some((url) => isNamedHost(url, host))) return;
    const hosts = [...new Set(urls.map(hostAndPort))].sort();
    const known = hosts.length === 0 ? "there is no remote model" : `remote models use ${hosts.join(", ")}`;
    throw new LocallmError("remote_host_unknown", { host: namedHostText(host), known });
  }

  accepts(): boolean {
    return !this.#isClosing && !this.#queue.isFull;
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true;
    this.#cancelWake?.();
    for (const { settle } of this.#queue.take(everyReplica))
      settle.reject(new LocallmError("shutting_down", {}));
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#becameIdle = resolve;
      this.#clock.after(deadlineMs, resolve);
    });
  }
}

/** All requests wait in one line, because models may share replicas. */
const everyReplica = "";
const probeEveryMs = 10_000;
const probeTimeoutMs = 5_000;
/** A request waits for a busy engine no longer than this. */
const longestWaitMs = 30_000;
const forgetAfterMs = 3_600_000;
const forgetEveryMs = 60_000;

type OmitEach<Union, Names extends PropertyKey> = Union extends unknown ? Omit<Union, Names> : never;

/** Models share what is known about a replica only if they reach it in the same way. */
function identity({ protocol, url, model, key }: Upstream): string {
  return JSON.stringify([protocol, url, model, key]);
}

function candidateOf(member: Member): Candidate & { readonly member: Member } {
  const { id, upstream, replica } = member;
  const { load, given } = replica;
  return { id, member, load, given, weight: upstream.weight, hasModel: replica.hasModel(upstream) };
}

function describeFailure({ member, error }: Failure, attempts: Attempts): string {
  if (attempts.has(member)) return error.message;
  const seconds = Math.ceil(Math.max(member.replica.pauseMs, member.replica.breaker.pauseMs) / 1000);
  return `${error.message} (not tried again for ${seconds} s)`;
}
