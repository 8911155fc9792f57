import type { FastifyInstance } from "fastify";
import type { HttpParts } from "../parts.ts";

/** Metrics in Prometheus' text format. */
export function addMetricsRoute(app: FastifyInstance, { metrics }: Pick<HttpParts, "metrics">): void {
  app.get("/metrics", async (_request, reply) =>
    reply.type("text/plain; version=0.0.4; charset=utf-8").send(await metrics.text()),
  );
}
