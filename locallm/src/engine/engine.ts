import { LocallmError } from "../wire/errors.ts";
import { benchWindow } from "../wire/inference/bench.ts";
import {
  type LoadRequest,
  type ModelInfo,
  onlyProcessor,
  type VocabularyInfo,
  type WindowChoice,
} from "../wire/inference/load.ts";
import { Adapters } from "./adapters.ts";
import { Allocation } from "./allocation.ts";
import { anonymousBytes } from "./anonymous-bytes.ts";
import { Candidates } from "./candidates.ts";
import { type CheckpointNeeds, checkpointNeeds } from "./checkpoints.ts";
import { clearedMemory, pieceBytes } from "./cleared-memory.ts";
import { Context } from "./context.ts";
import { computingCores } from "./cores.ts";
import { checkDraft, DraftModel } from "./draft-model.ts";
import { canTakeBack, draftPolicy, outputsOf } from "./draft-policy.ts";
import { DryStages } from "./dry-stages.ts";
import { Embedder } from "./embedder.ts";
import { Grammars } from "./grammar.ts";
import { TextGuesses } from "./guesses.ts";
import { KeptStates, type StateKeeper } from "./kept/kept-states.ts";
import { hasSharedMemory } from "./kept/shared-memory.ts";
import { listDevices } from "./libllama/devices.ts";
import { type Library, openLibrary } from "./libllama/library.ts";
import { hearLog } from "./libllama/log.ts";
import type { Threadpool } from "./libllama/threadpool.ts";
import { Model, poolingValue } from "./model.ts";
import { Pictures } from "./pictures.ts";
import { Pooler } from "./pooler.ts";
import { Ranker } from "./ranker.ts";
import { fixedRowCost, LearnedRowCost } from "./row-cost.ts";
import { Scorer } from "./scorer.ts";
import { type SlotEvent, Slots } from "./slots.ts";
import { fixedThreads, SharedThreads, type Threads } from "./threads.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** One loaded model that is ready to answer. It is never unloaded, because its process ends instead. */
export interface Engine {
  readonly info: ModelInfo;
  readonly vocabulary: Vocabulary;
  readonly pictures: Pictures;
  /** Null for a model that only computes embeddings. */
  readonly slots: Slots | null;
  /** Null if no states are kept. */
  readonly kept: KeptStates | null;
  /**
   * The anonymous memory that this process has once all memory of the model is in use. Null if unknown. Call it before
   * `giveBackMemory`.
   */
  fullBytes(): number | null;
  /**
   * Gives memory of the cache back to the system until it is used. Call it before the first job. Of that, the slots use
   * the bytes that it returns only if `ask` grants them: what their shared cache has beyond a window.
   */
  giveBackMemory(ask: (bytes: number) => Promise<number>): number;
  /** Throws `model_cannot`. Its context is created on the first call. */
  embedder(): Embedder;
  /** Throws `model_cannot`. */
  ranker(): Ranker;
  /** Its context is created on the first call. It shares the slots' threads: use it only while no slot has a job. */
  scorer(): Scorer;
  /** One number per loop that computes steps. If a number stops changing, its loop hangs. */
  progress(): readonly number[];
}

export interface EngineEvents {
  readonly onProgress: (fraction: number) => void;
  readonly onLog: (line: string) => void;
  readonly onStep: (events: readonly SlotEvent[]) => void;
  readonly onWant: (id: number, identity: string) => void;
}

const defaultBatch = 512;
/** The maximum number of inputs in one embedding batch. */
const embedSequences = 64;
/** How long waiting threads spin for the next step, from 0 to 100; see docs/decisions/0004. */
const poll = 50;

/**
 * How the engine keeps the states of conversations. `group` names what a state and a load must have in
 * common.
 */
export interface Keeping {
  readonly group: string;
  readonly keeper: StateKeeper;
}

/** A model whose window is not chosen yet. */
export interface BegunLoad {
  readonly vocabulary: Vocabulary;
  readonly info: VocabularyInfo;
  /**
   * Blocks until the model can compute with this window. Call it once, when nothing uses `vocabulary` any more. Throws
   * `model_load_failed`.
   */
  finish(choice: WindowChoice): Engine;
}

/** Blocks until the model is loaded. Throws `engine_missing`, `engine_mismatch` or `model_load_failed`. */
export function loadEngine(request: LoadRequest, events: EngineEvents, keeping: Keeping | null): Engine {
  return loadWeights(request, events, keeping).finish(request);
}

