import { parseArgs } from "node:util";
import { compare, type Figure } from "../../testing/speed/bursts.ts";
import { figure as coldLoad } from "../../testing/speed/cold-load.ts";
import { figure as decode } from "../../testing/speed/decode.ts";
import { figure as edits } from "../../testing/speed/edits.ts";
import { figure as firstToken } from "../../testing/speed/first-token.ts";
import { parallelStreams } from "../../testing/speed/parallel-streams.ts";
import { Peer } from "../../testing/speed/peer.ts";
import { figure as prefill } from "../../testing/speed/prefill.ts";
import { readGpuSettings } from "../src/config.ts";
import { installEngine } from "../src/gpu/install.ts";
import { devicesIn, machineBackend } from "../src/gpu/machine.ts";
import { enginePackages } from "../src/gpu/packages.ts";
import { readGguf } from "../src/library/gguf/header.ts";
import { headerValue } from "../src/library/model-details.ts";
import { createModelStore } from "../test/model-store.ts";
import { startServer } from "../test/server-process.ts";
import { starterModelPath } from "../test/starter-model.ts";

export const title = "Models on this machine's GPUs, beside llama-server";

const streams = 8;
const window = 2048;

/**
 * `--server PROGRAM`: a llama-server that was built for the GPU (or LLAMA_SERVER_PROGRAM). `--model FILE`: a GGUF file
 * instead of the starter model, trained with a window of 2,048 or more. `--bursts 7`. `--others 0.5`: bursts are dropped
 * while other programs use more of a core.
 */
export async function run(
  print: (line: string) => void,
  _folder: string,
  args: readonly string[],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      server: { type: "string", default: process.env["LLAMA_SERVER_PROGRAM"] ?? "" },
      model: { type: "string" },
      bursts: { type: "string", default: "7" },
      others: { type: "string", default: "0.5" },
    },
  });
  const settings = readGpuSettings();
  const { choice, problem } = await usableBackend(settings);
  if (choice.folder === null) return print(`Not run: ${problem ?? choice.why}.`);
  const { devices, problem: driver } = await devicesIn(choice.folder, settings);
  if (devices.length === 0) return print(`Not run: ${driver ?? "the engine finds no device"}.`);
  const path = values.model ?? (await starterModelPath());
  if (path === null) return print("Not run: the starter model is not available; name one with --model FILE.");
  for (const { name, description, freeBytes } of devices)
    print(`- ${name}: ${description}, ${(freeBytes / 2 ** 30).toFixed(1)} GiB free`);
  print("");

  const header = await readGguf(path);
  const layers = Number(headerValue(header, "block_count"));
  const experts = Number(headerValue(header, "expert_count") ?? 0);
  const store = await createModelStore();
  await store.add("proof", path);
  const env = {
    LOCALLM_ENGINES: settings.enginesFolder,
    LOCALLM_NUM_PARALLEL: String(streams),
    ...(settings.vulkanVisibleDevices === null
      ? {}
      : { GGML_VK_VISIBLE_DEVICES: settings.vulkanVisibleDevices }),
  };
  const server = await startServer({ models: store.folder, env });
  const half = Math.ceil(layers / 2);
  const ways: Way[] = [
    { name: "all layers", options: {}, flags: "-ngl 999", figures: whole },
    { name: `${half} layers on GPUs`, options: { num_gpu: half }, flags: `-ngl ${half}`, figures: divided },
  ];
  if (devices.length > 1) {
    const split = devices.map((_, index) => index + 1);
    const flags = `-ngl 999 -ts ${split.join(",")}`;
    ways.push({
      name: `split ${split.join(":")}`,
      options: { tensor_split: split },
      flags,
      figures: divided,
    });
  }
  if (experts > 0)
    ways.push({
      name: `experts of ${half} layers on the processor`,
      options: { n_cpu_moe: half },
      flags: `-ngl 999 --n-cpu-moe ${half}`,
      figures: divided,
    });
  try {
    const bursts = { bursts: Number(values.bursts), othersCores: Number(values.others) };
    for (const { name, options, flags, figures } of ways) {
      print(`### ${name[0]!.toUpperCase()}${name.slice(1)}`);
      print("");
      const ours = new Peer("locallm", server.url, 0);
      await ours.detect("proof:latest");
      ours.options = options;
      await ours.complete({ prompt: "Hello", tokens: 8, seed: 1 });
      const { models } = await server.ask<{ models: { device: string; size_vram: number }[] }>("/api/ps");
      print(
        `locallm: ${models[0]?.device}, ${((models[0]?.size_vram ?? 0) / 2 ** 20).toFixed(0)} MiB there.`,
      );
      print("");
      const command = `${values.server} -m ${path} --port {port} -c ${streams * window} -np ${streams} ${flags}`;
      const theirs = values.server === "" ? [] : [new Peer("llama-server", command, 21_640)];
      try {
        for (const peer of theirs) {
          await peer.start();
          await peer.detect(undefined);
          await peer.complete({ prompt: "Hello", tokens: 8, seed: 1 });
        }
        const peers = [ours, ...theirs];
        for (const figure of figures) {
          await compare(figure, peers, bursts, print);
          print("");
        }
      } finally {
        for (const peer of theirs) await peer.stop();
      }
    }
    print("### All layers, with guesses by the text and without");
    print("");
    const without = await startServer({ models: store.folder, env: { ...env, LOCALLM_DRAFTS: "off" } });
    try {
      const peers = [new Peer("without", without.url, 0), new Peer("with", server.url, 0)];
      for (const peer of peers) {
        await peer.detect("proof:latest");
        await peer.complete({ prompt: "Hello", tokens: 8, seed: 1 });
      }
      for (const figure of [edits, decode]) {
        await compare(figure, peers, bursts, print);
        print("");
      }
    } finally {
      await without.stop();
    }
  } finally {
    await server.stop();
    await store.remove();
  }
  print(
    values.server === ""
      ? "Without a llama-server to compare with: name its program with --server or LLAMA_SERVER_PROGRAM."
      : "The bars: decode ≥ 1.0, eight streams ≥ 1.05, load ≤ 1.0; with guesses, decode ≥ 1.0 of without.",
  );
}

interface Way {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The same for llama-server. */
  readonly flags: string;
  readonly figures: readonly Figure[];
}

const divided: readonly Figure[] = [decode, prefill];
const whole: readonly Figure[] = [
  ...divided,
  firstToken,
  parallelStreams(streams, "Eight streams, total"),
  coldLoad,
];

/** The backend for this machine's GPU, downloaded if it is missing. */
async function usableBackend(settings: ReturnType<typeof readGpuSettings>) {
  const choice = machineBackend(settings);
  if (choice.folder !== null || choice.wanted === null) return { choice, problem: null };
  const build = enginePackages(process.platform, process.arch).find(
    ({ backend }) => backend === choice.wanted,
  )!;
  try {
    await installEngine(settings.enginesFolder, build, () => {});
  } catch (error) {
    return { choice, problem: `${choice.why}, and its download failed: ${(error as Error).message}` };
  }
  return { choice: machineBackend(settings), problem: null };
}
