import { randomUUID } from "node:crypto";
import { chmod } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import {
  baseUrl,
  type Config,
  cacheLimitBytes,
  type HostAddress,
  readConfig,
  shownConfig,
} from "./config.ts";
import { KeptConversations } from "./conversations/conversations.ts";
import { StateFiles } from "./conversations/state-files.ts";
import { SchemaThreads } from "./dialogue/grammar/schema-threads.ts";
import { TemplateThreads } from "./dialogue/template-threads.ts";
import { Accelerator } from "./gpu/accelerator.ts";
import { availableBytes } from "./gpu/available-memory.ts";
import type { BackendChoice } from "./gpu/backend.ts";
import { multipliesBf16 } from "./gpu/fast-types.ts";
import { thisMachine } from "./gpu/hardware.ts";
import { devicesIn, machineBackend, visibleDevices } from "./gpu/machine.ts";
import { createApp } from "./http/app.ts";
import { type BodyLimits, defaultBodyLimits } from "./http/body.ts";
import { Dialogues } from "./http/dialogues.ts";
import { createMetrics, type Metrics } from "./http/metrics.ts";
import { ResponseFiles } from "./http/openai/response-files.ts";
import { ResponseStore } from "./http/openai/response-store.ts";
import { Keys } from "./keys/keys.ts";
import { systemKeyClock } from "./keys/usage.ts";
import { DerivedWeights, removeDerived } from "./library/derived.ts";
import { makeFolder } from "./library/durable.ts";
import { removeAbandonedQuantizations } from "./library/quantize.ts";
import { Store } from "./library/store.ts";
import { createLog, type LogDestination, logTo, type ServerLog, silentLog } from "./log.ts";
import { RemoteConnections } from "./remotes/connection.ts";
import { DrainedHosts } from "./remotes/drained-hosts.ts";
import { engines } from "./remotes/engines.ts";
import { RemoteAccess } from "./remotes/remote-access.ts";
import { createRemotes, type RemoteNews } from "./remotes/remotes.ts";
import type { StartRunner } from "./runner/handle.ts";
import { measureLoad } from "./runner/measure.ts";
import { quantizeInChild } from "./runner/quantize.ts";
import { rememberingStart } from "./runner/start.ts";
import { systemClock } from "./scheduler/clock.ts";
import type { Decision, Scheduler } from "./scheduler/lease.ts";
import { MemoryNeeds } from "./scheduler/memory-needs.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { CredentialsFile } from "./sources/credentials.ts";
import { networkSettings } from "./sources/network-settings.ts";
import { Pulls } from "./sources/pulls.ts";
import { RemoteHosts } from "./sources/remote-hosts.ts";
import { WebPictures } from "./sources/web-pictures.ts";
import { version } from "./version.ts";
import { Vision } from "./vision/vision.ts";
import { isLoopback } from "./wire/address.ts";
import { LocallmError } from "./wire/errors.ts";

/** A listening server in this process; models run in child processes. */
export interface Server {
  readonly url: string;
  readonly store: Store;
  readonly pulls: Pulls;
  readonly log: Logger;
  /** The engine build that runs models, and why. */
  readonly backend: BackendChoice;
  /** Whether requests need a key. */
  readonly requiresKey: boolean;
  /** Sets a line that `/` adds to its answer, such as why there is no model yet and what to do. Null removes it. */
  notify(notice: string | null): void;
  /** Rejects new requests, lets running ones finish until the deadline, then stops all child processes. */
  close(limitMs?: number): Promise<void>;
}

/** Parts that an embedding program may replace. */
export interface ServerParts {
  /** A logger, or false for no log. Default: JSON lines to `logTo`. */
  readonly log?: Logger | false;
  /** Default: standard error. */
  readonly logTo?: LogDestination;
  readonly startRunner?: StartRunner;
  readonly bodyLimits?: BodyLimits;
  /** Where a service of systemd listens. Default: a new socket, which ends with this process. */
  readonly socket?: LastingSocket;
}

