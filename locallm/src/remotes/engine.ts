import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import type { Turn } from "../dialogue/turn.ts";
import type { Embeddings } from "../wire/inference/embed.ts";
import type { GenerateDone } from "../wire/inference/generate.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import type { Options } from "../wire/options.ts";

export type Protocol = "openai" | "anthropic" | "ollama";

/** One address of an engine. `key` comes from the credentials file, never from a manifest. */
export interface Upstream {
  /** Without a trailing slash, such as `https://gpu1.example:8000/v1`. */
  readonly url: string;
  /** The engine's name for the model, such as `Qwen/Qwen3-32B`. */
  readonly model: string;
  readonly protocol: Protocol;
  readonly key: string | null;
  readonly weight: number;
  /** The most requests at once. Null means no limit. */
  readonly maxRequests: number | null;
}

/** Only the options that the model or the client sets. Nothing is defaulted. */
export type RemoteOptions = Options;

/** A request of a chat API. */
export interface RemoteTurn {
  /** Its messages include the model's own system text and example messages. */
  readonly turn: Turn;
  readonly options: RemoteOptions;
  readonly logprobs?: { readonly top: number };
}

/** A request to continue a text without a template. */
export interface RemoteCompletion {
  readonly prompt: string;
  readonly suffix?: string;
  readonly options: RemoteOptions;
  readonly logprobs?: { readonly top: number };
}

export type RemoteEvent =
  /**
   * Sent at most once, as the first event: the fields that the engine's protocol lacks, by their names in our
   * API.
   */
  | { readonly kind: "ignored"; readonly fields: readonly string[] }
  | AnswerPiece
  | {
      readonly kind: "done";
      readonly done: GenerateDone;
      readonly thinkingTokens: number;
      /** Set if the engine reports no counts, so that they are estimates. Durations may always be measured here. */
      readonly isEstimated?: boolean;
    };

/** The engine has a window of its own. */
export type RemoteRanking = Omit<RankJob, "numCtx">;

/** What an engine reports about itself. */
export interface Probe {
  /** The names of its models. Null if it does not list them. */
  readonly models: readonly string[] | null;
  /** The window of the upstream's model. Null if the engine does not report it. */
  readonly contextLength: number | null;
  /**
   * The requests that it could compute at once, and those it computes now. Null if it does not report them.
   */
  readonly places: { readonly total: number | null; readonly busy: number } | null;
  /** The number of requests that wait in the engine's own queue. Null if it does not report it. */
  readonly waiting: number | null;
}

/**
 * One object per protocol, without state. Every method throws a `LocallmError` with a `remote_` code.
 *
 * @public
 */
export interface RemoteEngine {
  /** Leaving the loop closes the connection, so that the engine stops. */
  turn(upstream: Upstream, ask: RemoteTurn, call: RemoteCall): AsyncIterable<RemoteEvent>;
  complete(upstream: Upstream, ask: RemoteCompletion, call: RemoteCall): AsyncIterable<RemoteEvent>;
  embed(upstream: Upstream, inputs: readonly string[], call: RemoteCall): Promise<Embeddings>;
  rerank(upstream: Upstream, ask: RemoteRanking, call: RemoteCall): Promise<Ranks>;
  /** Throws if the engine is not healthy. */
  probe(upstream: Upstream, call: RemoteCall): Promise<Probe>;
}

export interface RemoteCall {
  readonly fetch: RemoteFetch;
  readonly signal: AbortSignal;
  /** Milliseconds of a monotonic clock; by default `performance.now()`. */
  readonly now?: () => number;
  /** The id of a tool call to which the engine gives none; by default a random one. */
  readonly newCallId?: () => string;
}

/** Sends one request over a connection whose address was checked. Does not follow redirects. */
export type RemoteFetch = (url: URL, request: RemoteRequest) => Promise<RemoteResponse>;

export interface RemoteRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** How long to wait for the answer's first byte, if the default is too long. */
  readonly firstByteMs?: number;
  /** The servers that passed the request on so far, as in the `Via` header. */
  readonly via?: string | undefined;
}

export interface RemoteResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Leaving the loop closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The answer is complete: what follows it does not matter, and the connection may serve the next request. */
  complete(): void;
  /** Closes the connection without reading the rest, unless the answer is complete. */
  close(): void;
}