/** Blocks until weights and vocabulary are loaded. The weights stay where they are. Throws like `loadEngine`. */
export function loadWeights(request: LoadRequest, events: EngineEvents, keeping: Keeping | null): BegunLoad {
  const loading = open(request, events);
  const model = loading.listen(() => Model.load(loading.library, request, events.onProgress));
  return {
    ...vocabularyOf(model, loading.allocation),
    finish: (choice) => {
      const chosen = { ...withWindow(request, choice), placement: request.placement };
      return loading.listen(() => load({ ...loading, model, request: chosen, events, keeping }));
    },
  };
}

/** Blocks until the vocabulary is loaded. `finish` then loads the weights. Throws like `loadEngine`. */
export function loadVocabulary(
  request: LoadRequest,
  events: EngineEvents,
  keeping: Keeping | null,
): BegunLoad {
  const loading = open(request, events);
  const { library } = loading;
  const only = { ...request, adapters: [], placement: onlyProcessor };
  const first = loading.listen(() => Model.load(library, only, () => {}, "vocabulary"));
  return {
    ...vocabularyOf(first, loading.allocation),
    finish: (choice) => {
      first.free();
      // The library is already open, even if no layer fits on its devices.
      const placement = { ...choice.placement, library: request.placement.library };
      const chosen = { ...withWindow(request, choice), placement };
      return loading.listen(() => {
        const model = Model.load(library, chosen, events.onProgress);
        return load({ ...loading, model, request: chosen, events, keeping });
      });
    },
  };
}

function withWindow({ cells: _, ...request }: LoadRequest, { numCtx, cells }: WindowChoice): LoadRequest {
  return { ...request, numCtx, ...(cells === undefined ? {} : { cells }) };
}

/** Opens the library and hears what it allocates. */
function open({ placement, processorFile }: LoadRequest, { onLog }: EngineEvents) {
  const library = openLibrary(placement.library ?? undefined, processorFile);
  const allocation = new Allocation();
  const onLine = (line: string) => {
    allocation.hear(line);
    onLog(line);
  };
  return {
    library,
    allocation,
    listen: <Result>(work: () => Result) => hearLog(library, onLine, work),
  };
}

function vocabularyOf({ vocabulary }: Model, { longestToken }: Allocation) {
  const { addBos, markers, keepsBytes } = vocabulary;
  return { vocabulary, info: { addBos, markers, longestToken: keepsBytes ? longestToken : null } };
}

/**
 * Measures the memory that this load would take on the CPU, without its adapters. A dry load gives the exact
 * sizes for every kind of model that the engine supports. Throws like `loadEngine`. Call it in a process that
 * ends afterwards.
 */
export function measureEngine(request: LoadRequest): ModelInfo["sizeBytes"] {
  const library = openLibrary();
  const allocation = new Allocation();
  const dry = { ...request, adapters: [], placement: onlyProcessor };
  return hearLog(
    library,
    (line) => allocation.hear(line),
    () => {
      const model = Model.load(library, dry, () => {}, "dry");
      const window = Math.max(1, Math.min(dry.numCtx, model.trainContext));
      if (!model.canGenerate) {
        newPooler(library, model, dry, window, fixedThreads(1), null);
        return sizesOf(model, allocation, dry.slots, noCheckpoints);
      }
      const context = newSlotsContext(library, model, dry, window, 1, null);
      const checkpoints = checkpointsOf(context, allocation);
      const draft = draftOf({ library, model, request: dry, window, threads: 1, kind: "dry" }, () => {});
      return sizesOf(model, allocation, dry.slots, checkpoints, draft?.model);
    },
  );
}

const noCheckpoints: CheckpointNeeds = { perSlot: 0, bytes: 0 };

function checkpointsOf(context: Context, allocation: Allocation): CheckpointNeeds {
  return checkpointNeeds(context.kind, allocation, context.contextPerSequence);
}

function sizesOf(
  model: Model,
  { contextBytes, computeBytes }: Allocation,
  slots: number,
  { perSlot, bytes }: CheckpointNeeds,
  draft?: Model,
): ModelInfo["sizeBytes"] {
  return {
    weights: model.sizeBytes + (draft?.sizeBytes ?? 0),
    context: contextBytes,
    compute: computeBytes,
    checkpoints: Math.ceil(slots * perSlot * bytes),
  };
}

interface Loading {
  readonly library: Library;
  readonly model: Model;
  readonly request: LoadRequest;
  readonly events: EngineEvents;
  readonly allocation: Allocation;
  readonly keeping: Keeping | null;
}

