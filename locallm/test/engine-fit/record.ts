// node locallm/test/engine-fit/record.ts: writes what llama.cpp's own fit answers for the machines and models of
// described.ts. The package `node-llama-cpp` carries the source of the llama.cpp in its platform packages. Needs git and g++.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { release } from "../../src/engine/libllama/release.ts";
import type { Kept } from "../../src/wire/inference/load.ts";
import { answersFile, describedCases, type FitAnswer } from "./described.ts";

/** What its patterns leave on the device. */
const kinds: Readonly<Record<string, Kept>> = {
  "ffn_(gate|up|gate_up|down).*": "attention",
  "ffn_(gate|gate_up|down).*": "up",
  "ffn_down.*": "gate",
  "ffn_(up|down|gate_up|gate)_(ch|)exps": "dense",
};

const folder = mkdtempSync(join(tmpdir(), "engine-fit-"));
const run = (command: string, given: readonly string[], input = "") =>
  execFileSync(command, given, {
    cwd: folder,
    encoding: "utf8",
    input,
    stdio: ["pipe", "pipe", "ignore"],
  });
try {
  run("npm", ["pack", "--silent", `node-llama-cpp@${release.packageVersion}`]);
  run("tar", ["xzf", `node-llama-cpp-${release.packageVersion}.tgz`]);
  run("git", [
    ...["-c", "advice.detachedHead=false", "clone", "--quiet"],
    ...["package/llama/gitRelease.bundle", "source"],
  ]);
  writeFileSync(
    join(folder, "fit-cut.cpp"),
    cut(readFileSync(join(folder, "source/common/fit.cpp"), "utf8")),
  );
  const headers = ["include", "ggml/include", "common", "src"].map((name) => `-Isource/${name}`);
  const program = fileURLToPath(new URL("record.cpp", import.meta.url));
  run("g++", ["-std=c++17", "-O1", "-I.", ...headers, program, "-o", "record"]);
  const answers = describedCases.map(({ model, marginBytes, freeBytes }) => {
    const numbers = [...inOrder(model), marginBytes, freeBytes.length, ...freeBytes];
    try {
      return JSON.stringify(
        answerOf(JSON.parse(run("./record", [], `${numbers.join(" ")}\n`)), freeBytes.length),
      );
    } catch {
      // One of its own assertions fails.
      return "null";
    }
  });
  writeFileSync(answersFile, `[\n${answers.join(",\n")}\n]\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Printed {
  readonly status: number;
  readonly measured: number;
  readonly layers: number;
  readonly split: readonly number[];
  readonly overrides: readonly (readonly [string, number])[];
}

function answerOf({ status, measured, layers, split, overrides }: Printed, devices: number): FitAnswer {
  if (status !== 0) throw new Error(`the fit ended with status ${status}`);
  if (layers === -1) return { measured, division: null };
  const overflows = overrides.map(([pattern, device]) => ({
    layer: Number(/^blk\\\.(\d+)/.exec(pattern)![1]),
    kept: kinds[pattern.replace(/^blk\\\.\d+\\\./, "")]!,
    device: device < 0 ? null : device,
  }));
  return { measured, division: { layers: devices === 1 ? [layers] : split, overflows } };
}

/** The order in which record.cpp reads. */
function inOrder({
  layers,
  experts,
  attention,
  up,
  gate,
  down,
  upExperts,
  gateExperts,
  downExperts,
  cache,
  output,
  compute,
  computeLayer,
}: (typeof describedCases)[number]["model"]) {
  return [
    ...[layers, experts, attention, up, gate, down, upExperts, gateExperts, downExperts],
    ...[cache, output, compute, computeLayer],
  ];
}

/** The source without the function that asks the engine, and without what prints. */
function cut(source: string): string {
  const asks = source.indexOf(
    "static std::vector<llama_device_memory_data> common_get_device_memory_data_impl",
  );
  const fits = source.indexOf("static void common_params_fit_impl");
  const prints = source.indexOf("void common_memory_breakdown_print");
  if (asks < 0 || fits < asks || prints < fits)
    throw new Error("fit.cpp has another structure in this release");
  return source.slice(0, asks) + source.slice(fits, prints);
}
