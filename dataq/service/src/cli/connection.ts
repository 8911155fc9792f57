import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DataQueryOptions } from "dataq-client";
import { type Config, readConfig } from "../config.ts";

/** The service that a command calls: the address that `serve` uses, with DATAQ_API_KEY or the local key. */
export function connection(): DataQueryOptions {
  const config = readConfig();
  const apiKey = config.apiKey ?? readLocalKey(config.dataFolder);
  return {
    baseUrl: config.baseUrl ?? ownAddress(config),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** Where this machine reaches its own service. One that listens on all addresses is asked on loopback. */
export function ownAddress({ host, port }: Pick<Config, "host" | "port">): string {
  const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

function readLocalKey(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "local-key"), "utf8").trim();
  } catch {
    return undefined;
  }
}