function load({ library, model, request, events, allocation, keeping }: Loading): Engine {
  const newThreads = () =>
    request.numThread === null ? new SharedThreads(computingCores()) : fixedThreads(request.numThread);
  const threadCount = newThreads();
  const threads = threadCount.most;
  const threadpool = library.newThreadpool(threads, poll);
  const window = Math.max(1, Math.min(request.numCtx, model.trainContext));
  const { vocabulary, canGenerate } = model;
  const pictures = new Pictures();
  const makePooler = (pool: Threadpool | null) =>
    newPooler(library, model, request, window, newThreads(), pool);

  const isOnProcessor = request.placement.devices.length === 0;
  let slots: Slots | null = null;
  let checkpoints = noCheckpoints;
  let kept: KeptStates | null = null;
  let pooler: Pooler | null = null;
  let ranker: Ranker | null = null;
  let scorer: Scorer | null = null;
  let contextLength = window;
  let cells: number | null = null;
  let giveBackMemory: Engine["giveBackMemory"] = () => 0;
  let draft: LoadedDraft | null = null;
  if (canGenerate) {
    const cleared = clearedMemory(() =>
      newSlotsContext(library, model, request, window, threads, threadpool),
    );
    const context = cleared.result;
    contextLength = Math.min(context.contextPerSequence, model.trainContext);
    cells = context.sharedCells;
    if (keeping !== null && hasSharedMemory()) {
      const { group, keeper } = keeping;
      kept = new KeptStates({
        ...{ context, pictures, keeper, group },
        window: model.dependsOnWindow ? contextLength : 0,
      });
    }
    checkpoints = checkpointsOf(context, allocation);
    // The driver of a GPU may use memory of this process by its physical address.
    if (isOnProcessor) {
      const { contextBytes, cacheLayers } = allocation;
      giveBackMemory = (ask) => {
        const allCells = cells ?? contextLength * request.slots;
        const given = cleared.giveBack(contextBytes + allCells * tableBytes);
        if (cells === null || slots === null) return 0;
        const cellBytes = Math.ceil(contextBytes / cells);
        const spare = spareCells({ cells, window: contextLength, cellBytes, given, layers: cacheLayers });
        slots.spare(spare, async (wanted) => Math.floor((await ask(wanted * cellBytes)) / cellBytes));
        return spare * cellBytes;
      };
    }
    const policy = draftPolicy(request, model.memory, window);
    const drafting = { library, model, request, window, threads, threadpool, kind: "whole" } as const;
    draft = draftOf(drafting, events.onLog);
    const candidates = new Candidates(library, vocabulary.size);
    slots = new Slots({
      context,
      kept,
      slots: request.slots,
      checkpoints: checkpoints.perSlot,
      threads: threadCount,
      adapters: new Adapters(model, context.pointer),
      onStep: events.onStep,
      onWant: events.onWant,
      breathe: () => new Promise((resolve) => setImmediate(resolve)),
      makers: {
        library,
        vocabulary,
        pictures,
        candidates,
        grammars: new Grammars(library, vocabulary, candidates),
        dry: new DryStages(library, vocabulary),
        drafts: policy && {
          rowCost: policy.isMeasured ? new LearnedRowCost(policy.rowCost) : fixedRowCost(policy.rowCost),
          guess: (prompt) => new TextGuesses(prompt, policy),
          model: draft && newDraftModel(library, draft, vocabulary, request.slots, threads),
        },
        now: () => performance.now() * 1e6,
        // The seed is not a secret, and loading `node:crypto` would take 5 ms.
        randomSeed: () => Math.floor(Math.random() * 2 ** 32),
      },
    });
  } else {
    pooler = makePooler(threadpool);
  }
  const sizeBytes = sizesOf(model, allocation, request.slots, checkpoints, draft?.model);

  const pooling = model.pooling ?? "mean";
  return {
    vocabulary,
    pictures,
    slots,
    kept,
    fullBytes() {
      const takenBytes = anonymousBytes("self");
      // Buffers for computing are allocated, but not used before the first step. A GPU has its own.
      const computeBytes = isOnProcessor ? sizeBytes.compute : 0;
      return takenBytes === null ? null : takenBytes + computeBytes + sizeBytes.checkpoints;
    },
    giveBackMemory,
    embedder() {
      if (pooling === "rank") throw new LocallmError("model_cannot", { ability: "embed" });
      // Do not share the slots' thread pool: both contexts may compute at once, and a pool serves only one.
      pooler ??= makePooler(null);
      return new Embedder(vocabulary, pooler);
    },
    ranker() {
      if (pooling !== "rank" || pooler === null) throw new LocallmError("model_cannot", { ability: "rank" });
      const { rankTemplate: template, ranksInProbabilities: areProbabilities } = model;
      ranker ??= new Ranker({ vocabulary, pooler, template, areProbabilities });
      return ranker;
    },
    scorer() {
      scorer ??= newScorer(library, model, request, newThreads(), threadpool);
      return scorer;
    },
    progress() {
      return [slots, pooler].filter((loop) => loop !== null).map((loop) => loop.progress());
    },
    info: {
      description: model.description,
      trainContext: model.trainContext,
      contextLength,
      slots: request.slots,
      ...(cells === null ? {} : { cells }),
      vocabSize: vocabulary.size,
      embeddingLength: model.embeddingLength,
      inputLength: model.inputLength,
      addBos: vocabulary.addBos,
      markers: vocabulary.markers,
      longestToken: vocabulary.keepsBytes ? allocation.longestToken : null,
      pooling,
      canGenerate,
      canEmbed: pooling !== "rank",
      canRank: pooling === "rank",
      sizeBytes,
      devices: placedDevices(library, request, allocation),
      engine: {
        version: library.version,
        threads,
        library: library.folder,
        processorFile: library.processorFile,
      },
    },
  };
}

