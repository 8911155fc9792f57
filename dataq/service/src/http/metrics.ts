import type { FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { newestBackups } from "../backup/log.ts";
import type { Database } from "../database/database.ts";
import { openWindow } from "../maintenance/maintenance.ts";
import type { SearchIndex } from "../search/search-index.ts";

/** Counters of this process in Prometheus' text format. No label names an account, a key or a query. */
export interface Metrics {
  /** Counts a response. */
  note(request: FastifyRequest, status: number, ms: number): void;
  text(): Promise<string>;
}

export function createMetrics(database: Database, index: Pick<SearchIndex, "health">): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "dataq_" });
  const requests = new Counter({
    name: "dataq_requests_total",
    help: "Responses by route and status",
    labelNames: ["route", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "dataq_request_seconds",
    help: "Seconds until a response, by route",
    labelNames: ["route"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const calls = new Counter({
    name: "dataq_calls_total",
    help: "Queries by operation and outcome: ok, cached, or the error code",
    labelNames: ["operation", "outcome"],
    registers: [registry],
  });
  const tokens = new Counter({
    name: "dataq_tokens_total",
    help: "Tokens charged by operation",
    labelNames: ["operation"],
    registers: [registry],
  });
  new Gauge({
    name: "dataq_open_holds",
    help: "Open holds of all instances",
    registers: [registry],
    async collect() {
      const found = await database.pool.query<{ n: number }>("select count(*)::int as n from hold");
      this.set(found.rows[0]!.n);
    },
  });
  new Gauge({
    name: "dataq_backup_seconds",
    help: "When the newest stored backup was taken, and when one was last rehearsed, in seconds since 1970; 0: never",
    labelNames: ["kind"],
    registers: [registry],
    async collect() {
      const { stored, rehearsed } = await newestBackups(database.pool);
      this.set({ kind: "stored" }, (stored?.getTime() ?? 0) / 1000);
      this.set({ kind: "rehearsed" }, (rehearsed?.getTime() ?? 0) / 1000);
    },
  });
  new Gauge({
    name: "dataq_maintenance",
    help: "1 while calls are refused",
    registers: [registry],
    async collect() {
      this.set((await openWindow(database.pool)) === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: "dataq_search_up",
    help: "1 if the search engine answers",
    registers: [registry],
    async collect() {
      this.set((await index.health()).trouble === null ? 1 : 0);
    },
  });
  new Gauge({
    name: "dataq_database_connections",
    help: "Connections of this instance by state",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { totalCount, idleCount, waitingCount } = database.pool;
      this.set({ state: "busy" }, totalCount - idleCount);
      this.set({ state: "idle" }, idleCount);
      this.set({ state: "wanted" }, waitingCount);
    },
  });
  return {
    note(request, status, ms) {
      const route = request.routeOptions.url ?? "none";
      requests.inc({ route, status });
      seconds.observe({ route }, ms / 1000);
      const { operation, code, cached, tokens: charged } = request.notes;
      if (operation === undefined) return;
      calls.inc({ operation, outcome: code ?? (cached ? "cached" : "ok") });
      if (charged) tokens.inc({ operation }, charged);
    },
    text: () => registry.metrics(),
  };
}