/** A listening socket that outlives this process. Its type is told here, because the package has no other's types. */
export interface LastingSocket {
  /** A socket that already listens; undefined if there is none. */
  readonly descriptor: number | undefined;
  /** Keeps the socket on which the server listens. */
  keep(server: HttpServer): void;
  /** Whether callers wait for the next process. */
  readonly isKept: boolean;
  /** Says that the service stops, and asks not to be killed for so long. */
  stopping(limitMs: number): void;
  /** Leaves new connections to the next process, and waits until those that there are have ended. */
  leave(server: HttpServer, limitMs: number): Promise<void>;
}

/** Assembles the server and starts listening. Throws `address_in_use` and the errors of the models folder. */
export async function createServer(config: Config = readConfig(), parts: ServerParts = {}): Promise<Server> {
  const { log, writeRequest } = openLog(config, parts);
  await makeModelsFolder(config.modelsFolder);
  const store = new Store(config.modelsFolder);
  await removeAbandonedQuantizations(store);
  await removeDerived(store, { dryRun: false, onlyOrphans: true });
  const metrics = createMetrics();
  const conversations = await openConversations(config, log, () => scheduler.freeBytes());
  const responses = await openResponses(config, log);
  const backend = machineBackend(config);
  const accelerator = new Accelerator(backend, (folder) => devicesIn(folder, config), config);
  const memoryNeeds = new MemoryNeeds({
    store,
    measure: measureLoad,
    hasGpu: backend.folder !== null,
    availableBytes: () => scheduler.loadableBytes(),
  });
  const scheduler: Scheduler = createScheduler(
    {
      slots: config.numParallel,
      maxLoadedModels: config.maxLoadedModels,
      maxQueue: config.maxQueue,
      loadTimeoutMs: config.loadTimeoutMs,
      flashAttention: config.flashAttention,
      kvCacheType: config.kvCacheType,
      sharedCache: config.sharedCache,
      drafts: config.drafts,
      environment: visibleDevices(config),
    },
    {
      clock: systemClock,
      startRunner: keepingStart(parts.startRunner ?? rememberingStart(), conversations),
      needs: (model, load) => memoryNeeds.of(model, load),
      place: (needs, wish) => accelerator.place(needs, wish),
      availableBytes,
      conversations,
      onDecision: (decision) => record(decision, metrics, log),
      onLog: (model, line) => log.debug({ model, line }, "engine"),
    },
  );

  const credentials = new CredentialsFile(config.credentialsFile);
  const remoteHosts = new RemoteHosts({ file: config.remoteHostsFile, named: config.remotes });
  const network = await networkSettings(config);
  const viaName = `locallm-${randomUUID()}`;
  const connections = new RemoteConnections({
    viaName,
    addressCheck: (url) => remoteHosts.addressCheck(url),
    firstByteMs: config.remoteTimeoutMs,
    ...(network.certificates === undefined ? {} : { certificates: network.certificates }),
  });
  const remotes = createRemotes(
    { maxQueue: config.maxQueue },
    {
      clock: systemClock,
      engines,
      fetch: connections.fetch,
      drained: await DrainedHosts.open(config.drainedHostsFile),
      onNews: (news) => recordRemote(news, metrics, log),
    },
  );
  const vision = new Vision({
    enginesFolder: config.enginesFolder,
    availableBytes,
    onPicture: (outcome) => metrics.pictures.inc({ outcome }),
  });
  const derived = new DerivedWeights({
    store,
    quantizer: quantizeInChild,
    availableBytes,
    // GPUs multiply both alike, if they know BF16 at all.
    isFaster: config.derived && backend.folder === null && multipliesBf16(thisMachine),
    pause: (signal) => sleep(derivedPauseMs, undefined, { signal, ref: false }),
    onMade: (name) => log.info({ file: name }, "made a faster file of a model"),
    onProblem: (error) => log.warn({ err: error }, "made no faster file of a model"),
  });
  const pulls = new Pulls(store, {
    network,
    registries: config.registries,
    credentials,
    remoteHosts,
  });
  const keys = await Keys.open({
    folder: config.keysFolder,
    administrator: config.apiKey,
    clock: systemKeyClock,
    after: systemClock.after,
    onProblem: (problem, error) => log.error({ err: error }, problem),
  });
  const templates = new TemplateThreads();
  const schemas = new SchemaThreads();
  let notice: string | null = null;
  const app = createApp({
    version,
    store,
    keys,
    dialogues: new Dialogues(store, templates, systemClock),
    templates,
    schemas,
    scheduler,
    conversations,
    quantizer: quantizeInChild,
    derived,
    vision,
    webPictures: new WebPictures(pulls.network, config.imageHosts),
    availableBytes,
    pulls,
    responses,
    remoteHosts,
    remoteAccess: new RemoteAccess(remoteHosts, credentials),
    remotes,
    settings: {
      defences: {
        loopbackOnly: isLoopback(config.host.hostname ?? ""),
        origins: config.origins,
        viaName,
      },
      bodyLimits: parts.bodyLimits ?? defaultBodyLimits,
      keepAliveMs: config.keepAliveMs,
      contextLength: config.contextLength,
      ollamaVersion: config.ollamaVersion,
      generate: config.generate,
      specialTokens: config.specialTokens,
      notice: () => notice,
    },
    log,
    writeRequest,
    metrics,
    now: () => new Date(),
  });
  const port = await listen(app, config.host, parts.socket?.descriptor);
  parts.socket?.keep(app.server);
  log.info({ settings: shownConfig(config) }, "settings");
  log.info({ backend: backend.backend ?? "cpu", why: backend.why }, "backend");

  let closing: Promise<void> | null = null;
  return {
    url: baseUrl({ ...config.host, port, scheme: "http", path: "" }),
    store,
    pulls,
    log,
    backend,
    requiresKey: keys.areRequired,
    notify(text) {
      notice = text;
    },
    close(limitMs) {
      closing ??= close(limitMs);
      return closing;
    },
  };

  async function close(givenMs?: number): Promise<void> {
    const { socket } = parts;
    const isKept = socket?.isKept === true;
    const limitMs = givenMs ?? config.stopTimeoutMs ?? (isKept ? keptDrainMs : drainMs);
    const lastMs = isKept ? Math.min(drainMs, limitMs) : limitMs;
    socket?.stopping(limitMs + closingMs);
    await socket?.leave(app.server, limitMs - lastMs);
    conversations.closing();
    await Promise.all([scheduler.close(lastMs), remotes.close(lastMs)]);
    connections.close();
    await conversations.close();
    templates.close();
    schemas.close();
    await derived.close();
    await vision.close();
    pulls.close();
    const closed = app.close();
    // Give slow readers a moment for the last bytes, then close their connections so that the process can exit.
    systemClock.after(lastBytesMs, () => app.server.closeAllConnections());
    await closed;
    await keys.close();
  }
}

