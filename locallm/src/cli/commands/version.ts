import { readCommandConfig } from "../../config.ts";
import { version } from "../../version.ts";
import { versionAnswer } from "../../wire/api/answers.ts";
import { LocallmError } from "../../wire/errors.ts";
import { Client } from "../client.ts";
import { plain } from "../text.ts";

/** `-v` alone or `--version` alone, which look at the server too. */
export function asksVersion(parameters: readonly string[]): boolean {
  return parameters.length === 1 && ["-v", "--version"].includes(parameters[0] ?? "");
}

/** Our version on standard output; on standard error a warning where the server has another, or none answers. */
export async function tellVersion(): Promise<void> {
  console.log(version);
  const client = new Client(readCommandConfig());
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const served = await client.json("/api/version", versionAnswer, { signal });
    if (served.version !== version)
      console.error(plain(`Warning: the server at ${client.url} is version ${served.version}`));
  } catch (error) {
    const isForeign = error instanceof LocallmError && error.code === "server_foreign";
    const problem = isForeign ? error.message : `no locallm server is running at ${client.url}`;
    console.error(plain(`Warning: ${problem}`));
  }
}

const patienceMs = 5_000;
