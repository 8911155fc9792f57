import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DataQueryOptions } from "dataq-client";
import { readConfig } from "../config.ts";

/** The service that a command calls: the address that `serve` uses, with DATAQ_API_KEY or the local key. */
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
