import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { readCommandConfig, readGpuSettings } from "../../config.ts";
import { type GpuSettings, inspectGpus, visibleDevices } from "../../gpu/machine.ts";
import { modelPurpose } from "../../library/abilities.ts";
import type { Model } from "../../library/model.ts";
import { headerOf, modelDetails } from "../../library/model-details.ts";
import { Store } from "../../library/store.ts";
import { benchInChild } from "../../runner/bench.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { BenchFigures, BenchStage } from "../../wire/inference/bench.ts";
import { type LoadRequest, onlyProcessor, type Placement } from "../../wire/inference/load.ts";
import { displayModelName, requireModelName } from "../../wire/model-name.ts";
import { benchText } from "../bench/text.ts";
import { type ProgressView, progressView } from "../progress.ts";
import { humanBytes, table } from "../text.ts";

interface Options {
  readonly json?: true;
  readonly text?: string;
  readonly windows: number;
  readonly threads?: number;
  readonly cache: CacheType;
}

type CacheType = LoadRequest["kvCacheType"];
const cacheTypes: readonly CacheType[] = ["f16", "q8_0", "q4_0"];
const allWindows = 64;
const textLimitBytes = 16 * 2 ** 20;

export function benchCommand(): Command {
  return new Command("bench")
    .description("measure speed, memory and perplexity of models, side by side")
    .argument("<models...>")
    .option("--json", "print a list of objects")
    .option("--text <path>", "measure perplexity on this text instead of the one that comes with locallm")
    .option(
      "--windows <count>",
      "measure perplexity on this many parts of 512 tokens, at most; 0 leaves it out",
      parseWindows,
      allWindows,
    )
    .option(
      "--threads <count>",
      "compute with this many threads; without it, one for each core",
      parseThreads,
    )
    .addOption(
      new Option("--cache <type>", "the type of the cache, as LOCALLM_KV_CACHE_TYPE sets it for the server")
        .choices(cacheTypes)
        .default("f16"),
    )
    .action(async (names: string[], options: Options) => {
      await bench(names, options);
    });
}

function parseWindows(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, at least 0.");
  return Number(text);
}

function parseThreads(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, at least 1.");
  return Number(text);
}

/** One model's row. Units are bytes, and tokens per second. */
interface Row {
  readonly name: string;
  readonly digest: string;
  readonly type: string;
  readonly size_bytes: number;
  readonly processor: string;
  readonly memory_bytes: number;
  readonly prefill: number;
  readonly decode: number;
  readonly four_streams: number;
  readonly perplexity: BenchFigures["perplexity"];
}

async function bench(
  names: readonly string[],
  { json, text: path, windows, threads, cache }: Options,
): Promise<void> {
  const store = new Store(readCommandConfig().modelsFolder);
  const gpu = readGpuSettings();
  const text = path === undefined ? benchText : await readText(path);
  const models: Model[] = [];
  // Before anything is measured, because that takes minutes.
  for (const name of names) models.push(await benchable(store, name));
  const placement = await allOnGpus(gpu);
  const view = progressView(process.stderr);
  const rows: Row[] = [];
  try {
    for (const model of models)
      rows.push(
        await measured(store, model, {
          ...{ text, windows, threads: threads ?? null, cache, placement, gpu, view },
        }),
      );
  } finally {
    view.end();
  }
  if (json) console.log(JSON.stringify(rows, null, 2));
  else console.log(printed(rows));
}

async function benchable(store: Store, name: string): Promise<Model> {
  const model = await store.require(requireModelName(name), name);
  const isText = model.remotes === null && (await modelPurpose(store, model)) === "completion";
  if (isText) return model;
  const capability = model.remotes === null ? "generate" : "bench, because it is a remote model";
  throw new LocallmError("unsupported_capability", { model: name, capability });
}

