import type { Clock } from "../scheduler/clock.ts";
import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import { Breaker, type BreakerState } from "./breaker.ts";
import type { Probe, Upstream } from "./engine.ts";
import { hostOf } from "./failure.ts";

/** What is known about one engine's model. Models of ours that name the same one share it. */
export class Replica {
  readonly host: string;
  readonly breaker: Breaker;
  readonly #clock: Clock;
  /** Requests of ours that it computes now. */
  open = 0;
  /** Requests that it was given so far. */
  given = 0;
  /** Pieces of answers that have arrived so far. */
  pieces = 0;
  probe: Probe | null = null;
  probedAtMs: number | null = null;
  probeStartedMs = -Infinity;
  isProbing = false;
  lastError: { readonly atMs: number; readonly error: LocallmError } | null = null;
  #pausedUntilMs = 0;
  /** The requests of others that it computed when it was probed. */
  #others = 0;

  constructor(clock: Clock, upstream: Upstream) {
    this.#clock = clock;
    this.host = hostOf(upstream);
    this.breaker = new Breaker(clock);
  }

  get load(): number {
    return this.open + this.#others;
  }

  /** The engine answered 429 or 503. Milliseconds until it accepts requests again. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.now());
  }

  hasPlace({ maxRequests }: Upstream): boolean {
    const limit = Math.min(maxRequests ?? Infinity, this.probe?.places?.total ?? Infinity);
    return this.open < Math.max(1, limit) && this.pauseMs === 0 && this.breaker.admits;
  }

  /** Whether its models include the upstream's. True if it does not list them. */
  hasModel({ model }: Upstream): boolean {
    const models = this.probe?.models ?? null;
    return models === null || isListed(model, models);
  }

  /** A request failed. Returns the breaker's state if the error changed it. */
  failed(error: unknown, { model }: Upstream): BreakerState | null {
    if (!(error instanceof LocallmError)) return null;
    const kind = kinds[error.code as ErrorCode];
    // The engine accepts the key and has the model. It rejects what this request asks for, so others may still work.
    const isOwn = kind === "denied" && this.probe?.models != null && isListed(model, this.probe.models);
    return this.#saw(error, isOwn ? "request" : kind);
  }

  #saw(error: LocallmError, kind: Kind | undefined): BreakerState | null {
    if (kind === undefined) return null;
    const before = this.breaker.state;
    if (kind === "request") this.breaker.succeed();
    else this.lastError = { atMs: this.#clock.now(), error };
    if (kind === "busy") this.#pause(Number(error.details["retryAfterSeconds"]));
    if (kind === "down" || kind === "denied" || kind === "fault") this.breaker.fail(kind !== "fault");
    return this.breaker.state === before ? null : this.breaker.state;
  }

  /** Returns the breaker's state if the probe changed it. */
  probed(probe: Probe): BreakerState | null {
    const before = this.breaker.state;
    this.probe = probe;
    this.probedAtMs = this.#clock.now();
    this.#others = Math.max(0, (probe.places?.busy ?? 0) + (probe.waiting ?? 0) - this.open);
    this.breaker.allowTrial();
    return this.breaker.state === before ? null : this.breaker.state;
  }

  /** `pieces` had arrived when the probe started. Returns the breaker's state if the failed probe changed it. */
  probeFailed(error: unknown, pieces: number): BreakerState | null {
    this.probedAtMs = this.#clock.now();
    this.#others = 0;
    // Some engines answer no probes while they compute.
    if (this.pieces > pieces) return null;
    return error instanceof LocallmError ? this.#saw(error, kinds[error.code as ErrorCode]) : null;
  }

  #pause(seconds: number): void {
    const pauseMs = Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : 1_000;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.now() + pauseMs);
  }
}

/** Ollama adds a tag to names without one. */
export function isListed(model: string, models: readonly string[]): boolean {
  return models.some((name) => name === model || name === `${model}:latest`);
}

/**
 * What an error says about the replica. `down`: further requests would fail as well. `denied`: they would too, unless a
 * probe with the same key has found the model. `fault`: they may. `busy`: it asks to wait. `request`: it works, and the request is the problem. `ours`: it was not asked, because our settings forbid
 * it. Other errors say nothing.
 */
const kinds: Partial<Record<ErrorCode, Kind>> = {
  connection_refused: "ours",
  remote_not_allowed: "ours",
  remote_unreachable: "down",
  remote_unauthorized: "denied",
  remote_model_missing: "denied",
  remote_timeout: "fault",
  remote_failed: "fault",
  remote_broke_off: "fault",
  remote_busy: "busy",
  remote_refused: "request",
  remote_prompt_too_long: "request",
};

type Kind = "down" | "denied" | "fault" | "busy" | "request" | "ours";
