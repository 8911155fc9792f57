import { readdir, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism, freemem, totalmem } from "node:os";
import { join } from "node:path";
import { describeInstallation } from "@locallm/updates";
import { Command } from "commander";
import {
  type CommandConfig,
  type Config,
  cacheLimitBytes,
  readCommandConfig,
  readConfig,
  readGpuSettings,
} from "../../config.ts";
import { availableBytes } from "../../gpu/available-memory.ts";
import { cudaPackages, hasCudaRuntime } from "../../gpu/cuda-runtime.ts";
import { fastTypes } from "../../gpu/fast-types.ts";
import { thisMachine } from "../../gpu/hardware.ts";
import { installEngine, unwritable } from "../../gpu/install.ts";
import { librariesOf, packageFolder } from "../../gpu/installed.ts";
import { devicesIn, type GpuSettings, inspectGpus } from "../../gpu/machine.ts";
import { packagePlatform, processorPackage } from "../../gpu/packages.ts";
import { modelPurpose } from "../../library/abilities.ts";
import { freeBytes } from "../../library/disk-space.ts";
import { makeFolder } from "../../library/durable.ts";
import { writableTypes } from "../../library/gguf/quantisation.ts";
import { headerOf, mainType } from "../../library/model-details.ts";
import { Store } from "../../library/store.ts";
import { checkStore } from "../../library/store-check.ts";
import { checkReplica } from "../../remotes/check.ts";
import { RemoteConnections } from "../../remotes/connection.ts";
import { DrainedHosts } from "../../remotes/drained-hosts.ts";
import { engines } from "../../remotes/engines.ts";
import { CredentialsFile } from "../../sources/credentials.ts";
import { networkSettings } from "../../sources/network-settings.ts";
import { Pulls } from "../../sources/pulls.ts";
import { RemoteHosts } from "../../sources/remote-hosts.ts";
import { missingFiles } from "../../sources/wheel-files.ts";
import { installVision, removeVision } from "../../vision/install.ts";
import { visionFolder, visionPartFolder } from "../../vision/part.ts";
import { versionAnswer } from "../../wire/api/answers.ts";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName, requireModelName } from "../../wire/model-name.ts";
import type { RemoteAddress } from "../../wire/remote-address.ts";
import { Client } from "../client.ts";
import { progressView } from "../progress.ts";
import { selfTest, selfTestReport } from "../self-test/self-test.ts";
import { humanBytes, plain } from "../text.ts";
import { updatable } from "../update.ts";

interface Options {
  repair?: boolean;
  quick?: boolean;
  install?: string | true;
  uninstall?: string;
  selfTest?: string | true;
}

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("check engine, memory, GPU, server, remote models and model store")
    .option("--repair", "move damaged files out of the model store")
    .option("--quick", "do not verify the files' digests")
    .option(
      "--install [part]",
      "download the engine for this machine's GPU (cuda, vulkan or metal), or the part that reads pictures (vision)",
    )
    .option("--uninstall <part>", "remove the part that reads pictures (vision)")
    .option(
      "--self-test [model]",
      "start a server of its own, ask a model everything that must work, and print a report to paste; the smallest model without a name",
    )
    .action(async (options: Options) => {
      const config = { ...readCommandConfig(), ...readGpuSettings() };
      if (options.uninstall !== undefined) {
        await uninstall(config, options.uninstall);
        return;
      }
      if (options.install === "vision") {
        await addVision(config);
        return;
      }
      if (options.install !== undefined) {
        await install(config, options.install);
        return;
      }
      if (options.selfTest !== undefined) {
        await testItself(config, options.selfTest);
        return;
      }
      const { config: serverConfig, problems: settingsProblems } = readSettings();
      say("program", describeInstallation(updatable(), Date.now()));
      const machineProblems = await tellMachine();
      if (serverConfig !== null) await tellConversations(serverConfig);
      const isOnProcessor = await tellGpus(config);
      await tellVision(config);
      await tellServer(config);
      const remoteProblems = serverConfig === null ? 0 : await tellRemotes(serverConfig);
      const problems =
        settingsProblems + machineProblems + remoteProblems + (await tellStore(config, options));
      if (isOnProcessor) await tellSlowTypes(config);
      say("verdict", problems === 0 ? "no problems" : counted(problems, "problem"));
      if (problems > 0) process.exitCode = 1;
    });
}