/**
 * Opens the store of conversations. Computes its memory limit once at the start, so that it stays constant.
 * Throws `invalid_setting` if the folder cannot be used.
 */
async function openConversations(
  config: Config,
  log: Logger,
  freeBytes: () => number,
): Promise<KeptConversations> {
  const memoryBytes = cacheLimitBytes(config, availableBytes());
  const limits = { memoryBytes, availableBytes: freeBytes };
  const { cacheFolder: folder, cacheDiskBytes: limitBytes } = config;
  if (limitBytes === 0) return new KeptConversations(limits);
  try {
    await makeFolder(folder);
    await chmod(folder, 0o700);
    const onProblem = (problem: string, error: unknown) => log.warn({ err: error }, problem);
    return new KeptConversations(
      limits,
      await StateFiles.open({ folder, limitBytes, now: () => new Date(), onProblem }),
    );
  } catch (cause) {
    throw unusableFolder("LOCALLM_CACHE_FOLDER", folder, cause);
  }
}

/** Throws `invalid_setting` if the folder cannot be used. */
async function openResponses(config: Config, log: Logger): Promise<ResponseStore> {
  const { responsesFolder: folder, responsesBytes: bytes, responsesLifetimeMs: lifetimeMs } = config;
  const limits = { bytes, lifetimeMs, now: () => Date.now() };
  if (folder === null) return await ResponseStore.open(limits);
  const onProblem = (problem: string, error: unknown) => log.warn({ err: error }, problem);
  try {
    return await ResponseStore.open(limits, new ResponseFiles(folder, onProblem));
  } catch (cause) {
    throw unusableFolder("LOCALLM_RESPONSES_FOLDER", folder, cause);
  }
}

