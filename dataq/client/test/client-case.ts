import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SyncParts } from "../src/data-query-sync.ts";
import {
  DataQuery,
  type DataQueryOptions,
  DataQuerySync,
  isDataQueryError,
  type ManyQuery,
} from "../src/index.ts";
import { Channel } from "../src/sync/channel.ts";

/** A case of `dataq/cases/`. The README there explains the fields. */
export interface ClientCase {
  readonly name: string;
  readonly client?: Record<string, unknown>;
  readonly draws?: readonly number[];
  readonly call: {
    readonly method: "query" | "query_many" | "paginate" | "estimate" | "balance" | "usage";
    readonly operation?: string;
    readonly params?: object;
    readonly queries?: readonly object[];
    readonly options?: Record<string, unknown>;
    readonly take?: "pages" | "items";
    readonly stop_after?: number;
  };
  readonly answers: readonly object[];
  readonly expect: Expectation;
}

interface Expectation {
  readonly attempts?: number;
  readonly delays?: readonly number[];
  readonly result?: object;
  readonly absent?: readonly string[];
  readonly pages?: readonly (readonly string[])[];
  readonly items?: readonly string[];
  readonly error?: Record<string, unknown> & { readonly class?: string; readonly bases?: readonly string[] };
  readonly requests?: readonly object[];
  readonly state?: object;
  readonly idempotency_keys?: "one" | "each" | "none";
}

/** The result of running a case. */
export interface Happened {
  readonly delays: readonly number[];
  readonly result?: object;
  readonly given?: readonly unknown[];
  readonly error?: Error;
  readonly state?: object;
}

const folder = fileURLToPath(new URL("../../cases/", import.meta.url));

export function readCases(file: string): ClientCase[] {
  return JSON.parse(readFileSync(`${folder}${file}.json`, "utf8")) as ClientCase[];
}

/** The scripted server is a separate process, because the synchronous client blocks this thread. */
export async function startScriptedServer() {
  const child = spawn(process.execPath, [`${folder}server.ts`], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    script: (answers: readonly object[]) =>
      fetch(`${url}/_script`, { method: "PUT", body: JSON.stringify({ answers }) }),
    log: async () => (await (await fetch(`${url}/_log`)).json()) as LoggedRequest[],
    close: () => child.stdin.end(),
  };
}

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

export const caseKey = "dq_test_000000000000000000000000000000000000";

/** Runs a case with the asynchronous client. */
export async function runAsync(one: ClientCase, url: string): Promise<Happened> {
  const clock = virtualClock(one);
  const sleep = async (delayMs: number): Promise<void> => clock.sleep(delayMs);
  return collect(clock, async (happened) => {
    const client = new DataQuery(clientOptions(one, url), { ...clock, sleep });
    const { method, operation, params = {}, options } = spelt(one);
    if (method === "query_many") {
      happened.result = await client.queryMany(queriesOf(one), options);
      return;
    }
    if (method !== "paginate") {
      happened.result = await callOf(client, method, operation, params, options);
      return;
    }
    const pages = client.paginate(operation, params as never, options);
    const given: unknown[] = [];
    happened.given = given;
    try {
      for await (const part of one.call.take === "items" ? pages.items() : pages) {
        if (given.push(part) === one.call.stop_after) break;
      }
    } finally {
      happened.state = pages.state();
    }
  });
}

/** All cases share the second thread, because starting it takes longer than a case. */
const thread = new Channel();
const channel: SyncParts["channel"] = {
  exchange: (request, limits) => thread.exchange(request, limits),
  close: () => {},
};

/** Runs a case with the synchronous client. The function is async only to match `runAsync`. */
export async function runSync(one: ClientCase, url: string): Promise<Happened> {
  const clock = virtualClock(one);
  return collect(clock, async (happened) => {
    using client = new DataQuerySync(clientOptions(one, url), { ...clock, channel });
    const { method, operation, params = {}, options } = spelt(one);
    if (method === "query_many") {
      happened.result = client.queryMany(queriesOf(one), options);
      return;
    }
    if (method !== "paginate") {
      const result = callOf(client, method, operation, params, options);
      if (result instanceof Promise) throw new Error("The synchronous client gave a promise.");
      happened.result = result;
      return;
    }
    const pages = client.paginate(operation, params as never, options);
    const given: unknown[] = [];
    happened.given = given;
    try {
      for (const part of one.call.take === "items" ? pages.items() : pages) {
        if (given.push(part) === one.call.stop_after) break;
      }
    } finally {
      happened.state = pages.state();
    }
  });
}

type Mutable = { -readonly [Field in keyof Happened]: Happened[Field] };

async function collect(
  clock: { readonly delays: number[] },
  run: (happened: Mutable) => Promise<void>,
): Promise<Happened> {
  const happened: Mutable = { delays: clock.delays };
  try {
    await run(happened);
  } catch (error) {
    if (!isDataQueryError(error)) throw error;
    happened.error = error;
  }
  return happened;
}

function callOf(
  client: DataQuery | DataQuerySync,
  method: "query" | "estimate" | "balance" | "usage",
  operation: "legal_laws",
  params: object,
  options: object,
): object {
  switch (method) {
    case "query":
      return client.query(operation, params as never, options);
    case "estimate":
      return client.estimate(operation, params as never, options);
    case "balance":
      return client.balance(options);
    case "usage":
      return client.usage(params, options);
  }
}

/** A clock whose waits take no time: they move the clock and are recorded. */
function virtualClock({ draws = [] }: ClientCase) {
  const left = [...draws];
  const delays: number[] = [];
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  return {
    delays,
    now: () => nowMs,
    random: () => left.shift() ?? 0.5,
    sleep: (delayMs: number): void => {
      delays.push(delayMs / 1_000);
      nowMs += delayMs;
    },
  };
}

function clientOptions(one: ClientCase, url: string): DataQueryOptions {
  return { api_key: caseKey, base_url: url, ...inOurSpelling(one.client ?? {}) };
}

function queriesOf({ call: { queries = [] } }: ClientCase): ManyQuery[] {
  return queries.map((query) => inOurSpelling({ ...query }) as unknown as ManyQuery);
}

function spelt(one: ClientCase) {
  const { method, operation, params, options = {} } = one.call;
  return { method, operation: operation as "legal_laws", params, options: inOurSpelling(options) };
}

/**
 * Names that the specification defines stay as they are. All others become camelCase, and times become
 * milliseconds.
 */
function inOurSpelling(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => {
      if (["max_retries", "retry_delay", "retry_backoff"].includes(name)) return [name, value];
      const camel = camelCase(name);
      return [camel, camel === "timeout" || camel === "totalTimeout" ? Number(value) * 1_000 : value];
    }),
  );
}

export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
