import type { FastifyReply, FastifyRequest } from "fastify";
import type { PromptVocabulary } from "../dialogue/dialogue.ts";
import type { SchemaThreads } from "../dialogue/grammar/schema-threads.ts";
import type { Image, Sound } from "../dialogue/turn.ts";
import type { Caller } from "../keys/keys.ts";
import { sensesOf } from "../library/abilities.ts";
import type { Model } from "../library/model.ts";
import { headerLengths, headerOf } from "../library/model-details.ts";
import type { RemoteModel } from "../remotes/remotes.ts";
import type {
  Lease,
  LeaseRequest,
  LoadedVocabulary,
  LoadWish,
  RunnableModel,
  WindowSizing,
} from "../scheduler/lease.ts";
import type { PictureParts } from "../vision/vision.ts";
import { counted } from "../wire/counted.ts";
import { parseKeepAlive } from "../wire/duration.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateDone, GenerateEvent, GenerateJob } from "../wire/inference/generate.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import { displayModelName } from "../wire/model-name.ts";
import {
  type CompleteOptions,
  mergeOptions,
  modelOptions,
  type Options,
  parseOptions,
} from "../wire/options.ts";
import { tellIgnored } from "./body.ts";
import { requireMadeFor } from "./capabilities.ts";
import { requireModel } from "./known-model.ts";
import { meteredEmbed, meteredGenerate, meteredRank } from "./metering.ts";
import type { StreamOutlet } from "./outlet.ts";
import type { Parts } from "./parts.ts";
import { RequestWindow, type WindowSource, windowSource } from "./window.ts";

/** The fields that all requests to run a model share. */
export interface RunRequest {
  readonly model: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly keep_alive?: unknown;
}

/** A request whose model was found. */
export type Run = LocalRun | RemoteRun;

interface AnyRun {
  readonly model: Model;
  /** The model name as the client wrote it, which answers repeat. */
  readonly typedName: string;
  readonly keepAliveMs: number;
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** `performance.now()` at the request's start. */
  readonly startedMs: number;
  readonly schemas: SchemaThreads;
  /** Reports fields that have no effect, in a header and in the log. */
  tellIgnored(names: readonly string[]): void;
  /** Adds a finished generation to the metrics and the log. */
  count(done: GenerateDone): void;
  /** Adds a finished embedding to the metrics and the log. Returns the number of tokens of all inputs. */
  countEmbedded(tokens: readonly number[]): number;
}

/** A request for a model that other engines serve. */
export interface RemoteRun extends AnyRun {
  readonly remote: RemoteModel;
  /** The `Via` header: the servers that passed the request on to this one. */
  readonly via: string | undefined;
  /** Only what the model or the request sets. */
  readonly options: Options;
}

/** A request for a model of this machine, which may not be loaded yet. */
export interface LocalRun extends AnyRun {
  readonly remote: null;
  readonly runnable: RunnableModel;
  readonly options: CompleteOptions;
  /** Waits for the model and a slot. Release the lease when the answer is done. */
  lease(uses?: "slot" | "load" | "visit", sizing?: WindowSizing): Promise<Lease>;
  /** The size of the request's window, and whether the window can grow. */
  readonly window: RequestWindow;
  /** The properties of the vocabulary that the model's template needs. */
  promptVocabulary(loaded: Pick<LoadedVocabulary, "info">): PromptVocabulary;
  /** Encodes an image or sound with the model's projector, before the model is loaded. */
  perceive(medium: Image | Sound): Promise<PictureParts>;
  /**
   * Generates in the lease's slot. The tokens count towards the caller's limits, also if the answer is cut off. With an
   * outlet, the runner may write texts to the client.
   */
  generate(lease: Lease, job: GenerateJob, outlet?: StreamOutlet | null): AsyncIterable<GenerateEvent>;
  /** Embeds in the lease's slot. The tokens count towards the caller's limits. */
  embed(lease: Lease, job: EmbedJob): Promise<Embeddings>;
  /** Ranks in the lease's slot. The tokens count towards the caller's limits. */
  rank(lease: Lease, job: RankJob): Promise<Ranks>;
}

/**
 * Resolves the model, checks that it is made for what the route asks (the `model` of the route's row in `access.ts`), and
 * validates the options. Makes every check that does not need to wait.
 */
export async function prepareRun(
  parts: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  body: RunRequest,
): Promise<Run> {
  const model = await requireModel(parts, request, body.model);
  const { caller } = request;
  const { options: given, unknown } = parseOptions(body.options ?? {});
  tellIgnored(
    reply,
    unknown.map((name) => `options.${name}`),
  );
  const { options: own, bad } = modelOptions(model.params);
  tellIgnored(
    reply,
    bad.map((name) => `model.${name}`),
  );
  const keepAliveMs =
    body.keep_alive === undefined ? parts.settings.keepAliveMs : parseKeepAlive(body.keep_alive);
  const name = displayModelName(model.name);
  request.logFields["model"] = name;
  const need = request.routeOptions.config.access?.model;
  if (need !== undefined) await requireMadeFor(parts, model, need, body.model);
  const run: AnyRun = {
    model,
    typedName: body.model,
    keepAliveMs,
    signal: request.clientGone,
    caller,
    startedMs: request.startedMs,
    schemas: parts.schemas,
    tellIgnored: (names) => tellIgnored(reply, names),
    count(done) {
      const labels = { model: name };
      parts.metrics.promptTokens.inc(labels, done.promptTokens);
      parts.metrics.cachedTokens.inc(labels, done.cachedTokens);
      parts.metrics.generatedTokens.inc(labels, done.evalTokens);
      parts.metrics.draftTokens.inc(labels, done.drafts?.tokens ?? 0);
      parts.metrics.acceptedDraftTokens.inc(labels, done.drafts?.accepted ?? 0);
      request.logFields["promptTokens"] = done.promptTokens;
      request.logFields["cachedTokens"] = done.cachedTokens;
      request.logFields["evalTokens"] = done.evalTokens;
      if (done.drafts) request.logFields["drafts"] = done.drafts;
    },
    countEmbedded(tokens) {
      const count = tokens.reduce((sum, each) => sum + each, 0);
      parts.metrics.promptTokens.inc({ model: name }, count);
      request.logFields["promptTokens"] = count;
      return count;
    },
  };
  if (model.remotes !== null) {
    if (body.keep_alive !== undefined) tellIgnored(reply, ["keep_alive"]);
    const remote = await parts.remoteAccess.modelOf(model);
    return { ...run, remote, via: request.headers.via, options: { ...own, ...given } };
  }
  return await prepareLocalRun(parts, request, run, { own, given });
}