interface Measuring {
  readonly text: string;
  readonly windows: number;
  readonly threads: number | null;
  readonly cache: CacheType;
  readonly placement: Placement;
  readonly gpu: GpuSettings;
  readonly view: ProgressView;
}

async function measured(store: Store, model: Model, measuring: Measuring): Promise<Row> {
  const { text, windows, threads, cache, placement, gpu, view } = measuring;
  const name = displayModelName(model.name);
  const [modelPath = "", ...furtherPaths] = model.modelPaths;
  // Every file passes this check before native code sees it.
  await headerOf(store, model);
  for (const adapter of model.adapterPaths) await store.headers.of(adapter);
  const job = (place: Placement) => ({
    text,
    windows,
    load: {
      modelPath,
      ...(furtherPaths.length === 0 ? {} : { furtherPaths }),
      adapters: model.adapterPaths.map((path) => ({ path, scale: 1 })),
      ...{ numCtx: 2048, slots: 4, numBatch: null, numThread: threads, placement: place, useMmap: null },
      ...{ flashAttention: "auto" as const, kvCacheType: cache },
    },
  });
  const onStage = (stage: BenchStage) => view.show({ status: `${name}: ${stages[stage]}` });
  const run = (place: Placement) => benchInChild(job(place), visibleDevices(gpu), onStage);
  const figures = await run(placement).catch(async (error: unknown) => {
    if (placement.devices.length === 0) throw error;
    view.show({
      status: `${name}: does not run on the GPU (${(error as Error).message}); measuring the CPU`,
    });
    return await run(onlyProcessor);
  });
  return {
    name,
    digest: model.digest,
    type: (await modelDetails(store, model)).quantization_level,
    size_bytes: model.sizeBytes,
    processor: figures.devices.length === 0 ? "CPU" : figures.devices.join(", "),
    memory_bytes: figures.memoryBytes,
    prefill: rounded(figures.prefill),
    decode: rounded(figures.decode),
    four_streams: rounded(figures.fourStreams),
    perplexity: figures.perplexity,
  };
}

const stages: Readonly<Record<BenchStage, string>> = {
  loading: "loading",
  prefill: "reading prompts",
  decode: "writing one answer",
  streams: "writing four answers at once",
  perplexity: "predicting a text",
};

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** More layers than any model has. The engine takes those that it has. */
const allLayers = 1000;

async function allOnGpus(gpu: GpuSettings): Promise<Placement> {
  const { choice, devices, problem } = await inspectGpus(gpu);
  const used = devices.filter(({ isUsed }) => isUsed);
  if (choice.folder === null || problem !== null || used.length === 0) return onlyProcessor;
  const layers = Math.ceil(allLayers / used.length);
  return { library: choice.folder, devices: used.map(({ name }) => ({ name, layers })) };
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "ENOENT" ? "file not found" : String(cause.code);
    throw new LocallmError("file_unusable", { path, reason }, { cause });
  });
  if (bytes.length <= textLimitBytes) return bytes.toString("utf8");
  throw new LocallmError("file_unusable", {
    path,
    reason: `it is larger than ${humanBytes(textLimitBytes)}`,
  });
}

function printed(rows: readonly Row[]): string {
  const perSecond = (value: number) => `${value} t/s`;
  const hasPerplexity = rows.some(({ perplexity }) => perplexity !== null);
  const head = ["NAME", "TYPE", "SIZE", "MEMORY", "PREFILL", "DECODE", "FOUR STREAMS", "PROCESSOR"];
  return table(
    hasPerplexity ? [...head, "PERPLEXITY"] : head,
    rows.map((row) => [
      ...[row.name, row.type, humanBytes(row.size_bytes), humanBytes(row.memory_bytes)],
      ...[perSecond(row.prefill), perSecond(row.decode), perSecond(row.four_streams), row.processor],
      ...(row.perplexity === null
        ? []
        : [`${row.perplexity.value.toFixed(2)} ± ${row.perplexity.error.toFixed(2)}`]),
    ]),
  );
}
