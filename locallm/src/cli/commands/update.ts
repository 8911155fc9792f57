import { updateCommand as commandFor } from "@locallm/updates";
import type { Command } from "commander";
import { LocallmError } from "../../wire/errors.ts";
import { updatable } from "../update.ts";

/** `locallm update`: installs a newer release, or goes back to the version before. */
export function updateCommand(): Command {
  return commandFor(updatable, (reason) => new LocallmError("not_updated", { reason }));
}