function placedDevices(
  library: Library,
  { placement }: LoadRequest,
  allocation: Allocation,
): ModelInfo["devices"] {
  if (placement.devices.length === 0) return [];
  const known = new Map(listDevices(library).map((device) => [device.name, device.description]));
  return placement.devices.map(({ name, layers }) => ({
    name,
    description: known.get(name) ?? "",
    layers,
    bytes: allocation.onDevice(name),
  }));
}

function newSlotsContext(
  library: Library,
  model: Model,
  request: LoadRequest,
  window: number,
  threads: number,
  threadpool: Threadpool | null,
): Context {
  const { numBatch, wholePicture = 0 } = request;
  const batch = Math.max(numBatch ?? defaultBatch, wholePicture, request.slots, 2);
  const cells = sharedCells(model, request, window);
  const context = new Context(library, model.pointer, {
    sequences: request.slots,
    contextPerSequence: window,
    ...(cells === null ? {} : { cells }),
    ...model.shape,
    batch,
    microBatch: batch,
    outputs: outputsOf(request, model.memory, window),
    threads,
    threadpool,
    flashAttention: request.flashAttention,
    kvCacheType: request.kvCacheType,
    embeddings: false,
    pooling: 0,
    unified: cells !== null,
  });
  model.applyAdapters(context.pointer);
  if (request.placement.devices.length > 0) warmUp(context);
  return context;
}

interface LoadedDraft {
  readonly model: Model;
  readonly context: Context;
}

interface DraftLoading {
  readonly library: Library;
  readonly model: Model;
  readonly request: LoadRequest;
  readonly window: number;
  readonly threads: number;
  readonly threadpool?: Threadpool | null;
  readonly kind: "whole" | "dry";
}

/**
 * Loads the model that guesses. Null if there is none, if nothing is guessed, or if it does not fit the model, which then
 * answers without it: registries have draft models of kinds that guess in other ways.
 */
function draftOf(loading: DraftLoading, onLog: (line: string) => void): LoadedDraft | null {
  const { request, model, window } = loading;
  if (request.draftPath === undefined || draftPolicy(request, model.memory, window) === null) return null;
  try {
    return loadDraft(loading);
  } catch (error) {
    if (!(error instanceof LocallmError)) throw error;
    onLog(`the draft model is not used: ${error.message}`);
    return null;
  }
}

/** Throws `model_load_failed` if it does not fit the model. */
function loadDraft({
  library,
  model,
  request,
  window,
  threads,
  threadpool,
  kind,
}: DraftLoading): LoadedDraft {
  const { draftPath = "", slots, placement } = request;
  const [device] = placement.devices;
  const draftRequest = {
    ...{ ...request, modelPath: draftPath, furtherPaths: [], adapters: [] },
    // Whole on one device, because it is small and has to be fast.
    placement:
      device === undefined
        ? placement
        : { library: placement.library, devices: [{ name: device.name, layers: allLayers }] },
  };
  const draft = Model.load(library, draftRequest, () => {}, kind);
  try {
    checkDraft(model.vocabulary, draft.vocabulary, canTakeBack(draft.memory, window));
  } catch (error) {
    draft.free();
    throw error;
  }
  const cells = sharedCells(draft, request, window);
  const context = new Context(library, draft.pointer, {
    sequences: slots,
    contextPerSequence: Math.min(window, draft.trainContext),
    ...(cells === null ? {} : { cells }),
    ...draft.shape,
    batch: Math.max(defaultBatch, slots),
    microBatch: Math.max(defaultBatch, slots),
    outputs: slots,
    threads,
    threadpool: threadpool ?? null,
    flashAttention: request.flashAttention,
    kvCacheType: request.kvCacheType,
    embeddings: false,
    pooling: 0,
    unified: cells !== null,
  });
  if (placement.devices.length > 0 && kind === "whole") warmUp(context);
  return { model: draft, context };
}

