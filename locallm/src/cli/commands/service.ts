import { fileURLToPath } from "node:url";
import { serviceCommand as commandFor, type Program, programSettings } from "@locallm/autostart";
import type { Command } from "commander";
import { settings } from "../../config.ts";
import { LocallmError } from "../../wire/errors.ts";
import { smallHeap } from "../small-heap.ts";

/** `locallm service`: lets systemd, launchd or the Task Scheduler run the server. */
export function serviceCommand(): Command {
  return commandFor(program, (reason) => new LocallmError("service_not_changed", { reason }));
}

function program(): Program {
  // When run from source, Node needs the condition that selects the source files.
  const isSource = import.meta.url.endsWith(".ts");
  const main = fileURLToPath(new URL(isSource ? "../main.ts" : "../main.js", import.meta.url));
  return serviceProgram(process.execPath, [...(isSource ? ["-C", "source"] : []), main]);
}

/** The server, run by this Node with these options and this script. */
export function serviceProgram(node: string, script: readonly string[]): Program {
  return {
    name: "locallm",
    description: "locallm, a local model server",
    node,
    parameters: [...smallHeap, ...script, "serve"],
    systemSettings: {},
    usesGpu: true,
    settings: programSettings(
      settings.map(({ variable, byDefault, meaning }) => ({ variable, value: byDefault, meaning })),
    ),
  };
}
