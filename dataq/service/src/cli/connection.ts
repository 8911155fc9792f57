import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DataQueryOptions } from "dataq-client";
import { readConfig } from "../config.ts";

/** Where the commands that call a service find it: the settings of `serve`, and the local key or DATAQ_API_KEY. */
export function connection(): DataQueryOptions {
  const config = readConfig();
  const apiKey = config.apiKey ?? readLocalKey(config.dataFolder);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return {
    baseUrl: config.baseUrl ?? `http://${host}:${config.port}`,
    ...(apiKey !== undefined && { apiKey }),
  };
}

function readLocalKey(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "local-key"), "utf8").trim();
  } catch {
    return undefined;
  }
}