/** Prints each outcome as it is known, and the report at the end. The exit code is 1 if a check failed. */
async function testItself(config: CommandConfig & GpuSettings, wanted: string | true): Promise<void> {
  const store = new Store(config.modelsFolder);
  const model =
    wanted === true
      ? await smallestText(store)
      : displayModelName((await store.require(requireModelName(wanted), wanted)).name);
  if (model === null) {
    console.error(
      "There is no model that writes text. Pull one first, for example: locallm pull smollm2:135m",
    );
    process.exitCode = 1;
    return;
  }
  const subject = {
    model,
    modelsFolder: config.modelsFolder,
    engine: (await engineVersion()) ?? "not installed",
    threads: availableParallelism(),
  };
  const outcomes = await selfTest(subject, ({ check, isRight }) =>
    process.stderr.write(`${isRight ? "ok" : "FAILED"} ${check}\n`),
  );
  const { choice } = await inspectGpus(config);
  console.log(`\n${selfTestReport(subject, outcomes, choice.backend ?? "processor")}`);
  if (outcomes.some(({ isRight }) => !isRight)) process.exitCode = 1;
}

async function smallestText(store: Store): Promise<string | null> {
  const { models } = await store.list();
  const own = models.filter(({ remotes }) => remotes === null).sort((a, b) => a.sizeBytes - b.sizeBytes);
  for (const model of own)
    if ((await modelPurpose(store, model)) === "completion") return displayModelName(model.name);
  return null;
}

/** Reports settings that would stop the server from starting. */
function readSettings(): { config: Config | null; problems: number } {
  try {
    return { config: readConfig(), problems: 0 };
  } catch (error) {
    if (!(error instanceof LocallmError)) throw error;
    say("settings", error.message);
    return { config: null, problems: 1 };
  }
}

/** How much memory and disk space the server may use for conversations that lost their slot. */
async function tellConversations(config: Config): Promise<void> {
  const { cacheDiskBytes, cacheFolder } = config;
  const memoryBytes = cacheLimitBytes(config, availableBytes());
  const memory = memoryBytes === 0 ? "none kept in memory" : `up to ${humanBytes(memoryBytes)} of memory`;
  if (cacheDiskBytes === 0) {
    say("conversations", `${memory}, none on disk`);
    return;
  }
  const sizes = await readdir(cacheFolder)
    .then((names) => Promise.all(names.map(async (name) => (await stat(join(cacheFolder, name))).size)))
    .catch(() => []);
  const usedBytes = sizes.reduce((sum, size) => sum + size, 0);
  const disk = `${humanBytes(usedBytes)} of ${humanBytes(cacheDiskBytes)} on disk, in ${cacheFolder}`;
  say("conversations", `${memory}; ${disk}`);
}

/** A missing engine is a problem, because no model can run without it. */
async function tellMachine(): Promise<number> {
  const version = await engineVersion();
  say(
    "engine",
    version === null
      ? `${processorPackage()} is not installed; install locallm again`
      : `@node-llama-cpp ${version}`,
  );
  say("processor", `${counted(availableParallelism(), "thread")}, ${process.arch}`);
  say("memory", `${humanBytes(freemem())} free of ${humanBytes(totalmem())}`);
  return version === null ? 1 : 0;
}

/** Searches Node's module folders itself, because the package does not export its package.json. */
async function engineVersion(): Promise<string | null> {
  const name = processorPackage();
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    const text = await readFile(join(folder, name, "package.json"), "utf8").catch(() => null);
    if (text !== null) return (JSON.parse(text) as { version: string }).version;
  }
  return null;
}

/** Reports the system's GPUs, which of them the engine uses, and how to change that. Returns whether it uses none. */
async function tellGpus(config: GpuSettings): Promise<boolean> {
  const found = await inspectGpus(config);
  say("GPU", found.hardware.map(({ name }) => name).join(", ") || "none found");
  say("backend", `${found.choice.backend ?? "the processor"}: ${found.choice.why}`);
  for (const { name, description, freeBytes, totalBytes, isUsed } of found.devices) {
    const use = isUsed ? "" : "; not used: LOCALLM_INTEL_GPU=1 allows it";
    say(
      "device",
      `${name}, ${description}, ${humanBytes(freeBytes)} free of ${humanBytes(totalBytes)}${use}`,
    );
  }
  if (found.choice.backend !== null && found.devices.length === 0 && found.problem === null)
    say("device", "the engine found no GPU; models run on the CPU");
  if (found.problem !== null)
    say("problem", `cannot use ${found.choice.backend}: ${found.problem} → ${remedyFor(found.problem)}`);
  const build = found.toFetch;
  if (build !== null)
    say("advice", `locallm doctor --install fetches ${build.name}${sizeText(build)} for ${build.backend}`);
  return found.devices.every(({ isUsed }) => !isUsed);
}

