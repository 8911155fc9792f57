import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism, freemem, totalmem } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { type Config, readConfig } from "../../config.ts";
import { checkStore } from "../../library/check.ts";
import { freeBytes } from "../../library/disk-space.ts";
import { Store } from "../../library/store.ts";
import { Client } from "../client.ts";
import { humanBytes, plain } from "../text.ts";

interface Options {
  repair?: boolean;
  quick?: boolean;
}

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("check engine, memory, GPU, server and store")
    .option("--repair", "take damaged files out of the store")
    .option("--quick", "do not read every file")
    .action(async (options: Options) => {
      const config = readConfig();
      await tellMachine();
      await tellServer(config);
      const problems = await tellStore(config, options);
      if (problems > 0) process.exitCode = 1;
    });
}

async function tellMachine(): Promise<void> {
  const version = await engineVersion();
  say(
    "engine",
    version === null
      ? `none for ${process.platform} ${process.arch}; install locallm again`
      : `@node-llama-cpp ${version}`,
  );
  say("processor", `${availableParallelism()} threads, ${process.arch}`);
  say("memory", `${humanBytes(freemem())} free of ${humanBytes(totalmem())}`);
  say("GPU", await gpu());
}

/** The package shows no package.json to `require`, so it is looked for where Node would look. */
async function engineVersion(): Promise<string | null> {
  const name = `@node-llama-cpp/${process.platform}-${process.arch}`;
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    const text = await readFile(join(folder, name, "package.json"), "utf8").catch(() => null);
    if (text !== null) return (JSON.parse(text) as { version: string }).version;
  }
  return null;
}

/** What the kernel shows; whether the engine's build can use it is another matter, and said. */
async function gpu(): Promise<string> {
  const nvidia = await readFile("/proc/driver/nvidia/version", "utf8").catch(() => null);
  const [, driver] = /Kernel Module\s+([\d.]+)/.exec(nvidia ?? "") ?? [];
  const onCpu = "the engine that is installed computes on the processor";
  if (nvidia !== null) return `NVIDIA, driver ${driver ?? "of an unknown version"}; ${onCpu}`;
  if ((await stat("/dev/kfd").catch(() => null)) !== null) return `AMD; ${onCpu}`;
  if ((await stat("/dev/dri/renderD128").catch(() => null)) !== null)
    return `one with a render node; ${onCpu}`;
  return "none found; the processor computes";
}

async function tellServer(config: Config): Promise<void> {
  const client = new Client(config);
  const version = await client.json<{ version: string }>("/api/version").catch(() => null);
  say(
    "server",
    version === null
      ? `none at ${client.url}; locallm serve starts one`
      : `${version.version} at ${client.url}`,
  );
}

async function tellStore(config: Config, { repair = false, quick = false }: Options): Promise<number> {
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
    `${report.models} in ${config.modelsFolder}, ${report.blobs} files${free === null ? "" : `, ${humanBytes(free)} free`}`,
  );
  for (const { what, remedy, isMended } of report.problems)
    say(isMended ? "mended" : "problem", `${what} → ${remedy}`);
  const open = report.problems.filter(({ isMended }) => !isMended).length;
  say("verdict", open === 0 ? "all well" : `${open} ${open === 1 ? "problem" : "problems"}`);
  return open;
}

function say(what: string, text: string): void {
  console.log(plain(`${what.padEnd(10)} ${text}`));
}