async function prepareLocalRun(
  parts: Parts,
  request: FastifyRequest,
  run: AnyRun,
  { own, given }: { readonly own: Options; readonly given: Options },
): Promise<LocalRun> {
  const { caller, keepAliveMs } = run;
  const source = windowSource(parts.settings.contextLength, own, given);
  const options = mergeOptions(own, given, { num_ctx: source.numCtx });
  const { length: adapters } = run.model.adapterPaths;
  const absent = options.lora?.find(({ id }) => id >= adapters);
  if (absent !== undefined)
    throw new LocallmError("invalid_field", {
      field: "lora",
      problem: `names adapter ${absent.id}, but the model has ${counted(adapters, "adapter")}, numbered from 0`,
    });
  const runnable = await runnableModel(parts, run.model);
  const load = loadWish(options, source);
  const lease = async (uses: LeaseRequest["uses"], wish: LoadWish, sizing?: WindowSizing) => {
    const granted = await parts.scheduler.lease({
      ...{ model: runnable, load: wish, keepAliveMs, uses, sizing },
      ...{ key: caller.id, signal: request.clientGone },
    });
    parts.metrics.queueSeconds.observe({ model: runnable.name }, granted.waitedMs / 1000);
    const waitedMs = Number(request.logFields["waitedMs"] ?? 0);
    request.logFields["waitedMs"] = Math.round(waitedMs + granted.waitedMs);
    return granted;
  };
  return {
    ...run,
    remote: null,
    runnable,
    options,
    lease: (uses = "slot", sizing = undefined) => lease(uses, load, sizing),
    window: new RequestWindow({
      ...{ scheduler: parts.scheduler, model: runnable, load, source, options, signal: request.clientGone },
      lease: (wish) => lease("slot", wish),
    }),
    promptVocabulary({ info }) {
      const { addBos, markers } = info;
      return { addBos, markers: parts.settings.specialTokens === "everywhere" ? [] : markers };
    },
    perceive: (medium) => {
      const { data, field = "images" } = medium;
      const kind = "format" in medium ? "sound" : "picture";
      const { modelPath, furtherPaths } = runnable;
      const threads = options.num_thread || undefined;
      const weights = {
        modelPath,
        ...(furtherPaths === undefined ? {} : { furtherPaths }),
        ...(threads === undefined ? {} : { threads }),
      };
      const projectorPath = runnable.senses?.projectorPath ?? "";
      return parts.vision.encode({ kind, data, field }, { ...weights, projectorPath }, request.clientGone);
    },
    generate: (lease, job, outlet) => meteredGenerate(lease.runner, job, caller, request.clientGone, outlet),
    embed: (lease, job) => meteredEmbed(lease.runner, job, caller, request.clientGone),
    rank: (lease, job) => meteredRank(lease.runner, job, caller, request.clientGone),
  };
}

/** Throws `unsupported_capability` for a remote model. */
export function localRun(run: Run, capability: string): LocalRun {
  if (run.remote === null) return run;
  throw new LocallmError("unsupported_capability", {
    model: run.typedName,
    capability: `${capability}, because it is a remote model`,
  });
}

async function runnableModel(parts: Parts, model: Model): Promise<RunnableModel> {
  const [modelPath, ...furtherPaths] = model.modelPaths;
  const name = displayModelName(model.name);
  if (modelPath === undefined) throw new LocallmError("model_load_failed", { reason: "it has no weights" });
  const header = await headerOf(parts.store, model);
  const [draftPath] = model.draftPaths;
  for (const path of [...model.adapterPaths, ...model.draftPaths]) await parts.store.headers.of(path);
  const senses = await sensesOf(parts.store, model);
  const derived = header === null ? null : await parts.derived.pathFor(model, header);
  return {
    name,
    digest: model.digest,
    modelPath: derived ?? modelPath,
    ...(furtherPaths.length === 0 ? {} : { furtherPaths }),
    weights: model.modelPaths.join("\n"),
    ...(senses === null ? {} : { senses }),
    ...(draftPath === undefined ? {} : { draftPath }),
    adapters: model.adapterPaths.map((path) => ({ path, scale: 1 })),
    trainContext: header === null ? null : (headerLengths(header).contextLength ?? null),
  };
}

function loadWish(options: CompleteOptions, { numCtx, why, isAutomatic }: WindowSource): LoadWish {
  return {
    ...{ numCtx, whyCtx: why, isAutomatic },
    numBatch: options.num_batch ?? null,
    numThread: options.num_thread || null,
    numGpu: options.num_gpu === undefined || options.num_gpu < 0 ? null : options.num_gpu,
    mainGpu: options.main_gpu ?? null,
    cpuExperts: options.n_cpu_moe ?? null,
    shares: options.tensor_split ?? null,
    useMmap: options.use_mmap ?? null,
  };
}
