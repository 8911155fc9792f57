import { watchServerHere } from "../../../testing/event-loop-watch.ts";
import { readConfig } from "../src/config.ts";
import type { Database } from "../src/database/database.ts";
import type { RouteName } from "../src/http/app.ts";
import { createService } from "../src/server.ts";
import {
  commitWithoutDisk,
  environmentOf,
  makeDataFolder,
  openFolder,
  removeDataFolder,
} from "./data-folder.ts";
import { ScriptedSources } from "./scripted-source.ts";
import { type CallOptions, type CallResult, callUrl } from "./service-process.ts";
import { useVendor } from "./vendor.ts";

/**
 * A service in this process: with a scripted source and a clock that stands still until a test moves it, or with its
 * own sources and the machine's clock.
 */
export interface InProcessService {
  readonly url: string;
  readonly key: string;
  /** The link to the console. It works once. */
  readonly console: string;
  readonly folder: string;
  readonly routes: readonly RouteName[];
  readonly sources: ScriptedSources;
  readonly database: Database;
  /** Milliseconds since 1970. */
  nowMs: number;
  log(): string;
  /** Does now what the service does every ten seconds. */
  sweep(): Promise<void>;
  call(path: string, options?: CallOptions): Promise<CallResult>;
  /** A new account with this many paid tokens, and its keys. */
  account(tokens: number, options?: object): Promise<{ id: string; keys: string[] }>;
  /** Kinds and tokens of an account's ledger, oldest first. */
  ledger(key: string): Promise<[string, number][]>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface InProcessOptions {
  readonly isScripted: boolean;
  /** A vendor answers every operation, so that calls cost their price; see vendor.ts. */
  readonly vendor?: boolean;
}

export async function startInProcess(
  env: Readonly<Record<string, string>> = {},
  options: InProcessOptions = { isScripted: true },
): Promise<InProcessService> {
  const folder = await makeDataFolder(options.isScripted ? "tables" : "first start");
  const database = await openFolder(folder);
  await commitWithoutDisk(database);
  const sources = new ScriptedSources();
  let log = "";
  const config = readConfig({
    ...environmentOf(folder),
    DATAQ_HOST: "127.0.0.1:0",
    DATAQ_LAWS: "off",
    ...(options.isScripted && { DATAQ_SAMPLES: "off" }),
    ...(options.vendor && (await useVendor(folder))),
    ...env,
  });
  let nowMs = options.isScripted ? Date.parse("2026-03-10T04:00:00Z") : undefined;
  const service = await createService(config, {
    progress: (line) => {
      log += `${line}\n`;
    },
    clock: () => (nowMs === undefined ? new Date() : new Date(nowMs)),
    ...(options.isScripted && { sources, sourceLimitMs: 2_000 }),
    logTo: {
      write: (line) => {
        log += line;
      },
    },
  });
  const watch = watchServerHere();
  const call = (path: string, call?: CallOptions) =>
    callUrl(service.url + path, {
      key: service.localKey,
      hasRealRecords: !options.isScripted,
      ...call,
    });
  return {
    url: service.url,
    key: service.localKey,
    console: service.consoleUrl,
    folder,
    routes: service.routes,
    sources,
    database,
    get nowMs() {
      return nowMs ?? Date.now();
    },
    set nowMs(value: number) {
      nowMs = value;
    },
    log: () => log,
    sweep: () => service.sweep(),
    call,
    async account(tokens, account = {}) {
      const made = await call("/admin/v1/accounts", {
        body: { name: "test", tokens, tier: "operator", ...account },
      });
      return { id: made.body.account_id, keys: made.body.keys };
    },
    async ledger(key) {
      const { body } = await call("/v1/ledger?limit=500", { key });
      return body.data.map((line: { kind: string; tokens: number }) => [line.kind, line.tokens]).reverse();
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await service.close();
      await watch.stop();
      await removeDataFolder(folder);
    },
  };
}
