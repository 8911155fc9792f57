import { readCommandConfig } from "../../config.ts";
import { version } from "../../version.ts";
import { versionAnswer } from "../../wire/api/answers.ts";
import { LocallmError } from "../../wire/errors.ts";
import { Client } from "../client.ts";
import { plain } from "../text.ts";

/** Whether the only parameter is `-v` or `--version`. That form also checks the server. */
export function asksVersion(parameters: readonly string[]): boolean {
  return parameters.length === 1 && ["-v", "--version"].includes(parameters[0] ?? "");
}

/** Prints our version, and a warning on standard error if the server has another version or does not answer. */
export async function tellVersion(): Promise<void> {
  console.log(version);
  const client = new Client(readCommandConfig());
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const served = await client.json("/api/version", versionAnswer, { signal });
    const own = served.locallm ?? served.version;
    if (own !== version) console.error(plain(`Warning: the server at ${client.url} is version ${own}`));
  } catch (error) {
    const isForeign = error instanceof LocallmError && error.code === "server_foreign";
    const problem = isForeign ? error.message : `no locallm server is running at ${client.url}`;
    console.error(plain(`Warning: ${problem}`));
  }
}

const patienceMs = 5_000;
