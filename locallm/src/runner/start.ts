import { LocallmError } from "../wire/errors.ts";
import type { StartRunner } from "./handle.ts";

/** The engine's own start comes in place of this. */
export const startRunner: StartRunner = async () => {
  throw new LocallmError("engine_missing", {
    platform: `${process.platform} ${process.arch}`,
    reason: "it is not joined yet",
  });
};
