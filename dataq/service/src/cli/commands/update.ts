import { updateCommand as commandFor } from "@locallm/updates";
import type { Command } from "commander";
import { updatable } from "../update.ts";

/** `dataq update`: installs a newer release, or goes back to the version before. */
export function updateCommand(): Command {
  return commandFor(updatable, (reason) => new Error(reason));
}
