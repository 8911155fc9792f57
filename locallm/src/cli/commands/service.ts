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
  return {
    name: "locallm",
    description: "locallm, a local model server",
    node: process.execPath,
    parameters: [...smallHeap, ...(isSource ? ["-C", "source"] : []), main, "serve"],
    systemSettings: {},
    usesGpu: true,
    settings: programSettings(
      settings.map(({ variable, byDefault, meaning }) => ({ variable, value: byDefault, meaning })),
    ),
  };
}