function unusableFolder(variable: string, folder: string, cause: unknown): LocallmError {
  const problem = `the folder cannot be used (${(cause as NodeJS.ErrnoException).code})`;
  return new LocallmError("invalid_setting", { variable, value: JSON.stringify(folder), problem }, { cause });
}

function keepingStart(start: StartRunner, conversations: KeptConversations): StartRunner {
  return (load, more) => start(load, { ...more, conversations });
}

/** How long open requests may go on. Docker kills after 10 s. */
const drainMs = 8_000;
/** The same where callers wait for the next process; as long as systemd gives a service by default. */
const keptDrainMs = 90_000;
/** For what is written at the end, such as conversations. */
const closingMs = 20_000;
/** Whoever loads a model waits for answers. The faster file is for the next load. */
const derivedPauseMs = 10_000;
const lastBytesMs = 500;

function openLog(config: Config, { log, logTo: to }: ServerParts): ServerLog {
  if (log === false) return silentLog();
  return log === undefined ? createLog(config.debug ? "debug" : "info", to) : logTo(log);
}

function record(decision: Decision, metrics: Metrics, log: Logger): void {
  const { model, what, why, tookMs } = decision;
  if (what === "ready") metrics.loadSeconds.observe({ model }, (tookMs ?? 0) / 1000);
  if (what === "evict") metrics.evictions.inc({ model });
  const line = { model, what, why, ...(tookMs === null ? {} : { ms: Math.round(tookMs) }) };
  if (what === "fail" || what === "died" || what === "retry") log.warn(line, "scheduler");
  else if (what === "evict" || what === "ready") log.info(line, "scheduler");
  else log.debug(line, "scheduler");
}

function recordRemote(news: RemoteNews, metrics: Metrics, log: Logger): void {
  const { model, host, what } = news;
  const replica = { model, host };
  switch (what) {
    case "given":
      metrics.queueSeconds.observe({ model }, news.waitedMs / 1000);
      log.debug({ ...replica, what, why: news.why }, "remotes");
      return;
    case "first piece":
      metrics.remoteFirstToken.observe(replica, news.afterMs / 1000);
      return;
    case "answered":
    case "cancelled":
      metrics.remoteRequests.inc({ ...replica, outcome: what });
      return;
    case "failed": {
      const code = news.error instanceof LocallmError ? news.error.code : "internal";
      metrics.remoteRequests.inc({ ...replica, outcome: what });
      metrics.remoteErrors.inc({ ...replica, code });
      return;
    }
    case "retry":
      metrics.remoteRetries.inc(replica);
      log.warn({ ...replica, what, why: news.why }, "remotes");
      return;
    case "breaker":
      log[news.state === "closed" ? "info" : "warn"](
        { ...replica, what, state: news.state, why: news.why },
        "remotes",
      );
  }
}

async function makeModelsFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (cause) {
    const problem = `the folder cannot be created (${(cause as NodeJS.ErrnoException).code})`;
    throw new LocallmError(
      "invalid_setting",
      { variable: "LOCALLM_MODELS", value: JSON.stringify(folder), problem },
      { cause },
    );
  }
}

async function listen(
  app: ReturnType<typeof createApp>,
  address: HostAddress,
  descriptor: number | undefined,
): Promise<number> {
  const { port } = address;
  const where = `${address.hostname ?? "all interfaces"}, port ${port}`;
  const open = descriptor === undefined ? {} : { fd: descriptor };
  try {
    await app.listen({ ...open, port, host: address.hostname ?? "::" });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") throw new LocallmError("address_in_use", { address: where }, { cause });
    const noIpv6 = address.hostname === null && (code === "EAFNOSUPPORT" || code === "EADDRNOTAVAIL");
    if (!noIpv6)
      throw new LocallmError("cannot_listen", { address: where, reason: String(code ?? cause) }, { cause });
    await app.listen({ port, host: "0.0.0.0" });
  }
  return (app.server.address() as AddressInfo).port;
}