/** Says whether models can see, if one of them has a projector. */
async function tellVision(config: CommandConfig & GpuSettings): Promise<void> {
  const folder = visionFolder(config.enginesFolder);
  if (folder !== null) return say("pictures", `can be read: ${folder}`);
  const { models } = await new Store(config.modelsFolder).list();
  const seeing = models.filter(({ projectorPaths }) => projectorPaths.length > 0);
  if (seeing.length === 0) return;
  const names = seeing.map(({ name }) => displayModelName(name)).join(", ");
  say("advice", `so that ${names} can see: locallm doctor --install vision`);
}

async function makeEnginesFolder({ enginesFolder }: GpuSettings): Promise<void> {
  await makeFolder(enginesFolder).catch((cause) => {
    throw unwritable(enginesFolder, cause);
  });
}

async function addVision(config: GpuSettings): Promise<void> {
  await makeEnginesFolder(config);
  console.log(
    plain(
      "This installs the part of the engine that reads pictures: 1 MB, from a package if your npm registry has it. Otherwise it is built here: 36 MB are downloaded, two cores compile for half a minute if they are idle and for several minutes if they are busy, with 450 MB of memory for each core and up to 200 MB of disk space until they are done.",
    ),
  );
  const onLine = (line: string) => console.error(plain(line));
  const origin = await installVision(config.enginesFolder, { onLine, availableBytes: availableBytes() });
  const place = visionPartFolder(config.enginesFolder);
  const done = {
    present: `It is already in ${place}.`,
    package: `Installed from its package, into ${place}.`,
    build: `Built, and installed into ${place}.`,
  }[origin];
  console.log(
    plain(`${done} Models with a projector can see at once. To remove it: locallm doctor --uninstall vision`),
  );
}

async function uninstall(config: GpuSettings, part: string): Promise<void> {
  if (part !== "vision")
    throw new LocallmError("invalid_field", { field: "--uninstall", problem: "must be vision" });
  const isRemoved = await removeVision(config.enginesFolder);
  console.log(isRemoved ? "Removed: models on this machine no longer see." : "It was not installed.");
}

/** Names the models whose weights this processor multiplies slowly, and the types that are fast. */
async function tellSlowTypes(config: CommandConfig): Promise<void> {
  const fast = fastTypes(thisMachine);
  if (fast === null) return;
  const store = new Store(config.modelsFolder);
  for (const model of (await store.list()).models) {
    const header = await headerOf(store, model).catch(() => null);
    const type = header === null ? null : mainType(header);
    if (type === null || fast.has(type)) continue;
    const others = writableTypes.filter((each) =>
      fast.has(each.toUpperCase().replace(/(?<=^Q[456]_K)_[SM]$/, "")),
    );
    say(
      "advice",
      `${displayModelName(model.name)} is mostly ${type}, for which this processor has no fast kernel; it has for ${others.join(", ")}. What another type costs in quality is yours to weigh: locallm create NAME --quantize TYPE, from the F16 file`,
    );
  }
}

function sizeText({ sizeMb }: { sizeMb: number | null }): string {
  return sizeMb === null ? "" : ` (${sizeMb} MB)`;
}

function remedyFor(problem: string): string {
  if (/libcudart|libcublas/.test(problem))
    return "locallm doctor --install cuda downloads CUDA 13's runtime; or: locallm doctor --install vulkan";
  if (/libvulkan/.test(problem)) return "install the Vulkan loader (Debian: libvulkan1) and the GPU driver";
  return "install or repair the GPU driver; until then models run on the CPU";
}

/** `wanted` is a backend's name, or true for the best one for this machine. */
async function install(config: GpuSettings, wanted: string | true): Promise<void> {
  const { choice, builds } = await inspectGpus(config);
  const backend = wanted === true ? choice.wanted : wanted;
  if (backend === null) {
    console.log(plain(`Nothing to download: ${choice.why}`));
    return;
  }
  const build = builds.find((one) => one.backend === backend);
  if (build === undefined) {
    const offered = builds.map((one) => one.backend).join(", ") || "none";
    throw new LocallmError("invalid_field", {
      field: "--install",
      problem: `must be one of the builds for ${packagePlatform()}: ${offered}`,
    });
  }
  await makeEnginesFolder(config);
  const present = librariesOf(packageFolder(config.enginesFolder, build), build);
  console.log(
    plain(
      present === null
        ? `Downloading ${build.name}@${build.version}${sizeText(build)} into ${config.enginesFolder}`
        : `${build.name}@${build.version} is already in ${config.enginesFolder}`,
    ),
  );
  const folder =
    present ?? (await installEngine(config.enginesFolder, build, (line) => console.error(plain(line))));
  if (backend === "cuda") await installCudaRuntime(folder);
  const { devices, problem } = await devicesIn(folder, config);
  if (problem !== null) {
    process.exitCode = 1;
    console.log(plain(`Installed, but not usable: ${problem} → ${remedyFor(problem)}`));
  } else if (devices.length === 0) {
    console.log("Installed, but it found no GPU.");
  } else {
    const seen = devices.map(({ name, description }) => `${name}, ${description}`).join("; ");
    console.log(plain(`Installed; it found ${seen}. Restart the server to use it.`));
  }
}

