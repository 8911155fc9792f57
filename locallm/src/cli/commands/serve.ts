import { KeptSocket } from "@locallm/autostart";
import { logOutput, outliveOutput } from "@locallm/autostart/log-output";
import { watchForUpdates } from "@locallm/updates";
import { Command, Option } from "commander";
import { type Config, readConfig, settings } from "../../config.ts";
import type { LogDestination } from "../../log.ts";
import type { Server } from "../../server.ts";
import { ensureStarterModel } from "../../sources/starter.ts";
import { isLoopback } from "../../wire/address.ts";
import type { ProgressLine } from "../../wire/api/library.ts";
import { logLine } from "../log-line.ts";
import { plain } from "../text.ts";
import { updatable } from "../update.ts";

export function serveCommand(): Command {
  return new Command("serve")
    .alias("start")
    .description("start the server")
    .option("--starter-model", "download a small model first if the store is empty")
    .addOption(
      new Option("--log-format <format>", "log format (default: text on a terminal, json elsewhere)").choices(
        ["text", "json"],
      ),
    )
    .addHelpText("after", `\nEnvironment variables:\n${settingsTable()}`)
    .action(async ({ starterModel = false, logFormat }: Options) => {
      outliveOutput();
      const isText = logFormat === undefined ? process.stderr.isTTY : logFormat === "text";
      await serve(readConfig(), starterModel, isText);
    });
}

interface Options {
  readonly starterModel?: boolean;
  readonly logFormat?: "text" | "json";
}

/** The messages that are sent over the IPC channel to a parent process, in this order. */
interface Messages {
  /** This process has the address. */
  readonly listening: { readonly url: string };
  /** The starter model, if it is wanted, is in the store. */
  readonly ready: { readonly url: string; readonly model: string | null };
}

async function serve(config: Config, wantsStarter: boolean, isText: boolean): Promise<void> {
  // Imported here so that the other verbs start faster.
  const { createServer } = await import("../../server.ts");
  // The server keeps running when its output is closed.
  for (const output of [process.stdout, process.stderr])
    output.removeAllListeners("error").on("error", () => {});
  const { hostname, port } = config.host;
  // biome-ignore lint/style/noProcessEnv: systemd passes sockets here
  const socket = await KeptSocket.take(process.env, `${hostname ?? "*"}:${port}`);
  const server = await createServer(config, { socket, ...(isText && { logTo: textLog() }) });
  const stopping = new AbortController();
  stopOnSignals(server, stopping);
  tellParent("listening", { url: server.url });
  console.log(`locallm is listening on ${server.url}; models are in ${config.modelsFolder}`);
  console.log(`Models run on ${backendText(server.backend)}`);
  if (!server.requiresKey && !isLocalOnly(config))
    console.log(
      "Anyone who can reach this address can use the server. Set LOCALLM_API_KEY, or make keys with locallm keys create.",
    );
  if (config.releases.isChecked) watchForUpdates(updatable(), (line) => console.log(plain(line)));
  const model = wantsStarter ? await fetchStarter(server, stopping.signal) : null;
  if (stopping.signal.aborted) return;
  tellParent("ready", { url: server.url, model });
}

function tellParent<Kind extends keyof Messages>(kind: Kind, message: Messages[Kind]): void {
  process.send?.({ [kind]: message });
}

function textLog(): LogDestination {
  const output = logOutput(2);
  return {
    write(json) {
      const line = logLine(json);
      if (line !== null) output.write(`${plain(line)}\n`);
    },
  };
}

function backendText({ backend, why, wanted }: Server["backend"]): string {
  const advice =
    wanted === null || wanted === backend ? "" : `; locallm doctor --install fetches the build for ${wanted}`;
  return backend === null ? `the processor (${why}${advice})` : `${why}${advice}`;
}

async function fetchStarter(server: Server, signal: AbortSignal): Promise<string | null> {
  server.notify("Downloading the starter model");
  try {
    const found = await ensureStarterModel(server.pulls, { onProgress: starterLines(), signal });
    if (!("missing" in found)) {
      server.notify(null);
      if (found.origin !== "store") console.log(`Downloaded ${found.name}.`);
      return found.name;
    }
    server.notify(found.missing);
    console.log(found.missing);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return null;
}

/** Prints a line before the first byte, and one at each quarter. */
function starterLines() {
  let told = 0;
  return ({ total, completed }: ProgressLine) => {
    // No lines for manifests and other small files.
    if (total === undefined || total < 1e6) return;
    if (told === 0) console.log("No model yet: downloading a small one to start with …");
    const quarter = 1 + Math.floor((4 * (completed ?? 0)) / total);
    if (quarter <= told) return;
    told = quarter;
    if (quarter > 1) console.log(`${25 * (quarter - 1)} % of ${(total / 1e6).toFixed(0)} MB`);
  };
}

/**
 * The first signal lets requests finish, and the second exits at once. The end of the parent process counts
 * as a signal.
 */
function stopOnSignals(server: Server, stopping: AbortController): void {
  const stop = (reason: string) => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
    console.log(`${reason}: stopping`);
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(signal));
  if (process.channel !== undefined) process.once("disconnect", () => stop("the parent process ended"));
}

function isLocalOnly({ host }: Config): boolean {
  return isLoopback(host.hostname ?? "");
}

function settingsTable(): string {
  const width = Math.max(...settings.map(({ variable }) => variable.length));
  return settings
    .map(({ variable, byDefault, meaning }) => {
      const value = byDefault === "" ? "" : ` (default ${byDefault})`;
      return `  ${variable.padEnd(width)}  ${meaning}${value}`;
    })
    .join("\n");
}
