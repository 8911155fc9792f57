import { readConfig } from "../../config.ts";
import { version } from "../../version.ts";
import { Client } from "../client.ts";
import { plain } from "../text.ts";

/** `-v` alone or `--version` alone, which look at the server too. */
export function asksVersion(parameters: readonly string[]): boolean {
  return parameters.length === 1 && ["-v", "--version"].includes(parameters[0] ?? "");
}

/** Our version on standard output; on standard error a warning where the server has another, or none answers. */
export async function tellVersion(): Promise<void> {
  console.log(version);
  const client = new Client(readConfig());
  const signal = AbortSignal.timeout(patienceMs);
  const served = await client.json<{ version?: unknown }>("/api/version", { signal }).catch(() => null);
  if (served === null) console.error(`Warning: no locallm server answers at ${client.url}`);
  else if (served.version !== version)
    console.error(plain(`Warning: the server at ${client.url} is version ${served.version}`));
}

const patienceMs = 5_000;