/** Puts CUDA 13's runtime beside the build, unless the system has it. */
async function installCudaRuntime(folder: string): Promise<void> {
  if (hasCudaRuntime(thisMachine)) return;
  const config = readConfig();
  const pulls = new Pulls(new Store(config.modelsFolder), {
    network: await networkSettings(config),
    registries: config.registries,
    credentials: null,
  });
  const view = progressView(process.stderr);
  try {
    for (const { wanted, files } of cudaPackages(thisMachine.platform)) {
      if ((await missingFiles(folder, files)).length === 0) continue;
      await pulls.wheelFiles(
        { wanted, files, folder },
        (line) => view.show(line),
        new AbortController().signal,
      );
    }
  } finally {
    view.end();
    pulls.close();
  }
}

async function tellServer(config: CommandConfig): Promise<void> {
  const client = new Client(config);
  try {
    const { version, locallm } = await client.json("/api/version", versionAnswer, {
      signal: AbortSignal.timeout(patienceMs),
    });
    const told = locallm === undefined ? version : `${locallm}, with the API of Ollama ${version},`;
    say("server", `${told} at ${client.url}`);
  } catch (error) {
    const isForeign = error instanceof LocallmError && error.code === "server_foreign";
    say("server", isForeign ? error.message : `none at ${client.url}; start one with: locallm serve`);
  }
}

const patienceMs = 5_000;

/** Asks every replica of the remote models. Returns the number of those that cannot serve. */
async function tellRemotes(config: Config): Promise<number> {
  const { models } = await new Store(config.modelsFolder).list();
  const replicas = new Map<string, { address: RemoteAddress; names: string[] }>();
  for (const { name, remotes } of models)
    for (const address of remotes ?? []) {
      const id = JSON.stringify([address.protocol, address.url, address.model, address.key]);
      const { names } = replicas.get(id) ?? { names: [] };
      replicas.set(id, { address, names: [...names, displayModelName(name)] });
    }
  if (replicas.size === 0) return 0;
  const hosts = new RemoteHosts({ file: config.remoteHostsFile, named: config.remotes });
  const credentials = new CredentialsFile(config.credentialsFile);
  const drained = await DrainedHosts.open(config.drainedHostsFile);
  const { certificates = [] } = await networkSettings(config);
  const connections = new RemoteConnections({
    addressCheck: (url) => hosts.addressCheck(url),
    certificates,
  });
  const { fetch } = connections;
  const signal = AbortSignal.timeout(patienceMs);
  const checks = await Promise.all(
    [...replicas.values()].map(async ({ address, names }) => ({
      where: `${address.url}#${address.model} (${names.join(", ")})`,
      state: drained.has(address.url) ? ", drained" : "",
      check: await checkReplica(address, { hosts, credentials, engines, fetch, signal }),
    })),
  );
  connections.close();
  for (const { where, state, check } of checks)
    say(check.isUsable ? "remote" : "problem", `${where}: ${check.found}${state}`);
  return checks.filter(({ check }) => !check.isUsable).length;
}

async function tellStore(config: CommandConfig, { repair = false, quick = false }: Options): Promise<number> {
  const store = new Store(config.modelsFolder);
  const report = await checkStore(store, {
    repair,
    readBlobs: !quick,
    ...(process.stderr.isTTY
      ? { onProgress: (text) => process.stderr.write(`\r${plain(text)}\u001b[K`) }
      : {}),
  });
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  const free = await freeBytes(store.root).catch(() => null);
  say(
    "models",
    `${report.models} in ${config.modelsFolder}, ${counted(report.blobs, "file")}${free === null ? "" : `, ${humanBytes(free)} free`}`,
  );
  for (const { what, remedy, isRepaired } of report.problems)
    say(isRepaired ? "repaired" : "problem", `${what} → ${remedy}`);
  return report.problems.filter(({ isRepaired }) => !isRepaired).length;
}

function say(what: string, text: string): void {
  console.log(plain(`${what.padEnd(10)} ${text}`));
}
