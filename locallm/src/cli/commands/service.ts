import { fileURLToPath } from "node:url";
import { serviceCommand as commandFor, type Program, programSettings } from "@locallm/autostart";
import { findInstallation, launcherOf } from "@locallm/updates";
import type { Command } from "commander";
import { settings } from "../../config.ts";
import { LocallmError } from "../../wire/errors.ts";
import { smallHeap } from "../small-heap.ts";

/** `locallm service`: lets systemd, launchd or the Task Scheduler run the server. */
export function serviceCommand(): Command {
  return commandFor(program, (reason) => new LocallmError("service_not_changed", { reason }));
}

function program(): Program {
  // An update replaces what the launcher starts, and a service should start that.
  const installation = findInstallation("locallm", new URL("../../../", import.meta.url));
  if (installation.kind === "archive" && process.platform !== "win32")
    return serviceProgram(launcherOf("locallm", installation), null);
  // When run from source, Node needs the condition that selects the source files.
  const isSource = import.meta.url.endsWith(".ts");
  const main = fileURLToPath(new URL(isSource ? "../main.ts" : "../main.js", import.meta.url));
  return serviceProgram(process.execPath, [...(isSource ? ["-C", "source"] : []), main]);
}

/** The server, run by this Node with these options and this script; or by a launcher, which knows both. */
export function serviceProgram(node: string, script: readonly string[] | null): Program {
  return {
    name: "locallm",
    description: "locallm, a local model server",
    node,
    parameters: [...(script === null ? [] : [...smallHeap, ...script]), "serve"],
    systemSettings: {},
    usesGpu: true,
    settings: programSettings(
      settings.map(({ variable, byDefault, meaning }) => ({ variable, value: byDefault, meaning })),
    ),
  };
}