/** As in llama-server: a wrong guess costs a step of the draft model besides. */
const leastLikely = 0.75;
/** More layers than any model has. */
const allLayers = 10_000;

function newDraftModel(
  library: Library,
  { model, context }: LoadedDraft,
  vocabulary: Vocabulary,
  slots: number,
  threads: number,
): DraftModel {
  const { size: vocabSize } = model.vocabulary;
  const isEnd = (token: number) => token >= vocabulary.size || vocabulary.isEnd(token);
  return new DraftModel({ library, context, vocabSize, slots, threads, leastLikely, isEnd });
}

/**
 * The cells of the cache that all slots share, at least a window. Null if each has its own, as with recurrent states and
 * sliding windows: what such a memory has for each sequence does not grow with its tokens.
 */
function sharedCells({ memory }: Model, { cells, slots }: LoadRequest, window: number): number | null {
  if (cells === undefined || slots < 2) return null;
  if (!memory.hasCache || memory.hasState || memory.slidingWindow > 0) return null;
  return Math.ceil(Math.min(Math.max(cells, window), window * slots) / 256) * 256;
}

interface Emptied {
  readonly cells: number;
  readonly window: number;
  readonly cellBytes: number;
  /** The bytes of the cache that were given back. */
  readonly given: number;
  readonly layers: number;
}

/** What the library's own table has for each cell, filled with zeros: its position, and which of 256 sequences hold it. */
const tableBytes = 48;

/** How many cells of a shared cache the slots can do without for now: never those of one window. */
function spareCells({ cells, window, cellBytes, given, layers }: Emptied): number {
  // At the end of what a buffer of keys or of values has in use, the system may provide more than is used.
  const lost = layers * 2 * pieceBytes() + cells * tableBytes;
  return Math.max(0, Math.min(cells - window, Math.floor((given - lost) / cellBytes) - window));
}

/** Few rows a step, because each has an output as long as the vocabulary. */
const scoredRows = 64;

function newScorer(
  library: Library,
  model: Model,
  request: LoadRequest,
  threads: Threads,
  threadpool: Threadpool | null,
): Scorer {
  const context = new Context(library, model.pointer, {
    sequences: 1,
    contextPerSequence: Math.min(benchWindow, model.trainContext),
    ...model.shape,
    batch: scoredRows,
    microBatch: scoredRows,
    outputs: 0,
    threads: threads.most,
    threadpool,
    flashAttention: request.flashAttention,
    kvCacheType: request.kvCacheType,
    embeddings: false,
    pooling: 0,
    unified: false,
  });
  model.applyAdapters(context.pointer);
  return new Scorer({ library, vocabulary: model.vocabulary, context, threads });
}

/**
 * Runs a first step, so that its cost is part of the load. A GPU may compile its kernels in it, which may
 * take minutes.
 */
function warmUp(context: Context): void {
  try {
    context.batch.add(0, 0, 0, true);
    context.step();
    context.batch.clear();
    context.clearMemory();
  } catch (cause) {
    const reason = `the first step on the GPU failed: ${cause instanceof Error ? cause.message : cause}`;
    throw new LocallmError("model_load_failed", { reason }, { cause });
  }
}

function newPooler(
  library: Library,
  model: Model,
  request: LoadRequest,
  window: number,
  threads: Threads,
  threadpool: Threadpool | null,
): Pooler {
  const perSequence = Math.ceil(window / embedSequences);
  // The engine aborts if the number of sequences does not divide the batch.
  const batch = perSequence * embedSequences;
  const context = new Context(library, model.pointer, {
    sequences: embedSequences,
    // All sequences share one cache, so that it can hold texts of different lengths.
    contextPerSequence: perSequence,
    ...model.shape,
    batch,
    microBatch: batch,
    outputs: 0,
    threads: threads.most,
    threadpool,
    flashAttention: request.flashAttention,
    kvCacheType: "f16",
    embeddings: true,
    pooling:
      model.pooling === null || model.pooling === "none" ? poolingValue("mean") : poolingValue(model.pooling),
    unified: true,
  });
  model.applyAdapters(context.pointer);
  const length = model.pooling === "rank" ? model.rankLength : model.embeddingLength;
  return new Pooler({ context, sequences: embedSequences, threads, length });
}
